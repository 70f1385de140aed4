import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

struct SniffingTests {
  static func mediaFile(_ brands: String...) -> [UInt8] {
    let body: [UInt8] = .text("ftyp" + brands[0]) + .big32(0) + brands.dropFirst().flatMap { [UInt8].text($0) }
    return .big32(4 + body.count) + body
  }

  static let bmp: [UInt8] = .text("BM") + .little32(100) + .little32(0) + .little32(54) + .little32(40)
  static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  static let pngHeader: [UInt8] = PNGFile.chunk("IHDR", .big32(1) + .big32(1) + [8, 0, 0, 0, 0])

  static let signatures: [(format: ImageFormat, bytes: [UInt8])] = [
    (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0, 0, 16]),
    (.jpeg, [0xFF, 0xD8, 0xFF, 0xDB]),
    (.png, png + pngHeader + PNGFile.chunk("IDAT", [])),
    (.png, png),
    (.apng, png + pngHeader + PNGFile.chunk("acTL", .big32(2) + .big32(0)) + PNGFile.chunk("IDAT", [])),
    (.gif, .text("GIF87a") + [1, 0, 1, 0, 0, 0, 0]),
    (.gif, .text("GIF89a") + [1, 0, 1, 0, 0, 0, 0]),
    (.webp, .text("RIFF") + .little32(20) + .text("WEBPVP8 ")),
    (.avif, mediaFile("avif", "mif1", "miaf")),
    (.avif, mediaFile("avis", "msf1")),
    (.avif, mediaFile("mif1", "miaf", "avif")),
    (.heic, mediaFile("heic", "mif1")),
    (.heic, mediaFile("heix")),
    (.heic, mediaFile("mif1", "heic")),
    (.jxl, [0xFF, 0x0A, 0xFA]),
    (.jxl, .big32(12) + .text("JXL ") + [0x0D, 0x0A, 0x87, 0x0A]),
    (.tiff, .text("II") + [42, 0, 8, 0, 0, 0]),
    (.tiff, .text("MM") + [0, 42, 0, 0, 0, 8]),
    (.tiff, .text("II") + [43, 0, 8, 0, 0, 0]),
    (.tiff, .text("MM") + [0, 43, 0, 8, 0, 0]),
    (.raw, .text("FUJIFILMCCD-RAW ")),
    (.raw, mediaFile("crx ", "isom")),
    (.raw, .text("IIRO") + [8, 0, 0, 0]),
    (.raw, .text("IIRS") + [8, 0, 0, 0]),
    (.raw, .text("MMOR") + [0, 0, 0, 8]),
    (.raw, .text("IIU") + [0, 8, 0, 0, 0]),
    (.raw, .text("II") + [42, 0, 16, 0, 0, 0] + .text("CR") + [2, 0]),
    (.bmp, bmp),
    (.ico, [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0]),
    (.ico, [0, 0, 2, 0, 1, 0, 16, 16, 0, 0, 1, 0]),
    (.svg, .text("<svg xmlns=\"http://www.w3.org/2000/svg\"/>")),
    (.svg, .text("\u{FEFF}<?xml version=\"1.0\"?>\n<!-- a drawing -->\n<svg/>")),
    (.qoi, .text("qoif") + .big32(1) + .big32(1) + [4, 0]),
    (.jpeg2000, .big32(12) + .text("jP  ") + [0x0D, 0x0A, 0x87, 0x0A]),
    (.jpeg2000, [0xFF, 0x4F, 0xFF, 0x51]),
  ]

  @Test(arguments: signatures)
  func aFormatIsToldFromItsSignature(format: ImageFormat, bytes: [UInt8]) {
    #expect(ImageFormat.sniff(Data(bytes)) == format)
  }

  @Test
  func fifteenFormatsAreTold() {
    let formats = Set(Self.signatures.compactMap { ImageFormat.sniff(Data($0.bytes)) })

    #expect(formats.count == 15)
    #expect(formats.isSubset(of: ImageFormat.all))
  }

  @Test(arguments: signatures)
  func bytesBeforeASliceDoNotMatter(format: ImageFormat, bytes: [UInt8]) {
    let slice = Data([1, 2, 3] + bytes).dropFirst(3)

    #expect(ImageFormat.sniff(slice) == format)
  }

  @Test(arguments: [
    "BMW sells cars, and this is a text that begins with BM", "MM", "II*", "GIF88a", "RIFF....WAVE", "<p>svg</p>",
    "<html><body><svg></svg></body></html>", "<!-- <svg> -->", "<!-- <svg>", "<a><svg/></a>", "<svgs/>",
    "<!DOCTYPE svg [", "<", "<!", "<?", "</svg>", "< svg>", "<:>", "<a:/>", "\u{1F}\u{8B}<svg>", " ",
    "\0\0\0\0\0\0\0\0",
  ])
  func whatOnlyResemblesAFormatIsNone(text: String) {
    #expect(ImageFormat.sniff(Data(text.utf8)) == nil)
  }

  @Test
  func aVideoIsNoImage() {
    let error = failure { try decode(Data(Self.mediaFile("isom", "mp42"))) }

    #expect(error?.code == .unrecognised)
    #expect(error?.detail.contains("video") == true)
  }

  @Test
  func anAnimationChunkBehindTheDataMakesNoAPNG() {
    let bytes = Self.png + Self.pngHeader + PNGFile.chunk("IDAT", []) + PNGFile.chunk("acTL", .big32(2) + .big32(0))

    #expect(ImageFormat.sniff(Data(bytes)) == .png)
  }

  @Test(arguments: [
    ("", "empty"),
    ("<!DOCTYPE html><html><head></head></html>", "HTML"),
    ("\n\n  <HTML><body>404</body></HTML>", "HTML"),
    ("{\"error\": \"not found\"}", "JSON"),
    ("[1, 2]", "JSON"),
    ("%PDF-1.7\n", "PDF"),
    ("<?xml version=\"1.0\"?><feed/>", "XML"),
    ("PK\u{03}\u{04}", "ZIP"),
    ("just some words", "no known format"),
  ])
  func whatIsNoImageIsNamedInTheError(text: String, word: String) {
    let error = failure { try decode(Data(text.utf8)) }

    #expect(error?.code == .unrecognised)
    #expect(error?.detail.contains(word) == true)
  }

  @Test(arguments: [ImageFormat.avif, .heic, .jxl, .tiff, .bmp, .ico, .svg, .qoi, .jpeg2000])
  func aKnownFormatWithoutADecoderIsUnsupported(format: ImageFormat) throws {
    let bytes = try #require(Self.signatures.first { $0.format == format }).bytes

    let error = failure { try DecoderRegistry([JPEGDecoder()]).decode(Data(bytes)) }

    #expect(error?.code == .unsupported)
    #expect(error?.format == format)
    #expect(error?.detail.contains(format.name) == true)
  }
}
