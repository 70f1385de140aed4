import Foundation
import Testing
import VitrineHTTP
import VitrineImaging
import VitrineTestSupport
import VitrineTesting

/// What the tool writes: formats, their options, and metadata.
struct EncodingOptionTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  @Test(arguments: ["png", "jpeg", "webp", "gif", "qoi"])
  func everyFormatIsWrittenByNameAndByExtension(format: String) async throws {
    try tool.photograph("waterfall-cliff-orientation-6.jpg", as: "a.jpg")

    let named = try await tool.run("thumbnail", "a.jpg", "-o", "b", "--size", "60", "--format", format)
    let extended = try await tool.run("thumbnail", "a.jpg", "-o", "c.\(format)", "--size", "60")

    #expect((named.status, extended.status) == (0, 0))
    let made = try tool.image("b")
    #expect(made.info.format.name == format)
    #expect(made.bitmap.size == [60, 40])
    #expect(try tool.data("b") == tool.data("c.\(format)"))
  }

  @Test
  func subsamplingAndScansAreAsTold() async throws {
    try tool.photograph("waterfall-cliff-orientation-6.jpg", as: "a.jpg")
    for (subsampling, factors) in [("444", 0x11), ("422", 0x21), ("420", 0x22)] {
      #expect(
        try await tool.run("thumbnail", "a.jpg", "-o", "b.jpg", "--size", "60", "--subsampling", subsampling).status
          == 0
      )
      #expect(try frame(of: tool.data("b.jpg")) == Frame(marker: 0xC0, factors: UInt8(factors)))
    }
    #expect(try await tool.run("thumbnail", "a.jpg", "-o", "b.jpg", "--size", "60", "--progressive").status == 0)
    #expect(try frame(of: tool.data("b.jpg")) == Frame(marker: 0xC2, factors: 0x22))
  }

  private struct Frame: Equatable {
    let marker: UInt8
    let factors: UInt8
  }

  /// The kind of the frame header of a JPEG, and the sampling factors of brightness.
  private func frame(of data: Data) throws -> Frame {
    let bytes = [UInt8](data)
    let start = try #require(bytes.indices.first { bytes[$0] == 0xFF && [0xC0, 0xC2].contains(bytes[$0 + 1]) })
    return Frame(marker: bytes[start + 1], factors: bytes[start + 11])
  }

  @Test
  func losslessKeepsEveryPixel() async throws {
    try tool.photograph("hibiscus-window-alpha.png", as: "a.png")
    try tool.write(try Bitmap.gradient(width: 90, height: 50).encoded(as: .png), to: "solid.png")

    #expect(try await tool.run("thumbnail", "a.png", "-o", "b.webp", "--size", "80", "--lossless").status == 0)
    #expect(try await tool.run("thumbnail", "a.png", "-o", "b.png", "--size", "80").status == 0)
    #expect(try await tool.run("thumbnail", "solid.png", "-o", "out/", "--lossless").status == 0)

    let (webp, png) = (try tool.image("b.webp").bitmap, try tool.image("b.png").bitmap)
    #expect(webp.premultiplied().largestDifference(from: png.premultiplied()) == 0)
    #expect(try tool.files("out") == ["solid.png"])
  }

  @Test
  func metadataIsStrippedUnlessTold() async throws {
    try tool.write(try Self.located(), to: "a.jpg")
    func fields(_ arguments: String...) async throws -> EXIFFields {
      let outcome = try await tool.run(["thumbnail", "a.jpg", "-o", "b.jpg", "--size", "40"] + arguments)
      #expect(outcome.status == 0, "\(outcome.errors)")
      return try DecoderRegistry.standard.metadata(of: tool.data("b.jpg")).fields
    }
    #expect(try await fields() == EXIFFields())
    #expect(try await fields("--metadata", "strip") == EXIFFields())
    let copyright = try await fields("--metadata", "copyright")
    #expect(copyright.copyright == "Zoë")
    #expect(copyright.latitude == nil)
    #expect(try await fields("--metadata", "copyright,location").latitude != nil)
    let kept = try await fields("--metadata", "keep")
    #expect(kept.copyright == "Zoë")
    #expect(kept.latitude != nil)
  }

  @Test
  func metadataOfWhatIsFetchedIsStrippedUnlessTold() async throws {
    let server = try LoopbackServer()
    server.route("/a.jpg", LoopbackResponse(headers: ["Cache-Control": "max-age=60"], body: try Self.located()))
    let url = server.url("/a.jpg")
    func fields(_ arguments: String...) async throws -> EXIFFields {
      let outcome = try await tool.run(["fetch", url, "-o", "b.jpg", "--size", "40"] + arguments)
      #expect(outcome.status == 0, "\(outcome.errors)")
      return try DecoderRegistry.standard.metadata(of: tool.data("b.jpg")).fields
    }
    #expect(try await fields() == EXIFFields())
    #expect(try await fields("--metadata", "copyright").copyright == "Zoë")
    #expect(try await fields("--metadata", "keep").latitude != nil)
    let outcome = try await tool.run("thumbnail", url, "-o", "c.jpg", "--size", "40", "--metadata", "copyright")
    #expect(outcome.status == 0)
    #expect(try DecoderRegistry.standard.metadata(of: tool.data("c.jpg")).fields.copyright == "Zoë")
  }

  @Test(arguments: [["--dynamic-range", "high"], ["--metadata", "keep"], ["--metadata", "gain-map"]])
  func gainMapsAreKeptIfTold(arguments: [String]) async throws {
    var image = ImageContainer(Bitmap.gradient(width: 120, height: 80))
    image.gainMap = GainMap(.gradient(width: 60, height: 40), GainMapFormula(maximum: 2))
    try tool.write(try EncoderRegistry.standard.encode(image, as: .jpeg().metadata(.keep)).data, to: "a.jpg")
    let server = try LoopbackServer()
    server.route("/a.jpg", LoopbackResponse(body: try tool.data("a.jpg")))
    func map(_ command: [String]) async throws -> GainMap? {
      let outcome = try await tool.run(command + ["-o", "b.jpg", "--size", "40"])
      #expect(outcome.status == 0, "\(outcome.errors)")
      var options = DecodeOptions()
      options.dynamicRange = .high
      return try DecoderRegistry.standard.decode(tool.data("b.jpg"), options).gainMap
    }
    let url = server.url("/a.jpg")
    for command in [["thumbnail", "a.jpg"], ["thumbnail", url], ["fetch", url]] {
      #expect(try await map(command + arguments)?.bitmap.size == [20, 14])
      #expect(try await map(command) == nil)
    }
    let other = try await tool.run("thumbnail", "a.jpg", "-o", "b.png", "--dynamic-range", "high")
    #expect(other.status == 64)
    #expect(other.errors.contains("--dynamic-range high is for jpeg, not png"))
    #expect(try await tool.run("info", "a.jpg").output.contains("gain map up to 4.0 times white"))
    #expect(try await tool.run("info", "--json", "a.jpg").output.contains("\"gainMapHeadroom\": 4"))
  }

  /// A photograph with its place.
  private static func located() throws -> Data {
    var fields = EXIFFields()
    (fields.copyright, fields.latitude, fields.longitude) = ("Zoë", 51.5, -0.125)
    var image = ImageContainer(Bitmap.gradient(width: 120, height: 80))
    image.metadata = ImageMetadata(fields: fields)
    return try EncoderRegistry.standard.encode(image, as: .jpeg().metadata(.only(.copyright, .location))).data
  }

  @Test
  func anAnimationIsWrittenWithItsFramesIfTold() async throws {
    try tool.photograph("houses-animated.webp", as: "a.webp")
    let frames = try DecoderRegistry.standard.info(of: tool.data("a.webp")).frameCount
    try #require(frames > 1)
    for name in ["b.gif", "b.webp"] {
      #expect(try await tool.run("thumbnail", "a.webp", "-o", name, "--size", "60", "--animated").status == 0)
      #expect(try tool.image(name).info.frameCount == frames)
      #expect(try await tool.run("thumbnail", "a.webp", "-o", name, "--size", "60").status == 0)
      #expect(try tool.image(name).info.frameCount == 1)
    }
    #expect(try await tool.run("thumbnail", "a.webp", "-o", "out/", "--size", "60", "--animated").status == 0)
    #expect(try tool.files("out") == ["a.gif"])
    // Without loss not as GIF, which has 256 colours.
    let whole = try await tool.run("thumbnail", "a.webp", "-o", "whole/", "--size", "60", "--animated", "--lossless")
    #expect(whole.status == 0)
    #expect(try tool.files("whole") == ["a.webp"])
    #expect(try tool.image("whole/a.webp").info.frameCount == frames)
  }
}
