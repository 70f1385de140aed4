import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineImaging

/// What the policies let through, and the blocks that are made of fields.
struct WrittenMetadataTests {
  static func fields(_ policy: MetadataPolicy, _ metadata: ImageMetadata) -> EXIFFields {
    policy.written(metadata, width: 30, height: 20).exif.map { EXIFFields($0) } ?? EXIFFields()
  }

  static func original() throws -> ImageMetadata { try MetadataTests.metadata(Fixture.data("metadata.jpg")) }

  static func only(_ policy: MetadataPolicy) throws -> EXIFFields { fields(policy, try original()) }

  @Test
  func nothingIsWrittenUnlessTold() throws {
    #expect(try MetadataPolicy.strip.written(Self.original(), width: 1, height: 1) == WrittenMetadata())
    #expect(MetadataPolicy.keep.written(nil, width: 1, height: 1) == WrittenMetadata())
    #expect(MetadataPolicy.keep.written(ImageMetadata(), width: 1, height: 1) == WrittenMetadata())
    #expect(MetadataPolicy.only(.location).written(ImageMetadata(), width: 1, height: 1) == WrittenMetadata())
  }

  @Test
  func onlyTheNamedKindsAreWritten() throws {
    var copyright = EXIFFields()
    copyright.copyright = "© 2024 Zoë"
    var author = EXIFFields()
    author.artist = "Zoë Example"
    var camera = EXIFFields()
    (camera.make, camera.model, camera.lensModel) = ("Vitrine Optics", "Model 1", "Fifty f/1.4")
    var exposure = EXIFFields()
    (exposure.exposureTime, exposure.fNumber, exposure.iso) = (0.004, 2.8, 400)
    (exposure.focalLength, exposure.flashFired) = (50, true)

    #expect(try Self.only(.only(.copyright)) == copyright)
    #expect(try Self.only(.only(.author)) == author)
    #expect(try Self.only(.only(.camera)) == camera)
    #expect(try Self.only(.only(.exposure)) == exposure)
  }

  @Test
  func theCaptureTimeIsWrittenWithItsFractionAndOffset() throws {
    let original = try #require(try Self.original().fields.original)

    let fields = try Self.only(.only(.captureTime))

    #expect(fields.original == original)
    #expect(fields.original?.second == 58.125)
    #expect(fields.modified == nil)
  }

  @Test
  func thePlaceIsWrittenToTheMillimetre() throws {
    let (original, fields) = (try Self.original().fields, try Self.only(.only(.location)))

    let (latitude, longitude) = (try #require(fields.latitude), try #require(fields.longitude))
    // A billionth of a degree.
    #expect(abs(latitude - (original.latitude ?? 0)) < 1e-9)
    #expect(abs(longitude - (original.longitude ?? 0)) < 1e-9)
    #expect(fields.altitude == -35.5)
    #expect(fields.make == nil && fields.original == nil)
  }

  /// Latitude, longitude, altitude and times as a camera wrote them, none of whose numbers is elsewhere.
  static func located(littleEndian: Bool) -> (file: EXIFFile, numbers: [[UInt8]]) {
    var file = EXIFFile(isLittleEndian: littleEndian)
    file.main = [file.text(0x010F, "Maker"), file.text(0x013B, "Author"), file.text(0x8298, "Rights")]
    file.exif = [
      file.rational(0x829A, (1, 250)), file.rational(0x829D, (28, 10)), file.short(0x8827, 400),
      file.text(0x9003, "2024:02:29 23:59:58"), file.short(0x9209, 1), file.rational(0x920A, (50, 1)),
    ]
    file.gps = [
      file.text(1, "S"), file.rational(2, (41, 1), (37, 1), (5_432_177, 100_000)), file.text(3, "W"),
      file.rational(4, (131, 1), (43, 1), (1_234_577, 100_000)), file.rational(6, (8848, 10)),
      file.text(0x1D, "2024:02:28"),
    ]
    let numbers = [41, 37, 5_432_177, 131, 43, 1_234_577, 8848]
    return (file, numbers.flatMap { [.little32($0), .big32($0)] })
  }

  @Test(arguments: [true, false])
  func withoutTheLocationNoByteOfItIsWritten(littleEndian: Bool) throws {
    let (file, numbers) = Self.located(littleEndian: littleEndian)
    let packet = XMPFile.packet(attributes: "exif:GPSLatitude=\"41,37.5S\" dc:rights=\"X\"")
    let metadata = ImageMetadata.made(exif: file.data, xmp: packet)
    let others = Set(MetadataPolicy.Field.allCases).subtracting([.location, .gainMap])
    let all = try #require(
      MetadataPolicy.only(Set(MetadataPolicy.Field.allCases)).written(metadata, width: 9, height: 9).exif
    )

    let written = MetadataPolicy.only(others).written(metadata, width: 9, height: 9)

    let block = try #require(written.exif)
    #expect(written.xmp == nil)
    let tag: [UInt8] = .little16(0x8825)
    #expect(all.firstRange(of: Data(tag)) != nil && block.firstRange(of: Data(tag)) == nil)
    #expect(block.firstRange(of: Data(tag.reversed())) == nil)
    for number in numbers { #expect(block.firstRange(of: Data(number)) == nil) }
    #expect(block.firstRange(of: Data("2024:02:28".utf8)) == nil)
    #expect(EXIFFields(block).latitude == nil && EXIFFields(block).copyright == "Rights")
    for field in others {
      let one = try #require(MetadataPolicy.only(field).written(metadata, width: 9, height: 9).exif)
      #expect(one.firstRange(of: Data(tag)) == nil)
    }
  }

  @Test
  func xmpIsWrittenOnlyIfAllIsKept() throws {
    let metadata = try Self.original()

    #expect(MetadataPolicy.keep.written(metadata, width: 3, height: 2).xmp != nil)
    #expect(
      MetadataPolicy.only(Set(MetadataPolicy.Field.allCases)).written(metadata, width: 3, height: 2).xmp == nil
    )
  }

  @Test
  func allFieldsComeBackFromABlockOfTheirOwn() throws {
    var fields = try Self.original().fields
    (fields.exposureTime, fields.fNumber, fields.focalLength) = (30.5, 1.0 / 3, 4.25)
    (fields.iso, fields.pixelWidth, fields.pixelHeight, fields.flashFired) = (102_400, 70_000, 1, false)
    (fields.latitude, fields.longitude, fields.altitude) = (89.999_999_5, -180, 0)

    let block = try #require(fields.block())

    #expect(EXIFFields(block) == fields)
    let tags = try Self.tags(block)
    #expect(tags == tags.sorted() && tags.count == 9)
  }

  /// The tags of the first directory.
  static func tags(_ block: Data) throws -> [Int] {
    let bytes = Array(block)
    let count = Int(bytes[8])
    return (0..<count).map { Int(bytes[10 + $0 * 12]) | Int(bytes[11 + $0 * 12]) << 8 }
  }

  @Test(arguments: [0, 1e-9, 1.0 / 8000, 0.3, 2.8, 1.0 / 3, 3600, 4_294_967_295])
  func numbersAreWrittenAsTheNearestFractions(value: Double) throws {
    var fields = EXIFFields()
    fields.exposureTime = value

    let block = try #require(fields.block())
    let back = try #require(EXIFFields(block).exposureTime)

    #expect(abs(back - value) <= value * 1e-9 + 1e-9)
  }

  @Test(arguments: [-1, .infinity, .nan, 5e9])
  func numbersThatNoFractionHoldsAreLeftOut(value: Double) {
    var fields = EXIFFields()
    fields.exposureTime = value

    #expect(fields.block().map { EXIFFields($0) }?.exposureTime == nil)
  }

  @Test
  func xmpStandsInForMissingFields() throws {
    let packet = XMPFile.packet(
      attributes: "photoshop:DateCreated=\"2023-05-06T07:08:09.25-03:30\" xmp:CreateDate=\"2001-01-01T01:01:01Z\"",
      """
      <dc:rights><rdf:Alt><rdf:li xml:lang="de">Rechte</rdf:li><rdf:li xml:lang="x-default">&#xA9; A &amp; B\
      </rdf:li></rdf:Alt></dc:rights>
      <dc:creator><rdf:Seq><rdf:li>Ada</rdf:li><rdf:li><![CDATA[B <& C]]></rdf:li></rdf:Seq></dc:creator>
      """,
    )
    let policy = MetadataPolicy.only(.copyright, .author, .captureTime)

    let fields = Self.fields(policy, .made(xmp: packet))

    #expect(fields.copyright == "© A & B")
    #expect(fields.artist == "Ada; B <& C")
    #expect(fields.original?.date == Date(timeIntervalSince1970: 1_683_369_489.25))
    #expect(Self.fields(.only(.camera), .made(xmp: packet)) == EXIFFields())
    #expect(Self.fields(.only(.author), .made(xmp: packet)).copyright == nil)
  }

  @Test
  func exifPrecedesXMP() throws {
    let packet = XMPFile.packet(attributes: "dc:rights=\"X\" dc:creator=\"Y\"")
    var file = EXIFFile()
    file.main = [file.text(0x8298, "Rights")]

    let fields = Self.fields(.only(.copyright, .author), .made(exif: file.data, xmp: packet))

    #expect([fields.copyright, fields.artist] == ["Rights", "Y"])
  }

  @Test(arguments: ["2024-02-29", "2024-02-29T25:00", "29.2.2024", "T", "", "2024-02T10:00:00"])
  func timesThatEXIFCannotHoldAreLeftOut(text: String) {
    let metadata = ImageMetadata.made(xmp: XMPFile.packet(attributes: "photoshop:DateCreated=\"\(text)\""))

    #expect(MetadataPolicy.only(.captureTime).written(metadata, width: 1, height: 1) == WrittenMetadata())
  }

  @Test
  func propertiesOfOtherPicturesAreNotTaken() {
    let packet = XMPFile.packet(
      "<xmpMM:Pantry><rdf:Bag><rdf:li><rdf:Description dc:rights=\"Z\"><dc:creator>Z</dc:creator></rdf:Description>"
        + "</rdf:li></rdf:Bag></xmpMM:Pantry>"
    )

    #expect(Self.fields(.only(.copyright, .author), .made(xmp: packet)) == EXIFFields())
  }

  @Test
  func whatIsTooLongForASegmentIsReplacedByItsFieldsOrLeftOut() throws {
    var file = EXIFFile()
    file.main = [file.text(0x8298, "Rights")]
    file.exif = [(0x927C, 7, 65_000, [UInt8](repeating: 7, count: 65_000))]
    let block = file.data
    let written = WrittenMetadata(exif: block, xmp: Data(repeating: 0x20, count: 1000))

    #expect(written.fitting(65_533) == written)
    #expect(written.fitting(block.count + 6).exif == block)
    let shorter = written.fitting(block.count + 5)
    #expect(shorter.exif.map { EXIFFields($0) }?.copyright == "Rights")
    #expect(shorter.xmp != nil)
    #expect(written.fitting(1029).xmp != nil && written.fitting(1028).xmp == nil)
    #expect(written.fitting(20) == WrittenMetadata())
  }
}
