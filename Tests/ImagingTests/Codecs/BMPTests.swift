import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct BMPTests {
  static let fixtures = ["bits-1", "bits-4", "bits-8", "bits-24", "rle-8", "os2", "v5-alpha"]

  @Test(arguments: fixtures)
  func everyKindDecodesAsAnotherDecoderHasIt(name: String) throws {
    let decoded = try decode(Fixture.data("\(name).bmp"))

    #expect(decoded.info.format == .bmp)
    #expect(decoded.bitmap.largestDifference(from: try Fixture.reference(name)) == 0)
  }

  @Test(arguments: fixtures)
  func everyKindIsShrunk(name: String) throws {
    let thumbnail = try decode(Fixture.data("\(name).bmp"), .pixels(12, 12)).bitmap

    let expected = ReferenceResampler().resample(try Fixture.reference(name), width: 12, height: 8)
    #expect(thumbnail.flattenedOverWhite().psnr(against: expected.flattenedOverWhite()) > 36)
  }

  @Test(arguments: fixtures)
  func onlyRunsAreHeldWhole(name: String) throws {
    let header = try info(Fixture.data("\(name).bmp"))

    #expect([header.width, header.height] == [61, 43] as [Int])
    #expect(header.streamsRows == (name != "rle-8"))
    #expect(header.hasAlpha == ["rle-8", "v5-alpha"].contains(name))
  }

  /// A file made by hand: `rows` in the order of the file, each padded to four bytes.
  static func file(
    width: Int,
    height: Int,
    bits: Int,
    compression: Int = 0,
    extra: [UInt8] = [],
    pixels: [UInt8],
  ) -> Data {
    var header: [UInt8] = .little32(40) + .little32(width) + .little32(height) + .little16(1) + .little16(bits)
    header +=
      .little32(compression) + .little32(pixels.count) + .little32(0) + .little32(0) + .little32(0) + .little32(0)
    let offset = 14 + header.count + extra.count
    let fileHeader: [UInt8] = .text("BM") + .little32(offset + pixels.count) + .little32(0) + .little32(offset)
    return Data(fileHeader + header + extra + pixels)
  }

  static let fourColors: [UInt8] = [0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0]
  static var sixteenColors: [UInt8] { fourColors + [UInt8](repeating: 0, count: 48) }

  static func seen(_ file: Data) throws -> [SIMD4<UInt8>] { try decode(file).bitmap.pixels }

  @Test
  func theFirstRowOfTheFileIsTheLastOfThePicture() throws {
    let pixels: [UInt8] = [0, 0, 255, 0, 255, 0, 0, 0] + [255, 0, 0, 255, 255, 255, 0, 0]

    let upwards = try Self.seen(Self.file(width: 2, height: 2, bits: 24, pixels: pixels))
    let downwards = try Self.seen(Self.file(width: 2, height: -2, bits: 24, pixels: pixels))

    #expect(upwards == GIFTests.picture("bw rg"))
    #expect(downwards == GIFTests.picture("rg bw"))
  }

  @Test(arguments: [
    (3, [0xF800, 0x07E0, 0x001F], 0xFFFF, SIMD4<UInt8>(255, 255, 255, 255)),
    (3, [0xF800, 0x07E0, 0x001F], 0x0861, SIMD4<UInt8>(8, 12, 8, 255)),
    (3, [0xF800, 0x07E0, 0x001F], 0x8410, SIMD4<UInt8>(132, 130, 132, 255)),
    (6, [0x7C00, 0x03E0, 0x001F, 0x8000], 0xFC00, SIMD4<UInt8>(255, 0, 0, 255)),
    (6, [0x0F00, 0x00F0, 0x000F, 0xF000], 0x8123, SIMD4<UInt8>(17, 34, 51, 136)),
    (6, [0x00C0, 0x0030, 0x000C, 0x0003], 0x001B, SIMD4<UInt8>(0, 85, 170, 255)),
  ])
  func fieldsOfAnyWidthAreScaledTo255(
    compression: Int,
    masks: [Int],
    pixel: Int,
    expected: SIMD4<UInt8>,
  ) throws {
    let extra = masks.flatMap { [UInt8].little32($0) }
    let pixels = [UInt8].little16(pixel) + [0, 0]

    let file = Self.file(width: 1, height: 1, bits: 16, compression: compression, extra: extra, pixels: pixels)

    #expect(try Self.seen(file) == [expected])
  }

  @Test
  func fieldsWiderThanAByteLoseTheirLowerBits() throws {
    // Ten bits each for red, green and blue: 1023, 512, 4.
    let extra: [UInt8] = .little32(0x3FF0_0000) + .little32(0x000F_FC00) + .little32(0x0000_03FF)
    let pixel: [UInt8] = .little32(1023 << 20 | 512 << 10 | 4)

    let file = Self.file(width: 1, height: 1, bits: 32, compression: 3, extra: extra, pixels: pixel)

    #expect(try Self.seen(file) == [SIMD4(255, 128, 1, 255)])
  }

  @Test
  func theFourthByteOfAPlainFileMeansNothing() throws {
    let file = Self.file(width: 1, height: 1, bits: 32, pixels: [1, 2, 3, 0])

    let decoded = try decode(file)

    #expect(decoded.bitmap.alpha == .opaque)
    #expect(decoded.bitmap.pixels == [SIMD4(3, 2, 1, 255)])
  }

  @Test
  func alphaThatIsZeroEverywhereIsNotMeant() throws {
    let extra: [UInt8] = [0x7C00, 0x03E0, 0x001F, 0x8000].flatMap { [UInt8].little32($0) }

    let file = Self.file(width: 2, height: 1, bits: 16, compression: 6, extra: extra, pixels: [0, 0x7C, 0xE0, 0x03])

    #expect(try Self.seen(file) == GIFTests.picture("rg"))
  }

  @Test
  func runsOfHalfBytesAlternate() throws {
    // Five of "01", end of line; a literal of "1 2 3", padded; end.
    let commands: [UInt8] = [5, 0x01, 0, 0, 0, 3, 0x12, 0x30, 0, 1]

    let file = Self.file(width: 5, height: 2, bits: 4, compression: 2, extra: Self.sixteenColors, pixels: commands)

    #expect(try Self.seen(file) == GIFTests.picture("gbw.. rgrgr"))
  }

  @Test
  func whatRunsPassOverIsTransparent() throws {
    // One red; two to the right and one up; one green; end.
    let commands: [UInt8] = [1, 0, 0, 2, 1, 1, 1, 1, 0, 1]

    let file = Self.file(width: 4, height: 3, bits: 8, compression: 1, extra: Self.fourColors, pixels: commands)

    // Only four of the 256 colours stand in the file; the offset of the pixels says so.
    #expect(try Self.seen(file) == GIFTests.picture(".... ..g. r..."))
  }

  /// Pillow reads such a file so, too.
  @Test
  func pixelsThatAreSaidToBeginWithThePaletteBeginBehindIt() throws {
    let colors = (0..<64).flatMap { _ in Self.fourColors }
    var file = Array(Self.file(width: 4, height: 1, bits: 8, extra: colors, pixels: [0, 1, 2, 3]))
    file.replaceSubrange(46..<50, with: [UInt8].little32(256))
    let right = try Self.seen(Data(file))
    file.replaceSubrange(10..<14, with: [UInt8].little32(54))

    #expect(try Self.seen(Data(file)) == right)
  }

  @Test
  func runsBeyondTheRowAndThePictureAreLost() throws {
    let commands: [UInt8] = [255, 1, 0, 0, 255, 2, 0, 0, 255, 3, 0, 2, 255, 255, 9, 3, 0, 1]

    let file = Self.file(width: 2, height: 2, bits: 8, compression: 1, extra: Self.fourColors, pixels: commands)

    #expect(try Self.seen(file) == GIFTests.picture("bb gg"))
  }

  @Test
  func whatIsThereOfACutFileIsItsLowerPart() throws {
    let whole = try Fixture.data("bits-24.bmp")

    let decoded = try decode(whole.prefix(54 + 184 * 10)) { $0.acceptsPartial = true }

    let reference = try Fixture.reference("bits-24")
    #expect(decoded.damage?.code == .truncated)
    #expect(decoded.bitmap[0, 32].w == 0)
    #expect((33..<43).allSatisfy { decoded.bitmap[7, $0] == reference[7, $0] })
  }

  @Test(arguments: [
    (1, 0, 0), (0, 1, 0), (-1, 1, 0), (1, 1, 3), (1, 1, 17),
  ])
  func sizesAndDepthsWithoutSenseAreCorrupt(width: Int, height: Int, bits: Int) {
    let file = Self.file(width: width, height: height, bits: bits == 0 ? 24 : bits, pixels: [0, 0, 0, 0])

    #expect(failure { try decode(file) }?.code == .corrupt)
  }

  @Test(arguments: [(4, 24, "JPEG"), (5, 24, "PNG"), (4, 0, "JPEG"), (5, 0, "bits")])
  func filesWithinAreUnsupportedByName(compression: Int, bits: Int, name: String) {
    let file = Self.file(width: 1, height: 1, bits: bits, compression: compression, pixels: [0, 0, 0, 0])

    let error = failure { try decode(file) }

    #expect(error?.code == .unsupported)
    #expect(error?.format == .bmp)
  }

  @Test(arguments: [(40_000, 40_000, DecodeLimits().pixelCount), (70_000, 1, 65_535)])
  func hugeSizesAreRefusedByTheHeader(width: Int, height: Int, limit: Int) {
    let file = Self.file(width: width, height: height, bits: 24, pixels: [0, 0, 0, 0])

    #expect(failure { try decode(file, .pixels(8, 8)) }?.code == .overLimit)
  }

  @Test
  func theLowestHeightIsNoTrap() {
    let file = Self.file(width: 1, height: Int(Int32.min), bits: 24, pixels: [0, 0, 0, 0])

    #expect(failure { try decode(file) }?.code == .corrupt)
  }

  @Test
  func runsAreGivenUpWhenAsked() throws {
    // Runs of one pixel each, beyond the end of a picture that never ends.
    let commands = [UInt8](repeating: 1, count: 100_000)
    let file = Self.file(width: 2, height: 2, bits: 8, compression: 1, extra: Self.fourColors, pixels: commands)
    let questions = Counter()

    let error = failure {
      try decode(file) { $0.isCancelled = { questions.increase() > 3 } }
    }

    #expect(error?.code == .cancelled)
  }
}
