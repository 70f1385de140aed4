import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct PNGTests {
  @Test(arguments: [0, 3, 255] as [UInt8])
  func anImpossibleBitDepthIsCorrupt(depth: UInt8) {
    let header: [UInt8] = .big32(4) + .big32(4) + [depth, 6, 0, 0, 0]
    let file = Data(SniffingTests.png + PNGFile.chunk("IHDR", header) + PNGFile.chunk("IDAT", PNGFile.zlib([0])))

    #expect(failure { try DecoderRegistry.standard.info(of: file) }?.code == .corrupt)
  }

  struct Kind: Sendable, CustomTestStringConvertible {
    var colorType: PNGFile.ColorType
    var depth: Int
    var isInterlaced: Bool

    var testDescription: String { "\(colorType), \(depth) bits\(isInterlaced ? ", interlaced" : "")" }
  }

  static let depths: [(type: PNGFile.ColorType, bits: [Int])] = [
    (.grey, [1, 2, 4, 8, 16]), (.palette, [1, 2, 4, 8]), (.rgb, [8, 16]), (.greyAlpha, [8, 16]), (.rgba, [8, 16]),
  ]

  static let kinds: [Kind] = depths.flatMap { type, bits -> [Kind] in
    let plain = bits.map { Kind(colorType: type, depth: $0, isInterlaced: false) }
    let interlaced = bits.map { Kind(colorType: type, depth: $0, isInterlaced: true) }
    return plain + interlaced
  }

  static let palette: [SIMD4<UInt8>] = (0..<256).map { index in
    let blue = index * 7 & 255
    return SIMD4(UInt8(index), UInt8(255 - index), UInt8(blue), 255)
  }

  static func file(_ kind: Kind, width: Int = 19, height: Int = 13, transparency: [UInt8] = []) -> PNGFile {
    let mask = 1 << kind.depth - 1
    let channels = [PNGFile.ColorType.grey: 1, .palette: 1, .greyAlpha: 2, .rgb: 3, .rgba: 4][kind.colorType] ?? 1
    return PNGFile(
      width: width,
      height: height,
      depth: kind.depth,
      colorType: kind.colorType,
      palette: kind.colorType == .palette ? Array(palette.prefix(1 << kind.depth)) : [],
      transparency: transparency,
      isInterlaced: kind.isInterlaced,
    ) { x, y in
      let noise = x * 2711 + y * 7919 + x * y
      return (0..<channels).map { (noise + $0 * 20_011) & mask }
    }
  }

  /// What the standard says a pixel's samples stand for, in 8 bits.
  static func expected(_ file: PNGFile) -> Bitmap {
    let most = Double(1 << file.depth - 1)
    return .pixels(width: file.width, height: file.height) { x, y in
      let samples = file.samples(x, y)
      let levels = samples.map { UInt8((Double($0) * 255 / most).rounded()) }
      switch file.colorType {
      case .grey: return SIMD4(levels[0], levels[0], levels[0], 255)
      case .palette: return file.palette[samples[0]]
      case .rgb: return SIMD4(levels[0], levels[1], levels[2], 255)
      case .greyAlpha: return SIMD4(levels[0], levels[0], levels[0], levels[1])
      case .rgba: return SIMD4(levels[0], levels[1], levels[2], levels[3])
      }
    }
  }

  @Test(arguments: kinds)
  func everyKindDecodesExactly(kind: Kind) throws {
    let file = Self.file(kind)

    let bitmap = try Bitmap(decoding: file.data)

    #expect(bitmap.largestDifference(from: Self.expected(file)) == 0)
  }

  @Test(arguments: kinds)
  func theHeaderTellsDepthAndAlpha(kind: Kind) throws {
    let header = try info(Self.file(kind).data)

    #expect(header.format == .png)
    #expect([header.width, header.height] == [19, 13] as [Int])
    #expect(header.bitsPerComponent == (kind.colorType == .palette ? 8 : kind.depth))
    #expect(header.hasAlpha == (kind.colorType == .greyAlpha || kind.colorType == .rgba))
    #expect(header.streamsRows == !kind.isInterlaced)
  }

  @Test(arguments: [(1, 1), (2, 1), (1, 2), (4, 4), (5, 3), (8, 9), (3, 17)])
  func smallInterlacedPicturesLackPasses(size: (width: Int, height: Int)) throws {
    let kind = Kind(colorType: .rgb, depth: 8, isInterlaced: true)
    let file = Self.file(kind, width: size.width, height: size.height)

    let bitmap = try Bitmap(decoding: file.data)

    #expect(bitmap.largestDifference(from: Self.expected(file)) == 0)
  }

  @Test(arguments: [false, true])
  func aPaletteMayBeTransparent(isInterlaced: Bool) throws {
    let kind = Kind(colorType: .palette, depth: 2, isInterlaced: isInterlaced)
    let file = Self.file(kind, transparency: [0, 100, 200])

    let decoded = try decode(file.data)

    let expected = Bitmap.pixels(width: 19, height: 13) { x, y in
      var color = Self.palette[file.samples(x, y)[0]]
      color.w = [0, 100, 200, 255][file.samples(x, y)[0]]
      return color
    }
    #expect(decoded.info.hasAlpha)
    #expect(decoded.bitmap.largestDifference(from: expected) == 0)
  }

  @Test(arguments: [1, 4, 8, 16])
  func oneGreyMayBeTransparent(depth: Int) throws {
    let probe = Self.file(Kind(colorType: .grey, depth: depth, isInterlaced: false))
    let chosen = probe.samples(3, 5)[0]
    let file = Self.file(
      Kind(colorType: .grey, depth: depth, isInterlaced: false),
      transparency: .big16(chosen),
    )

    let bitmap = try Bitmap(decoding: file.data)

    for y in 0..<13 {
      for x in 0..<19 { #expect((bitmap[x, y].w == 0) == (file.samples(x, y)[0] == chosen)) }
    }
  }

  @Test
  func oneColourMayBeTransparent() throws {
    let kind = Kind(colorType: .rgb, depth: 8, isInterlaced: false)
    let chosen = Self.file(kind).samples(4, 4)
    let file = Self.file(kind, transparency: chosen.flatMap { [UInt8].big16($0) })

    let bitmap = try Bitmap(decoding: file.data)

    #expect(bitmap[4, 4].w == 0)
    #expect(bitmap.pixels.count { $0.w == 0 } == 1)
  }

  @Test(arguments: kinds.filter { $0.isInterlaced })
  func anInterlacedThumbnailIsThatOfThePlainPicture(kind: Kind) throws {
    var plain = kind
    plain.isInterlaced = false
    let size = TargetSize.pixels(7, 7)

    let thumbnail = try decode(Self.file(kind).data, size).bitmap

    #expect(thumbnail.largestDifference(from: try decode(Self.file(plain).data, size).bitmap) == 0)
  }

  @Test
  func theDefaultPictureOfAnAPNGIsItsFirstFrame() throws {
    let still = try Bitmap.testPattern(width: 12, height: 9).encoded(as: .png)
    let animated = still.withPNGChunk("acTL", .big32(2) + .big32(0))

    let decoded = try decode(animated)

    #expect(decoded.info.format == .apng)
    // None of the frames that it declares is there.
    #expect(decoded.info.frameCount == 1)
    #expect(decoded.bitmap.largestDifference(from: .testPattern(width: 12, height: 9)) == 0)
  }

  @Test(.enabled(if: !Shape.isApple))
  func aPNGThatLacksOnlyItsEndIsWhole() throws {
    let picture = Bitmap.testPattern(width: 20, height: 10)
    let file = try picture.encoded(as: .png)

    let decoded = try decode(file.dropLast(12))

    #expect(decoded.damage == nil)
    #expect(decoded.bitmap.largestDifference(from: picture) == 0)
  }

  @Test
  func aPNGWithoutAPaletteItNeedsIsCorrupt() {
    var file = Self.file(Kind(colorType: .palette, depth: 8, isInterlaced: false))
    file.palette = []

    #expect(failure { try decode(file.data) }?.code == .corrupt)
  }

  @Test
  func aWrongChecksumIsCorrupt() throws {
    let file = Self.file(Kind(colorType: .rgb, depth: 8, isInterlaced: false)).data

    let error = failure { try decode(file.replacing(60, with: file[60] ^ 0x55)) }

    #expect(error?.code == .corrupt)
    #expect(error?.format == .png)
  }
}

/// What a file must not do, and what it may.
@Suite(.enabled(if: !Shape.isApple))
struct DamagedPNGTests {
  private static let kind = PNGTests.Kind(colorType: .rgb, depth: 8, isInterlaced: false)

  /// A file of the header and further chunks, with a picture of two pixels in two rows.
  private static func file(
    _ type: PNGFile.ColorType = .rgb,
    depth: UInt8 = 8,
    before: Data = Data(),
    pixels: [UInt8],
  ) -> Data {
    let header: [UInt8] = .big32(2) + .big32(2) + [depth, UInt8(type.rawValue), 0, 0, 0]
    return Data(SniffingTests.png + PNGFile.chunk("IHDR", header)) + before + Data(PNGFile.chunk("IDAT", pixels))
      + Data(PNGFile.chunk("IEND", []))
  }

  private static let rows: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12]

  @Test
  func aFilterThatDoesNotExistIsNamedWithItsRow() {
    var rows = Self.rows
    rows[7] = 5

    let error = failure { try decode(Self.file(pixels: PNGFile.zlib(rows))) }

    #expect(error?.code == .corrupt)
    #expect(error?.description.contains("row 1 of 2 has a filter that does not exist") == true)
  }

  @Test
  func pixelsThatEndTooEarlyAreCorrupt() {
    let error = failure { try decode(Self.file(pixels: PNGFile.zlib(Array(Self.rows.dropLast(3))))) }

    #expect(error?.code == .corrupt)
    #expect(error?.description.contains("end at row 1 of 2") == true)
  }

  @Test
  func moreThanAllRowsIsThrownAway() throws {
    let decoded = try decode(Self.file(pixels: PNGFile.zlib(Self.rows + [UInt8](repeating: 7, count: 100_000))))

    #expect(decoded.bitmap[1, 1] == SIMD4(10, 11, 12, 255))
    #expect(decoded.damage == nil)
  }

  @Test
  func aCompressedStreamWithAWrongChecksumOfItsOwnIsShown() throws {
    var pixels = PNGFile.zlib(Self.rows)
    pixels[pixels.count - 1] ^= 1

    #expect(try decode(Self.file(pixels: pixels)).bitmap[0, 0] == SIMD4(1, 2, 3, 255))
  }

  @Test
  func pixelsInManyChunksAreOneStream() throws {
    let picture = Bitmap.busy(width: 300, height: 200, alpha: false)
    let whole = try picture.encoded(as: .png)
    let start = try #require(whole.firstRange(of: Data("IDAT".utf8))).lowerBound - 4
    let pixels = Array(whole[(start + 8)..<(whole.count - 16)])
    var file = whole.prefix(start)
    for first in stride(from: 0, to: pixels.count, by: 100) {
      file += Data(PNGFile.chunk("IDAT", Array(pixels[first..<min(first + 100, pixels.count)])))
      file += Data(PNGFile.chunk("IDAT", []))
    }

    #expect(try Bitmap(decoding: file + whole.suffix(12)).largestDifference(from: picture) == 0)
  }

  @Test
  func aChunkThatNobodyKnowsAndThatMattersIsRefused() throws {
    let pixels = PNGFile.zlib(Self.rows)

    #expect(
      failure { try decode(Self.file(before: Data(PNGFile.chunk("ABCD", [1])), pixels: pixels)) }?.code == .corrupt
    )
    #expect(try decode(Self.file(before: Data(PNGFile.chunk("abCD", [1])), pixels: pixels)).bitmap.width == 2)
  }

  @Test
  func aPlaceBeyondThePaletteIsBlack() throws {
    let palette = Data(PNGFile.chunk("PLTE", [10, 20, 30]))
    let file = Self.file(.palette, before: palette, pixels: PNGFile.zlib([0, 0, 7, 0, 255, 0]))

    let bitmap = try Bitmap(decoding: file)

    #expect(
      [bitmap[0, 0], bitmap[1, 0], bitmap[0, 1]] == [
        SIMD4(10, 20, 30, 255), SIMD4(0, 0, 0, 255), SIMD4(0, 0, 0, 255),
      ]
    )
  }

  @Test(arguments: [[], [1, 2], [1, 2, 3, 4], [UInt8](repeating: 0, count: 771)] as [[UInt8]])
  func aPaletteOfAWrongLengthIsCorrupt(palette: [UInt8]) {
    let file = Self.file(
      .palette,
      before: Data(PNGFile.chunk("PLTE", palette)),
      pixels: PNGFile.zlib([0, 0, 0, 0, 0, 0]),
    )

    #expect(failure { try decode(file) }?.code == .corrupt)
  }

  /// Each row has each filter in turn, so that groups of four have every mix of them.
  @Test(arguments: PNGTests.kinds)
  func everyMixOfFiltersDecodesExactly(kind: PNGTests.Kind) throws {
    var generator = SplitMix64(seed: 11)
    for width in [1, 2, 3, 4, 5, 7, 40] {
      for height in [1, 3, 4, 5, 8, 61] {
        var file = PNGTests.file(kind, width: width, height: height)
        file.filters = (0..<height).map { _ in Int.random(in: 0...4, using: &generator) }

        #expect(
          try Bitmap(decoding: file.data).largestDifference(from: PNGTests.expected(file)) == 0,
          "\(width)x\(height)",
        )
      }
    }
  }
}
