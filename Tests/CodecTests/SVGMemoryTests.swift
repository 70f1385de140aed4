import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// Small drawings for which librsvg holds many surfaces, large ones, or many dashes.
///
/// The surfaces are as large as the picture, so each may be drawn small.
struct SVGMemoryTests {
  struct Drawing: CustomTestStringConvertible {
    var testDescription: String
    var body: String
  }

  static func nested(_ attribute: String, count: Int = 60) -> String {
    String(repeating: "<g \(attribute)>\(square)", count: count) + String(repeating: "</g>", count: count)
  }

  static let square = #"<rect width="60" height="40"/>"#

  static let surfaces = [
    Drawing(testDescription: "opacity", body: nested(#"opacity=".5""#)),
    Drawing(testDescription: "opacity in a style", body: nested(#"style="fill:red; opacity : .5""#)),
    Drawing(testDescription: "blending", body: nested(#"style="mix-blend-mode:multiply""#)),
    Drawing(testDescription: "isolation", body: nested(#"style="isolation:isolate""#)),
    Drawing(testDescription: "a style sheet", body: nested(#"class="a""#) + "<style>.a{opacity:.5}</style>"),
    Drawing(
      testDescription: "a style sheet's section",
      body: nested(#"class="a""#) + "<style><![CDATA[.a{opacity:.5}]]></style>",
    ),
    Drawing(testDescription: "masks", body: #"<mask id="m">\#(square)</mask>"# + nested(#"mask="url(#m)""#)),
    Drawing(
      testDescription: "filters",
      body: #"<filter id="f"><feOffset dx="1"/></filter>"# + nested(#"filter="url(#f)""#),
    ),
    Drawing(
      testDescription: "clips by a box",
      body: #"<clipPath id="c" clipPathUnits="objectBoundingBox"><circle r=".5"/></clipPath>"#
        + nested(#"clip-path="url(#c)""#),
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

  @Test(arguments: surfaces)
  func surfacesWithinOneAnotherAreCounted(drawing: Drawing) throws {
    try check(drawing.body, isRefusedAt: 2000)
  }

  static let flat = [
    Drawing(
      testDescription: "properties without effect",
      body: nested(#"fill-opacity=".5" opacity="1" mask="none" filter='none' style="mix-blend-mode: normal""#),
    ),
    Drawing(
      testDescription: "clips by an outline",
      body: nested(##"clip-path="url(#c)""##) + #"<clipPath id="c"><circle r="20"/></clipPath>"#,
    ),
    Drawing(
      testDescription: "one beside the other",
      body: String(repeating: #"<rect width="60" height="40" opacity=".5"/>"#, count: 100),
    ),
    // It is not drawn.
    Drawing(
      testDescription: "what refers to itself, or to what it is in",
      body: ##"<g id="a" opacity=".5"><use xlink:href="#a"/></g><a id="b" href="#b" opacity=".5">\##(square)</a>"##,
    ),
  ]

  @Test(arguments: flat)
  func whatNeedsNoSurfacesIsNotCounted(drawing: Drawing) throws {
    let file = SVGTests.data(#" width="60" height="40">"#, drawing.body)

    #expect(try decode(file, .pixels(2000, 2000)).bitmap.width == 2000)
  }

  @Test
  func referencesInACircleAreRefused() {
    let body =
      ##"<g id="a" opacity=".5"><use href="#b"/></g><g id="b" opacity=".5"><use href="#a"/></g>\##(Self.square)"##

    #expect(
      failure { try decode(SVGTests.data(#" width="60" height="40">"#, body), .pixels(20, 20)) }?.limit
        == .memoryByteCount
    )
  }

  @Test
  func elementsWithEffectsInEntitiesAreRefused() {
    let file = Data(
      #"<!DOCTYPE svg [<!ENTITY a "<g opacity='.5'/>">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>"#.utf8
    )

    #expect(failure { try decode(file, .pixels(20, 20)) }?.code == .unsupported)
  }

  @Test(arguments: [
    #"width="6000" height="4000" patternUnits="userSpaceOnUse""#, #"width="100" height="100""#,
  ])
  func aLargeTileIsCounted(attributes: String) throws {
    let body =
      #"<pattern id="p" \#(attributes)>\#(Self.square)</pattern><rect width="60" height="40" fill="url(#p)"/>"#
    try check(body, isRefusedAt: 600)
  }

  @Test(arguments: [
    #"<path d="M0 0H1000000000" stroke="red" stroke-dasharray="1"/>"#,
    #"<path d="M0 0h1e9" stroke="red" style="stroke-dasharray: 1,1"/>"#,
    #"<style>path{stroke-dasharray:1}</style><path d="M0 0C0 0 1e9 1e9 0 0" stroke="red"/>"#,
    #"<g stroke-dasharray="1"><line x2="1000000000" stroke="red"/></g>"#,
    #"<path d="M0 0A1e9 1e9 0 1 1 1 1" stroke="red" stroke-dasharray="1 2 3"/>"#,
    #"<path d="M0 0V1e7V0V1e7V0V1e7V0" stroke="red" stroke-dasharray="1"/>"#,
  ])
  func dashesAreCounted(body: String) throws {
    #expect(
      failure { try decode(SVGTests.data(#" width="60" height="40">"#, body), .pixels(20, 20)) }?.limit
        == .memoryByteCount
    )
  }

  @Test(arguments: [
    #"<path d="M0 0H1000" stroke="red" stroke-dasharray="0.5"/>"#,
    #"<path d="M0 0H1000000000" stroke="red" stroke-dasharray="none"/>"#,
    #"<path d="M0 0H1000000000" stroke="red" stroke-dasharray="0 0"/>"#,
    // A short line of large numbers.
    #"<path d="M5e7 5e7L50000001 5e7 5e7 50000001" stroke-dasharray="1"/>"#,
  ])
  func ordinaryDashesAreDrawn(body: String) throws {
    #expect(throws: Never.self) { try decode(SVGTests.data(#" width="60" height="40">"#, body), .pixels(20, 20)) }
  }

  @Test(arguments: [
    #" width="60" height="40" viewBox="0 0 1e-320 1e-320"><pattern width="0" height="1e400"/></svg>"#,
    #" width="60" height="40"><rect width="1e400" height="1e400"/><pattern width="0" height="0"/></svg>"#,
    #" width="60" height="40"><path d="M0 0H1e400V1e400" stroke-dasharray="1e400"/></svg>"#,
    #" width="60" height="40"><path d="M1e400 1e400L-1e400 1e-400" stroke-dasharray="1e-400 1e400"/></svg>"#,
  ])
  func numbersWithoutAnEndDoNoHarm(document: String) {
    let file = Data((SVGTests.start + document).utf8)

    // Whether it is drawn or refused.
    _ = try? decode(file, .pixels(20, 20))
    _ = try? registry.info(of: file)
  }

  private func check(_ body: String, isRefusedAt side: Int) throws {
    let file = SVGTests.data(#" width="60" height="40">"#, body)
    let error = failure { try decode(file, .pixels(Double(side), Double(side))) }
    #expect(error?.limit == .memoryByteCount)
    #expect(error?.code == .overLimit)
    #expect(throws: Never.self) { try decode(file, .pixels(20, 20)) }
  }
}
