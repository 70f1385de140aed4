import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct TIFFTests {
  /// A directory of one page, 2 by 2 grey pixels in one strip, little-endian.
  static func page(at offset: Int, next: Int, tags: [(tag: Int, type: Int, count: Int, value: Int)] = []) -> [UInt8] {
    var all: [(tag: Int, type: Int, count: Int, value: Int)] = [
      (256, 3, 1, 2), (257, 3, 1, 2), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, offset),
      (277, 3, 1, 1),
      (278, 3, 1, 2), (279, 4, 1, 4),
    ]
    all.removeAll { entry in tags.contains { $0.tag == entry.tag } }
    let entries = (all + tags).sorted { $0.tag < $1.tag }
    let bytes = entries.flatMap {
      little($0.tag, 2) + little($0.type, 2) + little($0.count, 4) + little($0.value, 4)
    }
    return [10, 80, 160, 250] + little(entries.count, 2) + bytes + little(next, 4)
  }

  static func little(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  static func file(_ next: Int = 0, tags: [(tag: Int, type: Int, count: Int, value: Int)] = []) -> Data {
    Data([0x49, 0x49, 42, 0] + little(12, 4) + page(at: 8, next: next, tags: tags))
  }

  /// Two by two pixels of these bytes.
  private static func file(_ pixels: [UInt8], _ tags: [(Int, Int, Int, Int)]) -> Data {
    let own = page(at: 8, next: 0, tags: tags.map { (tag: $0.0, type: $0.1, count: $0.2, value: $0.3) })
    return Data([0x49, 0x49, 42, 0] + little(8 + pixels.count, 4) + pixels + own.dropFirst(4))
  }

  /// Two by two pixels of floating point: grey, or of three colours and one more.
  private static func floats(_ samples: [Float], tags: [(Int, Int, Int, Int)] = []) -> Data {
    let count = samples.count / 4
    var all = [
      (258, 3, 1, 32), (262, 3, 1, count == 1 ? 1 : 2), (277, 3, 1, count), (279, 4, 1, samples.count * 4),
      (339, 3, 1, 3),
    ]
    all.removeAll { entry in tags.contains { $0.0 == entry.0 } }
    return file(samples.flatMap { little(Int($0.bitPattern), 4) }, all + tags)
  }

  @Test
  func aFileMadeByHandDecodes() throws {
    let bitmap = try decode(Self.file()).bitmap

    #expect([bitmap[0, 0].x, bitmap[1, 0].y, bitmap[0, 1].z, bitmap[1, 1].x] == [10, 80, 160, 250])
  }

  @Test(arguments: [1, 4, 7])
  func fieldsOfIPTCAndXMPAreRead(type: Int) throws {
    let iptc: [UInt8] = [0x1C, 2, 5, 0, 6] + Array("Harbor".utf8) + [0]
    let packet = Array("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".utf8)
    let start = Self.file(tags: [(700, 1, 0, 0), (33_723, type, 0, 0)]).count
    let tags = [(700, 1, packet.count, start + iptc.count), (33_723, type, type == 4 ? 3 : 12, start)]
    let file = Self.file(tags: tags.map { (tag: $0.0, type: $0.1, count: $0.2, value: $0.3) }) + iptc + packet

    let metadata = try registry.metadata(of: file)

    #expect(metadata.texts.map { "\($0.name)=\($0.text)" } == ["IPTC:ObjectName=Harbor"])
    #expect(metadata.xmp == Data(packet))
    for count in 8..<file.count { _ = try? registry.metadata(of: file.prefix(count)) }
  }

  @Test
  func fieldsOfEXIFAreReadAndGoWithThePicture() throws {
    let start = Self.file(tags: [(34_665, 4, 1, 0), (271, 2, 6, 0)]).count
    let exposure =
      Self.little(1, 2) + Self.little(0x8827, 2) + Self.little(3, 2) + Self.little(1, 4) + Self.little(400, 4)
    let behind = exposure + Self.little(0, 4) + Array("Maker\0".utf8)
    let file = Self.file(tags: [(34_665, 4, 1, start), (271, 2, 6, start + exposure.count + 4)]) + Data(behind)

    let metadata = try registry.metadata(of: file)
    var image = try decode(file)
    image.metadata = metadata
    let jpeg = try EncoderRegistry.standard.encode(image, as: .jpeg().metadata(.keep)).data

    #expect(metadata.fields.make == "Maker" && metadata.fields.iso == 400)
    #expect(metadata.texts.map { "\($0.name)=\($0.text)" } == ["Make=Maker", "PhotographicSensitivity=400"])
    #expect(try DecoderRegistry.standard.metadata(of: jpeg).fields == metadata.fields)
    for count in 8..<file.count { _ = try? registry.metadata(of: file.prefix(count)) }
  }

  @Test
  func pagesHaveSizesOfTheirOwn() throws {
    let file = try Fixture.data("pages.tiff")

    let sizes = try (0..<3).map { page in try decode(file) { $0.frame = page }.bitmap.size }

    #expect(try registry.info(of: file).frameCount == 3)
    #expect(sizes == [[48, 32], [30, 20], [48, 32]])
    #expect(try decode(file, .pixels(15, 15)) { $0.frame = 1 }.bitmap.size == [15, 10])
    #expect(try decode(file) { $0.frame = 1 }.info.width == 30)
    #expect(failure { try decode(file) { $0.frame = 3 } }?.code == .noSuchFrame)
  }

  /// A page of 32 by 32 black pixels, and one that calls itself its smaller copy: in the chain of pages or beside it.
  private static func pyramid(
    _ side: Int,
    height: Int? = nil,
    kind: Int = 1,
    isBeside: Bool = false,
    missing: Int = 0,
  ) -> Data {
    func directory(_ width: Int, _ height: Int, at offset: Int, next: Int, _ more: [(Int, Int, Int, Int)]) -> [UInt8] {
      let entries =
        more + [
          (256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, offset),
          (277, 3, 1, 1), (278, 3, 1, height), (279, 4, 1, width * height),
        ]
      let bytes = entries.sorted { $0.0 < $1.0 }.flatMap {
        little($0.0, 2) + little($0.1, 2) + little($0.2, 4) + little($0.3, 4)
      }
      return little(entries.count, 2) + bytes + little(next, 4)
    }
    let height = height ?? side
    let copy = 8 + 32 * 32 + 2 + 12 * (isBeside ? 10 : 9) + 4
    let pixels = [UInt8](repeating: 0, count: 32 * 32)
    let page = directory(32, 32, at: 8, next: isBeside ? 0 : copy, isBeside ? [(330, 4, 1, copy)] : [])
    let start = copy + 2 + 12 * 10 + 4
    let small = directory(side, height, at: start, next: 0, [(254, 4, 1, kind)])
    let white = [UInt8](repeating: 255, count: side * height - missing)
    return Data([0x49, 0x49, 42, 0] + little(8 + 32 * 32, 4) + pixels + page + small + white)
  }

  @Test(arguments: [false, true])
  func aSmallerCopyIsDecodedInPlaceOfItsPage(isBeside: Bool) throws {
    let file = Self.pyramid(8, isBeside: isBeside)

    #expect(try registry.info(of: file).frameCount == 1)
    #expect(try decode(file, .pixels(4, 4)).bitmap[1, 1] == [255, 255, 255, 255])
    #expect(try decode(file, .pixels(4, 4)).info.width == 32)
    #expect(try decode(file, .pixels(12, 12)).bitmap[1, 1] == [0, 0, 0, 255])
    #expect(try decode(file).bitmap.size == [32, 32])
  }

  @Test
  func onlyAWholeCopyOfTheSameShapeIsDecoded() throws {
    let files = [
      Self.pyramid(8, height: 16), Self.pyramid(8, kind: 4), Self.pyramid(8, missing: 20), Self.pyramid(64),
    ]

    for file in files { #expect(try decode(file, .pixels(4, 4)).bitmap[1, 1] == [0, 0, 0, 255]) }
  }

  @Test
  func theLimitsHoldForEveryPage() throws {
    let small = Self.page(at: 8, next: 8 + 4 + 2 + 9 * 12 + 4 + 4)
    let large = Self.page(at: 8, next: 0, tags: [(256, 4, 1, 60_000), (257, 4, 1, 60_000), (278, 4, 1, 60_000)])
    let file = Data([0x49, 0x49, 42, 0] + Self.little(12, 4) + small + large)

    #expect(throws: Never.self) { try decode(file) }
    #expect(failure { try decode(file, .pixels(4, 4)) { $0.frame = 1 } }?.code == .overLimit)
  }

  @Test
  func coloursMultipliedByTheirCoverageAreDivided() throws {
    let reference = try Fixture.reference("picture-alpha")

    let bitmap = try decode(Fixture.data("associated.tiff")).bitmap

    for y in 0..<bitmap.height {
      for x in 0..<bitmap.width {
        let (pixel, expected) = (bitmap[x, y], reference[x, y])
        #expect(pixel.w == expected.w)
        // One level of the product is 255 / alpha levels of the colour.
        let tolerance = pixel.w == 0 ? 255 : 1 + 255 / Int(pixel.w)
        #expect(pixel.isWithin(tolerance, of: expected), "\(x), \(y)")
      }
    }
  }

  @Test
  func floatingPointFromNoneToOneIsAllLevels() throws {
    let samples: [Float] = [0, 0.5, 1, 0.2]

    let bitmap = try decode(Self.floats(samples)).bitmap

    #expect([bitmap[0, 0].x, bitmap[1, 0].y, bitmap[0, 1].z, bitmap[1, 1].x] == [0, 128, 255, 51])
    #expect(bitmap.alpha == .opaque)
  }

  @Test
  func floatingPointBeyondTheLevelsIsCut() throws {
    let bitmap = try decode(Self.floats([-3, .infinity, .nan, 7])).bitmap

    #expect([bitmap[0, 0].x, bitmap[1, 0].x, bitmap[0, 1].x, bitmap[1, 1].x] == [0, 255, 0, 255])
  }

  @Test
  func floatingPointIsReadInColourAndWithAlpha() throws {
    let samples: [Float] = [1, 0, 0.2, 1] + [0, 1, 0, 0.6] + [0.4, 0.4, 0.4, 0] + [1, 1, 1, 1]

    let bitmap = try decode(Self.floats(samples, tags: [(338, 3, 1, 2)])).bitmap

    #expect(bitmap[0, 0] == [255, 0, 51, 255])
    #expect(bitmap[1, 0] == [0, 255, 0, 153])
    #expect(bitmap[0, 1].w == 0)
  }

  @Test
  func zeroIsWhiteInFloatingPointToo() throws {
    let bitmap = try decode(Self.floats([0, 0.2, 1, 1], tags: [(262, 3, 1, 0)])).bitmap

    #expect([bitmap[0, 0].x, bitmap[1, 0].x, bitmap[0, 1].x] == [255, 204, 0])
  }

  @Test
  func floatingPointThatEndsEarlyIsTruncated() {
    let file = Self.floats(
      [0, 0.5, 1, 0.2],
      tags: [(279, 4, 1, 4_000), (256, 3, 1, 20), (257, 3, 1, 20), (278, 3, 1, 20)],
    )

    #expect(failure { try decode(file) }?.code == .truncated)
  }

  @Test(arguments: [(258, 3, 1, 64), (262, 3, 1, 8)])
  func otherFloatingPointIsSaidToBeUnsupported(tag: (tag: Int, type: Int, count: Int, value: Int)) {
    #expect(failure { try decode(Self.floats([0, 0.5, 1, 0.2], tags: [tag])) }?.code == .unsupported)
  }

  /// One tile of 16x16, of which the picture is a part.
  @Test
  func floatingPointMayBeInTiles() throws {
    var samples = [Float](repeating: 9, count: 256)
    (samples[0], samples[1], samples[16], samples[17]) = (0, 0.5, 1, 0.2)
    let tags = [(322, 3, 1, 16), (323, 3, 1, 16), (324, 4, 1, 8), (325, 4, 1, 1024), (279, 4, 1, 1024)]

    let bitmap = try decode(Self.floats(samples, tags: tags + [(277, 3, 1, 1), (262, 3, 1, 1)])).bitmap

    #expect([bitmap[0, 0].x, bitmap[1, 0].y, bitmap[0, 1].z, bitmap[1, 1].x] == [0, 128, 255, 51])
  }

  // MARK: Inks and L*a*b*

  private static func words(_ samples: [Int]) -> [UInt8] { samples.flatMap { little($0, 2) } }

  /// The values are those of the connection space of ICC, whose white is D50: the middle of L* is the grey 119 of sRGB.
  @Test(arguments: [
    (8, 16, words([32_768, 0, 0, 65_535, 0, 0, 0, 0, 0, 35_579, 20_687, 17_892])),
    (9, 16, words([32_640, 32_768, 32_768, 65_280, 32_768, 32_768, 0, 32_768, 32_768, 35_440, 53_455, 50_660])),
  ])
  func labIsThatOfD50(photometric: Int, bits: Int, pixels: [UInt8]) throws {
    let tags = [(258, 3, 1, bits), (262, 3, 1, photometric), (277, 3, 1, 3), (279, 4, 1, pixels.count)]

    let bitmap = try decode(Self.file(pixels, tags)).bitmap

    #expect(bitmap[0, 0] == [119, 119, 119, 255])
    #expect(bitmap[1, 0] == [255, 255, 255, 255])
    #expect(bitmap[0, 1] == [0, 0, 0, 255])
    // L* 54.29, a* 80.81, b* 69.89: the red of sRGB.
    #expect(bitmap[1, 1].isWithin(2, of: [255, 0, 0, 255]))
  }

  @Test(arguments: [(8, [UInt8](repeating: 0, count: 1)), (9, [128])])
  func labOfEightBitsIsTheSame(photometric: Int, neutral: [UInt8]) throws {
    let neutral = neutral[0]
    let pixels: [UInt8] = [
      255, neutral, neutral, 0, neutral, neutral, 128, neutral, neutral, 138, neutral &+ 81, neutral &+ 70,
    ]
    let tags = [(258, 3, 1, 8), (262, 3, 1, photometric), (277, 3, 1, 3), (279, 4, 1, 12)]

    let bitmap = try decode(Self.file(pixels, tags)).bitmap

    #expect(bitmap[0, 0] == [255, 255, 255, 255])
    #expect(bitmap[1, 0] == [0, 0, 0, 255])
    #expect(bitmap[0, 1].isWithin(1, of: [119, 119, 119, 255]))
    #expect(bitmap[1, 1].isWithin(3, of: [255, 0, 0, 255]))
  }

  @Test
  func inksOfSixteenBitsAreThoseOfEight() throws {
    let inks: [UInt8] = [0, 0, 0, 0, 255, 10, 90, 0, 30, 200, 100, 60, 0, 0, 0, 255]
    let tags = [(262, 3, 1, 5), (277, 3, 1, 4)]

    let eight = try decode(Self.file(inks, tags + [(279, 4, 1, 16)])).bitmap
    let sixteen = try decode(
      Self.file(Self.words(inks.map { Int($0) * 257 }), tags + [(258, 3, 1, 16), (279, 4, 1, 32)])
    )

    #expect(sixteen.bitmap.largestDifference(from: eight) <= 1)
    #expect(sixteen.bitmap[0, 0] == [255, 255, 255, 255])
    #expect(sixteen.info.colorModel == .cmyk)
  }

  // MARK: Directories

  @Test
  func aFileMayEndBehindItsLastDirectory() throws {
    let file = Self.file()

    for count in 1...4 {
      #expect(try decode(file.dropLast(count)).bitmap.largestDifference(from: decode(file).bitmap) == 0)
    }
    #expect(failure { try decode(file.dropLast(5)) }?.code == .truncated)
  }

  @Test
  func aSmallerCopyInFrontIsNotThePicture() throws {
    let copy = Self.page(
      at: 8,
      next: 8 + 4 + 2 + 10 * 12 + 4 + 4,
      tags: [(254, 4, 1, 1), (257, 3, 1, 1), (278, 3, 1, 1)],
    )
    let file = Data([0x49, 0x49, 42, 0] + Self.little(12, 4) + copy + Self.page(at: 8, next: 0))

    #expect(try registry.info(of: file).frameCount == 1)
    #expect(try decode(file).bitmap.size == [2, 2])
    // Alone it is all there is.
    #expect(try decode(Self.file(tags: [(254, 4, 1, 1)])).bitmap.size == [2, 2])
  }

  /// Compression 6 of TIFF 6.0, whose strip is a JPEG file, as scanners of the nineties wrote it.
  @Test
  func oldStyleJPEGIsThatPicture() throws {
    let picture = Bitmap.pixels(width: 32, height: 16, alpha: .opaque) {
      SIMD4(UInt8($0 * 8), UInt8($1 * 16), 128, 255)
    }
    let jpeg = try picture.encoded(as: .jpeg(quality: 95))
    let tags = [
      (256, 3, 1, 32), (257, 3, 1, 16), (259, 3, 1, 6), (262, 3, 1, 6), (277, 3, 1, 3), (278, 3, 1, 16),
      (279, 4, 1, jpeg.count), (513, 4, 1, 8), (514, 4, 1, jpeg.count), (530, 3, 2, 0x20002),
    ]

    let bitmap = try decode(Self.file([UInt8](jpeg), tags)).bitmap

    #expect(try bitmap.largestDifference(from: Bitmap(decoding: jpeg)) <= 24)
  }

  @Test
  func aPictureInFloatingPointIsThatPicture() throws {
    let reference = try Fixture.reference("grey.tiff")

    let bitmap = try decode(Fixture.data("float.tiff")).bitmap

    #expect(bitmap.largestDifference(from: reference) <= 1)
  }

  @Test
  func withoutTheNumbersBetweenYCbCrAndRGBTheUsualOnesStand() throws {
    let zeros = [UInt8](repeating: 0, count: 4) + [1, 0, 0, 0]
    let pixels: [UInt8] = [81, 90, 240, 145, 54, 34, 41, 240, 110, 128, 128, 128]
    let tags: [(Int, Int, Int, Int)] = [
      (258, 3, 1, 8), (262, 3, 1, 6), (273, 4, 1, 8), (277, 3, 1, 3), (279, 4, 1, 12), (530, 3, 2, 1 | 1 << 16),
      (529, 5, 3, 20),
    ]
    let file = Self.file(pixels + zeros + zeros + zeros, tags)

    let bitmap = try decode(file).bitmap

    // The standard's formulas by hand: 81 + 1.402 * 112 and so on.
    #expect(bitmap[0, 0].isWithin(1, of: [238, 14, 14, 255]))
    #expect(bitmap[1, 1] == [128, 128, 128, 255])
  }

  @Test
  func aChainOfDirectoriesThatLeadsBackEndsThere() throws {
    let file = Self.file(12)

    #expect(try registry.info(of: file).frameCount == 1)
    #expect(try decode(file).bitmap.largestDifference(from: decode(Self.file()).bitmap) == 0)
  }

  @Test
  func aTagThatPromisesTooMuchTakesNoMemory() {
    // A profile of 4 GB, and as many strips.
    for tag in [(34_675, 7, 0xFFFF_FFF0, 8), (273, 4, 0xFFFF_FFF0, 8), (279, 4, 0x7FFF_FFFF, 8)] {
      do throws(ImageError) {
        let decoded = try decode(Self.file(tags: [tag]))
        #expect(decoded.info.colorProfile == nil)
      } catch {
        #expect([.corrupt, .truncated, .overLimit].contains(error.code), "\(error)")
      }
    }
  }

  @Test
  func aStripOverTheLimitIsRefused() {
    // 2 by 2 pixels of 65,535 samples are no picture that anyone keeps.
    let error = failure {
      try decode(Self.file(tags: [(277, 3, 1, 65_535), (256, 4, 1, 60_000), (278, 4, 1, 60_000)]))
    }

    #expect(error != nil)
  }

  @Test
  func smallerCopiesAndMasksAreNoPages() throws {
    let size = 4 + 2 + 10 * 12 + 4
    let first = Self.page(at: 8, next: 12 + size - 12, tags: [])
    let second = Self.page(at: 8, next: 0, tags: [(254, 4, 1, 1)])
    let file = Data([0x49, 0x49, 42, 0] + Self.little(12, 4) + first + second)

    #expect(try registry.info(of: file).frameCount == 1)
  }

  @Test
  func stripsStreamAndOneLargeStripDoesNot() throws {
    #expect(try registry.info(of: Fixture.data("packbits.tiff")).streamsRows)
    #expect(try registry.info(of: Fixture.data("tiles.tiff")).streamsRows)
    #expect(try registry.info(of: Self.file()).streamsRows == false)
  }
}
