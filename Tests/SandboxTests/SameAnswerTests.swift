import Testing
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTestSupport
import VitrineTesting

/// A sandbox gives the answers of the decoders themselves, to the last bit.
struct SameAnswerTests {
  private static let sandbox = Result { try Sandbox.built() }

  private static func decoders() throws -> DecoderRegistry { try sandbox.get().decoders }

  private static let optionSets: [(name: String, options: DecodeOptions)] = {
    func options(_ change: (inout DecodeOptions) -> Void) -> DecodeOptions {
      var options = DecodeOptions()
      change(&options)
      return options
    }
    return [
      ("whole", DecodeOptions()),
      ("20 pixels, filled", DecodeOptions(size: .pixels(20, 20, .fill, anchor: .topLeft))),
      ("17 wide, fast", options { ($0.size, $0.quality) = (.pixels(width: 17), .fast) }),
      ("9 high", DecodeOptions(size: .pixels(height: 9))),
      (
        "enlarged region",
        options {
          $0.region = PixelRegion(x: 1, y: 0, width: 5, height: 4)
          $0.size = .pixels(12, 12, .exact, enlarges: true)
          $0.filter = .mitchell
        },
      ),
      (
        "best, light, P3",
        options { ($0.size, $0.quality, $0.usesLinearLight, $0.colorSpace) = (.pixels(30), .best, true, .displayP3) },
      ),
      ("high range", options { ($0.size, $0.dynamicRange) = (.pixels(50), .high) }),
      ("frame 1", options { $0.frame = 1 }),
      ("frame -1", options { $0.frame = -1 }),
      ("no size", DecodeOptions(size: .pixels(.nan, 4))),
      (
        "few pixels",
        options {
          $0.limits.pixelCount = 1
        },
      ),
      ("little output", options { $0.limits.outputByteCount = 100 }),
      ("little memory", options { $0.limits.memoryByteCount = 5000 }),
    ]
  }()

  @Test(arguments: Fixture.names(), optionSets.map(\.name))
  func imagesAreTheSame(path: String, options name: String) throws {
    let file = try Fixture.data(path)
    let options = try #require(Self.optionSets.first { $0.name == name }).options
    let decoders = try Self.decoders()

    let there = Outcome.of { () throws(ImageError) in try decoders.decode(file, options) }

    #expect(there == Outcome.of { () throws(ImageError) in try ownDecoders.decode(file, options) })
  }

  @Test(arguments: Fixture.names())
  func everythingElseIsTheSameToo(path: String) throws {
    let file = try Fixture.data(path)
    let decoders = try Self.decoders()
    func both<Value>(_ read: (DecoderRegistry) throws -> Value) -> [Result<Value, ImageError>] {
      [decoders, ownDecoders].map { decoders in
        Result { try read(decoders) }.mapError { $0 as? ImageError ?? ImageError(.corrupt, "another error") }
      }
    }

    let info = both { try $0.info(of: file) }
    #expect(info[0] == info[1])
    let metadata = both { try $0.metadata(of: file) }
    #expect(metadata[0] == metadata[1])
    let delays = both { try $0.frameDelays(of: file) }
    #expect(delays[0] == delays[1])
    let gray = both { decoders -> Data in
      let bitmap = try decoders.decodeGray(file, DecodeOptions(size: .pixels(25, 25)), over: 7).bitmap
      return unsafe bitmap.withUnsafeBytes { unsafe Data($0) }
    }
    #expect(gray[0] == gray[1])
    let thumbnails = [decoders, ownDecoders].map { decoders in
      Outcome.of { () throws(ImageError) in try decoders.embeddedThumbnail(of: file) }
    }
    #expect(thumbnails[0] == thumbnails[1])
  }

  /// Damaged files, whose decoded part is a result if asked for.
  @Test(arguments: Fixture.names(), [false, true])
  func truncatedFilesAreTheSame(path: String, acceptsPartial: Bool) throws {
    let file = try Fixture.data(path)
    let decoders = try Self.decoders()
    for part in [file.count / 3, file.count * 9 / 10] {
      var options = DecodeOptions(size: .pixels(31, 31))
      options.acceptsPartial = acceptsPartial
      let bytes = file.prefix(part)

      let there = Outcome.of { () throws(ImageError) in try decoders.decode(bytes, options) }

      #expect(there == Outcome.of { () throws(ImageError) in try ownDecoders.decode(bytes, options) })
    }
  }

  @Test(arguments: Fixture.names(), [DecodeQuality.fast, .balanced])
  func previewsAreTheSame(path: String, quality: DecodeQuality) throws {
    let file = try Fixture.data(path)
    var options = DecodeOptions(size: .pixels(16, 16))
    options.quality = quality
    var policy = PreviewPolicy()
    (policy.limit, policy.interval, policy.showsRows) = (8, 1, true)
    let decoders = try Self.decoders()

    let there = try Self.previews(of: file, options, policy, decoders)
    let here = try Self.previews(of: file, options, policy, ownDecoders)

    #expect(there.outcomes == here.outcomes)
    #expect(there.details == here.details)
  }

  private static func previews(
    of file: Data,
    _ options: DecodeOptions,
    _ policy: PreviewPolicy,
    _ decoders: DecoderRegistry,
  ) throws -> (outcomes: [Outcome], details: [String]) {
    var decoder = IncrementalDecoder(options: options, previews: policy, decoders: decoders)
    decoder.expectedByteCount = file.count
    var (outcomes, details): ([Outcome], [String]) = ([], [])
    for start in stride(from: 0, to: file.count, by: 64) {
      guard let status = try? decoder.append(file[start..<min(file.count, start + 64)]) else { break }
      guard status == .previewReady, let preview = try decoder.preview() else { continue }
      outcomes.append(Outcome.of { () throws(ImageError) in ImageContainer(preview.bitmap, info: preview.info) })
      details.append("\(preview.detail), \(preview.byteCount) bytes")
    }
    return (outcomes, details)
  }

  /// What draws them is loaded before the worker gives up its rights.
  @Test(arguments: [ImageFormat.png, .jpeg, .gif, .webp, .bmp, .svg], [true, false])
  func picturesOfEachFormatAreDrawnInDrawings(format: ImageFormat, hasType: Bool) throws {
    let red = SIMD4<UInt8>(255, 0, 0, 255)
    let picture: Data
    switch format {
    case .svg:
      picture = Data(
        ##"<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><path fill="#f00" d="M0 0h4v4H0z"/></svg>"##
          .utf8
      )
    case .bmp:
      let head: [UInt8] = [
        0x42, 0x4D, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24,
      ]
      picture = Data(head + [UInt8](repeating: 0, count: 25) + [0, 0, 255, 0])
    default:
      picture = try EncoderRegistry.standard.encode(Bitmap.solid(red, width: 4, height: 4), as: ImageEncoding(format))
    }
    let text = "data:\(hasType ? format.mediaType : "");base64,\(picture.base64EncodedString())"
    let file = Data(
      (#"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><image width="40" height="40" "#
        + #"preserveAspectRatio="none" href="\#(text)"/></svg>"#).utf8
    )

    let there = try Self.decoders().decode(file)

    #expect(there.bitmap[20, 20].isWithin(3, of: red))
  }

  @Test
  func drawingsHaveTheirTextAndPictures() throws {
    let pixel = "R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs="
    let file = Data(
      (#"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" "#
        + ##"width="200" height="60"><text x="5" y="40" font-size="30" fill="#00f">Text</text>"##
        + ##"<image x="150" width="40" height="40" xlink:href="data:image/gif;base64,\##(pixel)"/></svg>"##).utf8
    )
    let here = try ownDecoders.decode(file)

    let there = try Self.decoders().decode(file)

    #expect(here.bitmap[170, 20] == SIMD4(255, 0, 0, 255))
    #expect(there.bitmap.largestDifference(from: here.bitmap) == 0)

    // A part of it, four times as large.
    var options = DecodeOptions()
    options.drawnPart = DrawnPart(
      ofWidth: 800,
      height: 240,
      region: PixelRegion(x: 512, y: 40, width: 288, height: 200),
    )
    let part = try Self.decoders().decode(file, options).bitmap
    #expect([part.width, part.height] == [288, 200])
    #expect(part[680 - 512, 80 - 40] == SIMD4(255, 0, 0, 255))
    #expect(part.largestDifference(from: try ownDecoders.decode(file, options).bitmap) == 0)
  }

  /// Files of others, in the folder that the environment names.
  @Test(
    .needsCorpus,
    arguments: Corpus.files(
      ending: ".jpg",
      ".jpeg",
      ".png",
      ".gif",
      ".webp",
      ".avif",
      ".heic",
      ".jxl",
      ".tiff",
      ".tif",
      ".bmp",
      ".ico",
      ".svg",
      ".qoi",
    ).filter { !$0.contains("/reference/") },
  )
  func theCorpusIsTheSame(path: String) throws {
    let file = try Corpus.data(path)
    let decoders = try Self.decoders()
    for options in [DecodeOptions(size: .pixels(60, 60))] {
      let there = Outcome.of { () throws(ImageError) in try decoders.decode(file, options) }

      #expect(there == Outcome.of { () throws(ImageError) in try ownDecoders.decode(file, options) })
    }
  }
}
