import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// EXIF of an original, changed in place.
struct WrittenEXIFTests {
  static func keep(_ block: Data, width: Int = 30, height: Int = 20) -> Data? {
    MetadataPolicy.keep.written(.made(exif: block), width: width, height: height).exif
  }

  static let picture: [UInt8] = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0x55, count: 97)
  static let notes: [UInt8] = .text("Notes of a maker") + [1, 2, 3, 4]

  static func file(littleEndian: Bool = true) -> EXIFFile {
    var file = EXIFFile(isLittleEndian: littleEndian)
    file.main = [
      file.short(0x0100, 4000), file.long(0x0101, 3000), file.text(0x010F, "Maker"), file.short(0x0112, 6),
    ]
    file.exif = [(0x927C, 7, notes.count, notes), file.short(0xA002, 4000), file.long(0xA003, 3000)]
    file.gps = [file.text(1, "S"), file.rational(2, (10, 1), (30, 1), (0, 1))]
    file.thumbnail = picture
    return file
  }

  @Test(arguments: [true, false], [(30, 20), (70_000, 3)])
  func onlyOrientationAndSizeChangeAndTheThumbnailIsGone(littleEndian: Bool, size: (width: Int, height: Int)) throws {
    let file = Self.file(littleEndian: littleEndian)
    let original = file.data
    let link = 8 + 2 + 6 * 12

    let block = try #require(Self.keep(original, width: size.width, height: size.height))

    var expected = file
    func number(_ tag: Int, _ value: Int) -> EXIFFile.Entry {
      value > 0xFFFF ? file.long(tag, value) : file.short(tag, value)
    }
    expected.main[0] = number(0x0100, size.width)
    expected.main[1] = file.long(0x0101, size.height)
    expected.main[3] = file.short(0x0112, 1)
    expected.exif[1] = number(0xA002, size.width)
    expected.exif[2] = file.long(0xA003, size.height)
    expected.thumbnail = []
    #expect(block == expected.data)
    #expect(block[link..<link + 4] == Data([0, 0, 0, 0]))
    let fields = EXIFFields(block)
    #expect([fields.pixelWidth, fields.pixelHeight] == [size.width, size.height])
    #expect(fields.orientation == .up && fields.latitude == -10.5)
    #expect(fields.make == "Maker")
  }

  @Test
  func bytesBehindTheThumbnailStayWhereTheyAre() throws {
    let original = Self.file().data + Data("behind".utf8)

    let block = try #require(Self.keep(original))

    #expect(block.count == original.count)
    #expect(block.suffix(6) == Data("behind".utf8))
    #expect(block.firstRange(of: Data([0x55])) == nil)
  }

  @Test(arguments: [1, 3, 4, 9, 2, 5, 99])
  func everyOrientationBecomesUpright(type: Int) throws {
    var file = EXIFFile()
    // The last one is what one reader sees, the first what another does.
    file.main = [
      (0x0112, type, 1, .little32(6)), file.text(0x013B, "Author"), (0x0112, 3, 1, .little32(8)),
      (0x0112, type, 2, .little32(3)),
    ]

    let block = try #require(Self.keep(file.data))

    #expect(EXIFFields(block).orientation == .up)
    let entry = Data(.little16(0x0112) + .little16(3) + .little32(1) + .little32(1))
    #expect(block.ranges(of: entry).count == 3)
  }

  @Test
  func stripsOfAThumbnailAreCleared() throws {
    let strip = [UInt8](repeating: 0x66, count: 40)
    var bytes = Array(Self.file().data)
    let end = bytes.count
    // Another directory in the place of the thumbnail's: strips at the end.
    let link = 8 + 2 + 6 * 12
    bytes.replaceSubrange(link..<link + 4, with: [UInt8].little32(end))
    bytes += .little16(2)
    bytes += .little16(0x0111) + .little16(4) + .little32(2) + .little32(end + 30)
    bytes += .little16(0x0117) + .little16(3) + .little32(2) + .little16(20) + .little16(20)
    bytes += .little32(0) + .little32(end + 38) + .little32(end + 58) + strip

    let block = try #require(Self.keep(Data(bytes)))

    #expect(block.count == end)
    #expect(block.firstRange(of: Data([0x66, 0x66])) == nil)
  }

  @Test
  func picturesOfTheFirstDirectoryAreRemovedFromIt() throws {
    var file = EXIFFile()
    file.main = [file.text(0x010F, "Maker"), file.long(0x0201, 0), file.long(0x0202, 100), file.short(0x0112, 3)]
    let place = file.data.count
    file.main[1] = file.long(0x0201, place)

    let block = try #require(Self.keep(file.data + Data(Self.picture)))

    #expect(try WrittenMetadataTests.tags(block) == [0x010F, 0x0112])
    #expect(block.count == place)
    #expect(EXIFFields(block).make == "Maker")
  }

  @Test(arguments: [0, 8, 20, 150])
  func aThumbnailOverDirectoriesGivesABlockOfFields(place: Int) throws {
    var file = Self.file()
    file.thumbnailPlace = place

    let block = try #require(Self.keep(file.data))

    let fields = EXIFFields(block)
    #expect(fields.make == "Maker" && fields.orientation == .up && fields.latitude == -10.5)
    #expect(fields.pixelWidth == 30 && fields.pixelHeight == 20)
    #expect(block.firstRange(of: Data(Self.notes)) == nil)
  }

  @Test
  func aThumbnailOutsideTheBlockDoesNoHarm() throws {
    var file = Self.file()
    file.thumbnailPlace = 0xFFFF_FFF0

    let block = try #require(Self.keep(file.data))

    #expect(block.firstRange(of: Data(Self.notes)) != nil)
    #expect(EXIFFields(block).orientation == .up)
  }

  @Test
  func directoriesThatLeadBackAreChangedOnce() throws {
    var file = EXIFFile()
    file.main = [
      file.text(0x010F, "abc"), file.short(0x0112, 6), file.long(0x8769, 8), file.long(0x8825, 8),
      file.long(0xA005, 8), file.long(0x014A, 8), file.short(0xA002, 7),
    ]
    var bytes = Array(file.data)
    bytes.replaceSubrange(bytes.count - 4..<bytes.count, with: [8, 0, 0, 0])

    let block = try #require(Self.keep(Data(bytes)))

    let fields = EXIFFields(block)
    #expect(fields.make == "abc" && fields.orientation == .up && fields.pixelWidth == 30)
  }

  @Test(arguments: ["", "II", "II*\0", "II*\0\u{8}\0\0\0", "PK\u{3}\u{4}", "MM\0*\0\0\0\0\0\u{1}"])
  func whatIsNoBlockIsLeftOut(text: String) {
    #expect(Self.keep(Data(text.utf8)) == nil)
  }

  /// A reader finds nothing in a result that is not upright, or a picture of the original.
  static func expectClean(_ block: Data?, sourceLocation: SourceLocation = #_sourceLocation) throws {
    guard let block else { return }
    let fields = EXIFFields(block)
    let orientation = unsafe block.withUnsafeBytes { unsafe EXIF.orientation(ByteReader($0)) }
    try #require([nil, .up].contains(orientation), sourceLocation: sourceLocation)
    try #require([nil, .up].contains(fields.orientation), sourceLocation: sourceLocation)
    try #require([nil, 30].contains(fields.pixelWidth), sourceLocation: sourceLocation)
    try #require([nil, 20].contains(fields.pixelHeight), sourceLocation: sourceLocation)
  }

  static let blocks = Result {
    [file().data, file(littleEndian: false).data, try WrittenMetadataTests.original().exif ?? Data()]
  }

  @Test
  func everyPrefixIsReadWithoutHarm() throws {
    for block in try Self.blocks.get() {
      for count in 0...block.count { try Self.expectClean(Self.keep(block.prefix(count))) }
    }
  }

  @Test
  func spoiledBlocksAreReadWithoutHarm() throws {
    var generator = SplitMix64(seed: 5)
    for original in try Self.blocks.get() {
      for _ in 0..<2000 {
        var block = original
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          let place = Int.random(in: 0..<block.count, using: &generator)
          let values: [UInt8] = [0, 1, 8, 0x12, 0x7F, 0xFF, .random(in: 0...255, using: &generator)]
          block[place] = values.randomElement(using: &generator) ?? 0
        }
        try Self.expectClean(Self.keep(block))
        let some = MetadataPolicy.only(.copyright, .captureTime, .exposure)
        let fields = some.written(.made(exif: block), width: 30, height: 20).exif.map { EXIFFields($0) }
        try #require(fields?.latitude == nil && fields?.make == nil)
      }
    }
  }

  @Test
  func blocksWithMoreDirectoriesThanAnyFileAreNotFollowed() throws {
    // Each directory would have as many entries as there can be.
    var file = EXIFFile()
    file.main = [file.text(0x013B, "Author")] + (0..<2000).map { file.long(0x8769, 100 + $0 * 2) }

    let block = try #require(Self.keep(file.data))

    #expect(EXIFFields(block).artist == "Author")
    #expect(block.count < 100)
  }

  /// A block whose thumbnail has so many strips, each of which is longer than the block.
  static func stripped(_ count: Int) -> (block: Data, place: Int) {
    let place = 8 + 2 + 12 + 4
    var bytes: [UInt8] = .text("II") + .little16(42) + .little32(8) + .little16(1)
    bytes += .little16(0x0112) + .little16(3) + .little32(1) + .little32(6) + .little32(place)
    bytes += .little16(2)
    bytes += .little16(0x0111) + .little16(4) + .little32(count) + .little32(place + 30)
    bytes += .little16(0x0117) + .little16(4) + .little32(count) + .little32(place + 30 + count * 4)
    bytes += .little32(0)
    for index in 0..<count { bytes += .little32(place + 30 + index) }
    for _ in 0..<count { bytes += .little32(0x7FFF_FFFF) }
    return (Data(bytes), place)
  }

  @Test
  func stripsOverOneAnotherAreClearedOnce() throws {
    let (few, place) = Self.stripped(60_000)
    #expect(Self.keep(few)?.count == place)
    // Too many: the block is made of its fields, with a directory of its own for the version.
    let many = try #require(Self.keep(Self.stripped(70_000).block))
    #expect(many.count == place + 12 + 2 + 12 + 4)
    #expect(EXIFFields(many).orientation == .up)
  }

  @Test(
    .needsCorpus,
    arguments: Corpus.files(in: "photos/jpg", ending: ".jpg"),
  )
  func realBlocksKeepTheirBytes(path: String) throws {
    guard let metadata = try? MetadataTests.metadata(Corpus.data(path)), let original = metadata.exif else { return }

    let block = try #require(Self.keep(original))

    try Self.expectClean(block)
    var (before, after) = (metadata.fields, EXIFFields(block))
    (before.orientation, before.pixelWidth, before.pixelHeight) = (nil, nil, nil)
    (after.orientation, after.pixelWidth, after.pixelHeight) = (nil, nil, nil)
    #expect(after == before)
    #expect(block.count <= original.count)
  }
}
