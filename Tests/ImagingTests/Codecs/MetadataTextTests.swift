import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineImaging

/// All fields of the metadata as text.
struct MetadataTextTests {
  private static func texts(_ exif: Data?, _ xmp: String? = nil) -> [String: String] {
    var metadata = ImageMetadata()
    (metadata.exif, metadata.xmp) = (exif, xmp.map { Data($0.utf8) })
    return Dictionary(metadata.texts.map { ($0.name, $0.text) }) { first, _ in first }
  }

  @Test(arguments: [false, true])
  func fieldsOfEXIFHaveTheirNamesAndNoPlace(isLittleEndian: Bool) {
    var file = EXIFFile()
    file.isLittleEndian = isLittleEndian
    file.main = [file.text(0x010F, "Maker"), file.short(0x0112, 6), file.text(0x010E, "A harbour")]
    file.exif = [
      file.rational(0x829A, (1, 250)), file.rational(0x9204, (1, 3)), file.short(0x9207, 5),
      (0x927C, 7, 12, [UInt8](repeating: 65, count: 12)),
    ]
    file.gps = [file.text(1, "N"), file.rational(2, (52, 1), (30, 1), (0, 1))]
    let texts = Self.texts(file.data)
    #expect(texts["Make"] == "Maker" && texts["Orientation"] == "6" && texts["ImageDescription"] == "A harbour")
    #expect(texts["ExposureTime"] == "0.004" && texts["ExposureBiasValue"] == "0.3333" && texts["MeteringMode"] == "5")
    #expect(texts.count == 6)
  }

  @Test(arguments: [false, true])
  func aCopyOfTheDirectoriesSaysTheSameWithoutPixelsAndNotes(isLittleEndian: Bool) throws {
    var file = EXIFFile()
    file.isLittleEndian = isLittleEndian
    file.main = [file.text(0x010F, "Maker"), file.short(0x0112, 6), file.text(0x8298, "© Zoë")]
    file.exif = [
      file.rational(0x829A, (1, 250)), file.short(0x8827, 400), file.text(0x9003, "2024:05:06 07:08:09"),
      file.short(0xA002, 4000),
    ]
    file.gps = [
      file.text(1, "S"), file.rational(2, (52, 1), (30, 1), (0, 1)), (5, 1, 1, [1]), file.rational(6, (7, 2)),
    ]
    let plain = file
    file.main += [file.short(0x0100, 9), (0x0111, 4, 1, [0, 0, 0, 9])]
    file.exif += [(0x927C, 7, 12, [UInt8](repeating: 65, count: 12))]
    func copy(_ limit: Int) -> Data? {
      file.data.reading { EXIFDirectories.copy(of: $0, limit) }
    }

    let whole = try #require(copy(1 << 16))

    #expect(EXIFFields(whole) == EXIFFields(plain.data) && EXIFFields(whole).make == "Maker")
    #expect(Self.texts(whole) == Self.texts(plain.data) && Self.texts(whole).count == 7)
    #expect(!String(decoding: whole, as: UTF8.self).contains("AAAA"))
    // What is too long is left out, from the beginning on.
    #expect(copy(8).map { EXIFFields($0) }?.make == "Maker" && copy(8).map { EXIFFields($0) }?.exposureTime == nil)
    #expect(copy(0) == nil)
    for count in 0..<file.data.count {
      _ = file.data.prefix(count).reading { EXIFDirectories.copy(of: $0, 1 << 16) }.map { EXIFFields($0) }
    }
  }

  @Test
  func aCopyLeadsToNoDirectoryThatIsNotThere() throws {
    for (hasExposure, hasPlace) in [(true, false), (false, true), (false, false), (true, true)] {
      var file = EXIFFile()
      file.main = [file.text(0x010F, "Maker")]
      if hasExposure { file.exif = [file.short(0x8827, 400)] }
      if hasPlace { file.gps = [file.text(1, "S"), file.rational(2, (52, 1), (30, 1), (0, 1))] }
      let copy = try #require(file.data.reading { EXIFDirectories.copy(of: $0, 1 << 16) })
      let fields = EXIFFields(copy)
      #expect(fields == EXIFFields(file.data) && fields.make == "Maker", "\(hasExposure), \(hasPlace)")
      #expect(fields.iso == (hasExposure ? 400 : nil) && fields.latitude == (hasPlace ? -52.5 : nil))
      let tags = copy.reading { bytes -> [Int] in
        var tags: [Int] = []
        if let block = VitrineImaging.TIFFBlock(bytes) {
          block.forEachEntry(of: block.firstDirectory) { tag, _ in tags.append(tag) }
        }
        return tags
      }
      #expect(tags == [0x010F] + (hasExposure ? [0x8769] : []) + (hasPlace ? [0x8825] : []))
    }
  }

  @Test
  func propertiesOfXMPAreListedByName() {
    let texts = Self.texts(
      nil,
      """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
       xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:own="http://own.invalid/" xmp:Rating="4" exif:GPSLatitude="52,30N" own:Mood="calm">
      <dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>night</rdf:li></rdf:Bag></dc:subject>
      </rdf:Description></rdf:RDF></x:xmpmeta>
      """,
    )
    #expect(texts == ["xmp:Rating": "4", "Mood": "calm", "dc:subject": "sea; night"])
  }

  @Test
  func damagedMetadataHasNoTexts() {
    #expect(Self.texts(Data("II*\\0".utf8), "<x:xmpmeta").isEmpty)
    #expect(Self.texts(nil).isEmpty)
  }
}

extension EXIFDirectories {
  fileprivate static func copy(of file: ByteReader, _ limit: Int) -> Data? {
    VitrineImaging.TIFFBlock(file).flatMap { EXIFDirectories($0).block(limit: limit) }
  }
}

/// Fields of IPTC, made by hand.
struct IPTCTests {
  private static func field(_ number: UInt8, _ content: [UInt8], record: UInt8 = 2) -> [UInt8] {
    [0x1C, record, number] + .big16(content.count) + content
  }

  private static func resource(_ number: Int, _ content: [UInt8], name: [UInt8] = [0, 0]) -> [UInt8] {
    .text("8BIM") + .big16(number) + name + .big32(content.count) + content + (content.count % 2 == 1 ? [0] : [])
  }

  private static func jpeg(_ resources: [UInt8]) throws -> Data {
    try Fixture.data("baseline-420.jpg").withJPEGSegment(0xED, .text("Photoshop 3.0\0") + resources)
  }

  private static func texts(_ file: Data) throws -> [String] {
    try DecoderRegistry.standard.metadata(of: file).texts.map { "\($0.name)=\($0.text)" }
  }

  private static let utf8 = field(90, [0x1B, 0x25, 0x47], record: 1)
  private static let fields =
    utf8 + field(5, .text("Harbour")) + field(25, .text("sea")) + field(200, .text("own")) + field(25, .text("Zoë"))
    + field(116, .text("© Zoë")) + field(90, .text("Kiel\0"))

  @Test
  func fieldsOfAJPEGAreListedByTheirNames() throws {
    let file = try Self.jpeg(
      Self.resource(0x03ED, [1, 2, 3], name: [3, 65, 66, 67]) + Self.resource(0x0404, Self.fields)
    )

    #expect(
      try Self.texts(file) == [
        "IPTC:ObjectName=Harbour", "IPTC:Keywords=sea; Zoë", "IPTC:CopyrightNotice=© Zoë", "IPTC:City=Kiel",
      ]
    )
  }

  @Test
  func resourcesMayGoOnInTheNextSegment() throws {
    let resources = Self.resource(0x0404, Self.fields)
    let file = try Self.jpeg(Array(resources.dropFirst(40)))
      .withJPEGSegment(0xED, .text("Photoshop 3.0\0") + resources.prefix(40))

    #expect(try Self.texts(file).count == 4)
  }

  @Test
  func bytesThatAreNotUTF8AreLatin1() throws {
    let file = try Self.jpeg(Self.resource(0x0404, Self.field(80, [0x5A, 0x6F, 0xEB]) + Self.field(85, .text("ö"))))

    #expect(try Self.texts(file) == ["IPTC:Byline=Zoë", "IPTC:BylineTitle=ö"])
  }

  @Test(arguments: [
    field(5, .text("a")) + [0x1C, 2, 25, 0x7F, 0xFF, 65], field(5, .text("a")) + [0x1C, 2],
    field(5, .text("a")) + [0x1C, 2, 25, 0x80, 4, 0xFF, 0xFF, 0xFF, 0xFF, 65],
    field(5, .text("a")) + [0x1C, 2, 25, 0xFF, 0xFF, 65], field(5, .text("a")) + [0, 0, 0],
    [0x1C, 2, 202, 0x80, 4, 0, 0, 0, 2, 9, 9] + field(5, .text("a")), field(5, .text("\u{1}a\u{7F}")) + field(90, []),
  ])
  func fieldsBeforeADamagedOneAreListed(fields: [UInt8]) throws {
    #expect(try Self.texts(Self.jpeg(Self.resource(0x0404, fields))) == ["IPTC:ObjectName=a"])
  }

  @Test
  func resourcesThatAreCutHaveWhatIsThere() throws {
    let resources = Self.resource(0x0404, Self.fields)

    for count in 0..<resources.count { _ = try Self.texts(Self.jpeg(Array(resources.prefix(count)))) }
    for offset in 0..<resources.count {
      for byte: UInt8 in [0, 0x1C, 0x7F, 0x80, 0xFF] {
        var spoiled = resources
        spoiled[offset] = byte
        #expect(try Self.texts(Self.jpeg(spoiled)).count <= 4)
      }
    }
  }

  @Test
  func aLongTextIsCutBehindACharacter() throws {
    let caption = [UInt8].text(String(repeating: "ö", count: 900))

    let texts = try Self.texts(Self.jpeg(Self.resource(0x0404, Self.field(120, caption))))

    #expect(texts == ["IPTC:Caption=" + String(repeating: "ö", count: 600)])
  }

  @Test
  func manyFieldsHaveALimit() throws {
    let many = [[UInt8]](repeating: Self.field(25, [UInt8](repeating: 0x61, count: 100)), count: 500).flatMap(\.self)
    let texts = try Self.texts(Self.jpeg(Self.resource(0x0404, many)))

    #expect(texts.count == 1 && texts[0].count == "IPTC:Keywords=".count + 600)
  }
}
