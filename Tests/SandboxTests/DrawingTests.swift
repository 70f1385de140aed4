import Testing
import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineSVG
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting
import VitrineTiles

/// Drawings for which librsvg holds many surfaces, large ones, or many parts.
///
/// What it holds cannot be told from the file, so the worker's memory is limited.
struct DrawingTests {
  struct Drawing: CustomTestStringConvertible {
    var testDescription: String
    var body: String
  }

  static func data(_ body: String) -> Data {
    let start = #"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" "#
    return Data((start + #"width="60" height="40">"# + body + "</svg>").utf8)
  }

  static func nested(_ attribute: String, count: Int = 60) -> String {
    String(repeating: "<g \(attribute)>\(square)", count: count) + String(repeating: "</g>", count: count)
  }

  static let square = #"<rect width="60" height="40"/>"#

  static let surfaces = [
    Drawing(testDescription: "opacity", body: nested(#"opacity=".5""#)),
    Drawing(testDescription: "a style sheet", body: nested(#"class="a""#) + "<style>.a{opacity:.5}</style>"),
    Drawing(testDescription: "masks", body: #"<mask id="m">\#(square)</mask>"# + nested(#"mask="url(#m)""#)),
    Drawing(
      testDescription: "filters",
      body: #"<filter id="f"><feOffset dx="1"/></filter>"# + nested(#"filter="url(#f)""#),
    ),
    Drawing(
      testDescription: "references",
      body: "<defs>"
        + (0..<60).map { ##"<g id="a\##($0)"><use xlink:href="#a\##($0 + 1)" opacity=".5"/></g>"## }.joined()
        + ##"<g id="a60">\##(square)</g></defs><use xlink:href="#a0"/>"##,
    ),
    Drawing(
      testDescription: "masks of masks",
      body: (0..<60).map { ##"<mask id="a\##($0)"><rect width="60" height="40" mask="url(#a\##($0 + 1))"/></mask>"## }
        .joined() + ##"<rect width="60" height="40" mask="url(#a0)"/>"##,
    ),
  ]

  private static func sandbox() throws -> Sandbox {
    // Longer than any of them takes.
    try Sandbox.built { ($0.formats, $0.startsAhead, $0.timeLimit) = (.external, false, .seconds(600)) }
  }

  private static func options(_ side: Double, memory: Int = 200_000_000) -> DecodeOptions {
    var options = DecodeOptions(size: .pixels(side, side))
    options.limits.memoryByteCount = memory
    return options
  }

  @Test(arguments: surfaces)
  func surfacesWithinOneAnotherAreLimited(drawing: Drawing) throws {
    let decoders = try Self.sandbox().decoders
    let file = Self.data(drawing.body)

    let error = failure { try decoders.decode(file, Self.options(2000)) }

    #expect(error?.code == .overLimit)
    #expect(error?.limit == .memoryByteCount)
    #expect(error?.detail == "svg that needs more memory than the limit of 200 MB")
    #expect(throws: Never.self) { try decoders.decode(file, Self.options(20)) }
  }

  /// What the header tells is not enough for it, and what the limits allow is.
  @Test
  func whatNeedsMoreThanExpectedIsDrawn() throws {
    let sandbox = try Self.sandbox()
    let file = Self.data(Self.nested(#"opacity=".5""#, count: 25))

    let bitmap = try sandbox.decoders.decode(file, Self.options(2000, memory: 600_000_000)).bitmap

    #expect(bitmap.size == [2000, 1333])
    #expect(sandbox.counts.crashed == 0)
  }

  /// librsvg is aborted where it is refused memory for an element.
  @Test
  func elementsAreLimited() throws {
    let sandbox = try Self.sandbox()
    let file = Self.data(String(repeating: "<g/>", count: 900_000))

    let error = failure { try sandbox.decoders.decode(file, Self.options(20, memory: 30_000_000)) }

    #expect(error?.detail == "svg that needs more memory than the limit of 30 MB")
    #expect(sandbox.counts.crashed == 0)
  }

  @Test(arguments: HostileImage.external.filter { $0.name.hasSuffix(".svg") })
  func ofHostileDrawingsNoneDoesHarm(image: HostileImage) throws {
    let sandbox = try Sandbox.built {
      ($0.formats, $0.startsAhead, $0.timeLimit) = (.external, false, .milliseconds(700))
    }
    do throws(ImageError) {
      _ = try sandbox.decoders.decode(image.data, Self.options(64))
    } catch {
      #expect([.overLimit, .outOfTime, .corrupt].contains(error.code), "\(error)")
    }
    #expect(sandbox.counts.crashed == 0)
  }

  static let harmless = [
    Drawing(
      testDescription: "properties without effect",
      body: nested(#"fill-opacity=".5" opacity="1" mask="none" filter='none' style="mix-blend-mode: normal""#),
    ),
    Drawing(
      testDescription: "one beside the other",
      body: String(repeating: #"<rect width="60" height="40" opacity=".5"/>"#, count: 100),
    ),
    Drawing(
      testDescription: "what refers to itself, or to what it is in",
      body: ##"<g id="a" opacity=".5"><use xlink:href="#a"/></g><a id="b" href="#b" opacity=".5">\##(square)</a>"##,
    ),
    Drawing(
      testDescription: "references in a circle",
      body: ##"<g id="a" opacity=".5"><use href="#b"/></g><g id="b" opacity=".5"><use href="#a"/></g>\##(square)"##,
    ),
    Drawing(
      testDescription: "long numbers in names",
      body: #"<g id="p1000000000" style="stroke-dasharray: 1.5, 1.5">\#(square)<path d="M0 0H60" stroke="red"/></g>"#,
    ),
    Drawing(
      testDescription: "a long line of dashes",
      body: #"<path d="M0 0H1000000000" stroke="red" stroke-dasharray="1"/>"#,
    ),
    Drawing(
      testDescription: "an inherited tile",
      body: ##"<pattern id="p" width="6" height="4" patternUnits="userSpaceOnUse">\##(square)</pattern>"##
        + ##"<pattern id="q" xlink:href="#p"/><rect width="60" height="40" fill="url(#q)"/>"##,
    ),
    Drawing(
      testDescription: "megabytes of paths",
      body: String(
        repeating: #"<path d="M10 10\#(String(repeating: "l.5 .02l-.5 .03", count: 660))" fill="none" stroke="red"/>"#,
        count: 250,
      ),
    ),
  ]

  @Test(arguments: harmless)
  func whatNeedsLittleIsDrawn(drawing: Drawing) throws {
    let sandbox = try Self.sandbox()

    #expect(try sandbox.decoders.decode(Self.data(drawing.body), Self.options(900)).bitmap.width == 900)
    #expect(sandbox.counts.crashed == 0)
  }

  @Test
  func anEmbeddedPhotographOfTwelveMegapixelsIsDrawn() throws {
    let picture = try Bitmap.solid(SIMD4(220, 40, 40, 255), width: 4000, height: 3000).encoded(as: .jpeg)
    let body = #"<image width="60" height="40" xlink:href="data:image/jpeg;base64,\#(picture.base64EncodedString())"/>"#
    let bitmap = try Self.sandbox().decoders.decode(Self.data(body), Self.options(300)).bitmap

    #expect(bitmap[150, 100].isWithin(3, of: SIMD4(220, 40, 40, 255)))
  }

  @Test(arguments: [
    #"<pattern id="p" width="6000" height="4000" patternUnits="userSpaceOnUse"><rect width="60" height="40"/></pattern>"#
      + ##"<rect width="60" height="40" fill="url(#p)"/>"##,
    #"<pattern width="0" height="1e400"/><rect width="1e400" height="1e400"/>"#,
    #"<path d="M0 0H1e400V1e400" stroke-dasharray="1e400"/>"#,
    #"<path d="M1e400 1e400L-1e400 1e-400" stroke="red" stroke-dasharray="1e-400 1e400"/>"#,
  ])
  func sizesWithoutAnEndDoNoHarm(body: String) throws {
    let sandbox = try Self.sandbox()
    // Whether it is drawn or refused.
    _ = try? sandbox.decoders.decode(Self.data(body), Self.options(900))
    #expect(sandbox.counts.crashed == 0)
  }

  /// Where the surfaces of effects are over the limits, tiles are enlarged from the finest level that is within them.
  @Test
  func whatCannotBeDrawnSoLargeIsEnlarged() async throws {
    let sandbox = try Self.sandbox()
    let pipeline = ImagePipeline.testing {
      $0.decoders = sandbox.decoders
      $0.decodeLimits.memoryByteCount = 60_000_000
    }
    let file = Self.data(Self.square + #"<g opacity="0.5">\#(Self.square)<circle cx="30" cy="20" r="9"/></g>"#)
    let image = try await pipeline.tiledImage(for: ImageRequest(.data(file, id: "drawing")))
    let fine = try await image.tile(.init(level: -9, column: 3, row: 3))
    let coarse = try await image.tile(.init(level: -6, column: 0, row: 0))

    #expect([fine.width, fine.height] == [512, 512])
    // The middle of the tile, in pixels of level -6.
    let middle = (3 * 512 + 256) >> 3
    #expect(fine[256, 256].isWithin(3, of: coarse[middle, middle]))
    #expect(fine[256, 256].w > 100)
  }

  /// One drawing ends librsvg, and others never end.
  @Test
  func photographsAreShownBesideDrawingsThatAreNot() async throws {
    let sandbox = try Sandbox.built {
      ($0.formats, $0.startsAhead) = (.external, false)
      // The process must have begun before it is told to stop, or it would stop.
      $0.timeLimit = .milliseconds(700)
    }
    let pipeline = ImagePipeline.testing { $0.decoders = sandbox.decoders }
    func filtered(_ filter: String) -> Data {
      Self.data(
        ##"<filter id="f" x="0" y="0" width="1" height="1">\##(filter)</filter>"##
          + ##"<rect width="60" height="40" filter="url(#f)"/>"##
      )
    }
    let matrix = String(repeating: "1 ", count: 441)
    let bad =
      [filtered(#"<feConvolveMatrix order="21" kernelMatrix="\#(matrix)"/>"#)]
      + (1...3).map { filtered(#"<feTurbulence baseFrequency=".\#($0)" numOctaves="2000000000"/>"#) }
    let photograph = try Photograph.data("macaws-444.jpg")
    func load(_ data: Data, _ id: String) -> ImageTask {
      pipeline.imageTask(for: ImageRequest(.data(data, id: id), size: .pixels(1500, 1500)))
    }
    let failing = bad.enumerated().map { load($1, "bad \($0)") }
    let others = (0..<20).map { load(photograph, "good \($0)") }

    for task in others { #expect(try await task.image.width > 100) }
    for task in failing {
      let error = await #expect(throws: LoadError.self) { try await task.image }
      #expect(["decoderFailed", "outOfTime"].contains("\((error?.cause as? ImageError)?.code.description ?? "")"))
    }
  }
}
