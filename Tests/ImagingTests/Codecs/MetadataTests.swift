import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct MetadataTests {
  static func metadata(_ file: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) -> ImageMetadata {
    try DecoderRegistry.standard.metadata(of: file, limits: limits)
  }

  @Test(arguments: ["jpg", "png", "webp"])
  func theCommonFieldsAreReadFromEveryFormat(name: String) throws {
    let fields = try Self.metadata(Fixture.data("metadata.\(name)")).fields

    #expect(fields.make == "Vitrine Optics")
    #expect(fields.model == "Model 1")
    #expect(fields.lensModel == "Fifty f/1.4")
    #expect(fields.software == "Darkroom 2")
    #expect(fields.artist == "Zoë Example")
    #expect(fields.copyright == "© 2024 Zoë")
    #expect(fields.orientation == .right)
    #expect(fields.exposureTime == 0.004)
    #expect(fields.fNumber == 2.8)
    #expect(fields.iso == 400)
    #expect(fields.focalLength == 50)
    #expect(fields.flashFired == true)
    #expect([fields.pixelWidth, fields.pixelHeight] == [60, 40])
    #expect(abs(try #require(fields.latitude) + 48.8584) < 1e-6)
    #expect(abs(try #require(fields.longitude) + 2.2945) < 1e-6)
    #expect(fields.altitude == -35.5)
  }

  @Test
  func timesAreReadWithTheirOffset() throws {
    let fields = try Self.metadata(Fixture.data("metadata.jpg")).fields

    let original = try #require(fields.original)
    #expect(
      [original.year, original.month, original.day, original.hour, original.minute] == [2024, 2, 29, 23, 59] as [Int]
    )
    #expect(original.second == 58.125)
    #expect(original.secondsFromUTC == 19_800)
    // 2024-02-29T18:29:58.125Z
    #expect(original.date == Date(timeIntervalSince1970: 1_709_231_398.125))
    let modified = try #require(fields.modified)
    #expect(modified.date == nil)
    #expect(modified.date(secondsFromUTC: 3600) == Date(timeIntervalSince1970: 1_709_283_600))
  }

  @Test(arguments: ["jpg", "png", "webp", "gif"])
  func xmpIsReadFromEveryFormat(name: String) throws {
    let xmp = try #require(try Self.metadata(Fixture.data("metadata.\(name)")).xmp)

    let text = String(decoding: xmp, as: UTF8.self)
    #expect(text.hasPrefix("<?xpacket begin"))
    #expect(text.contains("A title"))
    #expect(text.contains("</x:xmpmeta>"))
    #expect(text.hasSuffix("?>"))
  }

  static let still = Result { try Bitmap.testPattern(width: 8, height: 8).encoded(as: .png) }

  @Test(arguments: [false, true])
  func xmpOfAPNGMayBeCompressedAndStandBehindThePicture(isBehind: Bool) throws {
    let body: [UInt8] = .text("XML:com.adobe.xmp\0") + [1, 0] + .text("en\0x\0") + PNGFile.zlib(.text("<x:xmpmeta/>"))
    let still = try Self.still.get()

    let file =
      isBehind
      ? still.dropLast(12) + Data(PNGFile.chunk("iTXt", body)) + still.suffix(12) : still.withPNGChunk("iTXt", body)

    #expect(try Self.metadata(file).xmp == Data("<x:xmpmeta/>".utf8))
  }

  @Test
  func whatInflatesBeyondTheLimitIsLeftOut() throws {
    let text = [UInt8](repeating: 0x20, count: 300_000)
    let body: [UInt8] = .text("XML:com.adobe.xmp\0") + [1, 0, 0, 0] + PNGFile.zlib(text)
    let file = try Self.still.get().withPNGChunk("iTXt", body)
    var limits = DecodeLimits()

    #expect(try Self.metadata(file, limits: limits).xmp?.count == text.count)
    limits.metadataByteCount = 100_000
    #expect(try Self.metadata(file, limits: limits).xmp == nil)
  }

  @Test(arguments: ["jpg", "png", "webp", "gif"])
  func whatIsLargerThanTheLimitIsLeftOut(name: String) throws {
    var limits = DecodeLimits()
    limits.metadataByteCount = 100

    let metadata = try Self.metadata(Fixture.data("metadata.\(name)"), limits: limits)

    #expect(metadata.exif == nil && metadata.xmp == nil)
  }

  static func withXMP(_ pieces: [(guid: Character, length: Int, offset: Int, text: String)]) throws -> Data {
    var file = try Fixture.data("baseline-420.jpg")
    for piece in pieces {
      var body: [UInt8] =
        .text("http://ns.adobe.com/xmp/extension/\0") + .text(String(repeating: piece.guid, count: 32))
      body += .big32(piece.length) + .big32(piece.offset) + .text(piece.text)
      file = file.withJPEGSegment(0xE1, body)
    }
    let guid = String(repeating: "A", count: 32)
    return file.withJPEGSegment(0xE1, .text("http://ns.adobe.com/xap/1.0/\0<x xmpNote:HasExtendedXMP=\"\(guid)\"/>"))
  }

  @Test
  func extendedXMPIsPutTogetherInOrder() throws {
    let file = try Self.withXMP([("A", 6, 0, "one"), ("A", 6, 3, "two"), ("B", 3, 0, "odd")])

    #expect(try Self.metadata(file).extendedXMP == Data("onetwo".utf8))
  }

  @Test(arguments: [
    [("A" as Character, 6, 0, "one")], [("A", 6, 3, "two")], [("A", 6, 0, "one"), ("A", 6, 0, "one")],
    [("A", 0xFFFF_FFFF, 0, "one")], [("A", 3, 0xFFFF_FFFF, "one")], [("B", 3, 0, "one")],
    [("A", 6, 0, "one"), ("A", 6, 2, "etwo")],
  ])
  func extendedXMPWithGapsOrOverlapsIsLeftOut(pieces: [(Character, Int, Int, String)]) throws {
    let file = try Self.withXMP(pieces.map { (guid: $0.0, length: $0.1, offset: $0.2, text: $0.3) })

    let metadata = try Self.metadata(file)

    #expect(metadata.xmp != nil)
    #expect(metadata.extendedXMP == nil)
  }

  @Test
  func theProfileIsAmongThem() throws {
    let profile = ICCProfile.version2("Colours")
    let file = try Bitmap.testPattern(width: 8, height: 8).encoded(as: .jpeg)
      .withJPEGSegment(0xE2, .text("ICC_PROFILE\0") + [1, 1] + profile)

    #expect(try Self.metadata(file).colorProfile?.data == Data(profile))
  }

  @Test(arguments: ["rgb.qoi", "bits-24.bmp", "still.gif", "lossy.webp"])
  func aFileWithoutMetadataHasNone(name: String) throws {
    #expect(try Self.metadata(Fixture.data(name)) == ImageMetadata())
  }

  /// A directory with the entries given, little-endian, at 8.
  static func fields(_ entries: [[UInt8]], behind: [UInt8] = []) -> EXIFFields {
    let directory: [UInt8] = .little16(entries.count) + entries.joined() + .little32(0)
    return EXIFFields(Data(.text("II") + .little16(42) + .little32(8) + directory + behind))
  }

  static func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
    .little16(tag) + .little16(type) + .little32(count) + value
  }

  @Test
  func directoriesThatLeadBackAreReadOnce() {
    // EXIF, GPS and the first directory are the same one.
    let fields = Self.fields([
      Self.entry(0x010F, 2, 4, .text("abc\0")), Self.entry(0x8769, 4, 1, .little32(8)),
      Self.entry(0x8825, 4, 1, .little32(8)),
    ])

    #expect(fields.make == "abc")
  }

  @Test(arguments: [
    (2, 0xFFFF_FFFF, 0), (2, 100, 0xFFFF_FFF0), (12, 0xFFFF_FFFF, 0xFFFF_FFFF), (99, 1, 0), (0, 1, 0),
  ])
  func lengthsAndPlacesBeyondTheBlockDoNoHarm(type: Int, count: Int, offset: Int) {
    let tags = [0x010F, 0x0112, 0x0132, 0x8769, 0x8825, 0x829A]

    let fields = Self.fields(tags.map { Self.entry($0, type, count, .little32(offset)) })

    #expect(fields.orientation == nil && fields.exposureTime == nil)
  }

  @Test
  func numbersWithoutSenseAreNone() {
    let gps = 8 + 2 + 12 * 2 + 4
    let entries = [Self.entry(0x0112, 3, 1, .little32(9)), Self.entry(0x8825, 4, 1, .little32(gps))]
    let place = gps + 2 + 12 * 2 + 4
    // A latitude of 100 degrees, an altitude of 1/0 m.
    var behind: [UInt8] =
      .little16(2) + Self.entry(2, 5, 1, .little32(place)) + Self.entry(6, 5, 1, .little32(place + 8))
    behind += .little32(0) + .little32(100) + .little32(1)
    behind += .little32(1) + .little32(0)

    let fields = Self.fields(entries, behind: behind)

    #expect(fields == EXIFFields())
  }

  @Test(arguments: ["2024:13:01 00:00:00", "0000:00:00 00:00:00", "    :  :     :  :  ", "2024:01:01", "x", ""])
  func timesWithoutSenseAreNone(text: String) {
    let bytes = [UInt8].text(text + "\0")
    let fields = Self.fields([Self.entry(0x0132, 2, bytes.count, .little32(26))], behind: bytes + [0, 0, 0, 0])

    #expect(fields.modified == nil)
  }

  @Test(arguments: ["jpg", "png", "webp", "gif"])
  func everyPrefixAndSpoiledByteIsReadWithoutHarm(name: String) throws {
    let file = try Fixture.data("metadata.\(name)")
    var generator = SplitMix64(seed: 3)

    for count in stride(from: 0, to: file.count, by: 13) { _ = try? Self.metadata(file.prefix(count)) }
    for _ in 0..<300 {
      var spoiled = file
      for _ in 0..<3 {
        spoiled[Int.random(in: 0..<min(file.count, 1500), using: &generator)] = .random(in: 0...255, using: &generator)
      }
      _ = try? Self.metadata(spoiled)
      _ = try? DecoderRegistry.standard.embeddedThumbnail(of: spoiled)
    }
  }

  @Test
  func everySpoiledByteOfABlockIsReadWithoutHarm() throws {
    let exif = try #require(try Self.metadata(Fixture.data("metadata.jpg")).exif)

    for offset in 0..<min(exif.count, 700) {
      for byte in [0, 1, 0x7F, 0xFF] as [UInt8] { _ = EXIFFields(exif.replacing(offset, with: byte)) }
      _ = EXIFFields(exif.prefix(offset))
    }
  }
}
