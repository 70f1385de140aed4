import Testing
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTesting

@testable import VitrineCommandLine

/// The encoders that the tool has for formats whose libraries it does not link.
struct ToolEncoderTests {
  private static let bitmap = Bitmap.testPattern(width: 40, height: 30)

  /// `vitrine-codecs` is beside the program of these tests, as it is beside the tool.
  @Test(arguments: [ImageFormat.avif, .jxl])
  func externalFormatsAreWrittenByTheOtherProgram(_ format: ImageFormat) throws {
    let file = try EncoderRegistry.ofTool.encode(Self.bitmap, as: ImageEncoding(format, quality: 90))

    #expect(try DecoderRegistry.ofTool.decode(file).info.format == format)
    #expect(try DecoderRegistry.ofTool.decode(file).bitmap.psnr(against: Self.bitmap) > 35)
  }

  @Test(arguments: [ImageFormat.avif, .jxl])
  func withoutTheOtherProgramTheErrorSaysWhatToInstall(_ format: ImageFormat) {
    let encoders = ExternalCodecs(program: "/nowhere/vitrine-codecs").encoders

    let error = #expect(throws: ImageError.self) { try encoders.encode(Self.bitmap, as: ImageEncoding(format)) }

    #expect(encoders.formats.contains(format))
    #expect(error?.code == .notEncodable)
    #expect(error?.detail.hasPrefix("cannot be encoded as \(format): the program /nowhere/vitrine-codecs") == true)
    #expect(error?.detail.contains("Install vitrine-codecs") == true)
  }

  @Test
  func withoutTheOtherProgramADrawingIsAnErrorThatSaysSo() throws {
    let decoders = ExternalCodecs(program: "/nowhere/vitrine-codecs").decoders
    let drawing = Data(#"<svg xmlns="http://www.w3.org/2000/svg"/>"#.utf8)

    let error = #expect(throws: ImageError.self) { try decoders.decode(drawing) }

    #expect(error?.code == .unsupported)
    #expect(error?.detail.hasPrefix("svg images cannot be decoded: the program /nowhere/vitrine-codecs") == true)
    #expect(throws: Never.self) { try decoders.decode(Self.bitmap.encoded(as: .png)) }
  }

  @Test
  func otherFormatsNeedNoOtherProgram() {
    let encoders = ExternalCodecs(program: "/nowhere/vitrine-codecs").encoders

    #expect(throws: Never.self) { try encoders.encode(Self.bitmap, as: .webp()) }
  }
}
