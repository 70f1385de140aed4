import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// PNG with PQ and HLG (`cICP`), shown on an ordinary screen.
struct HighDynamicRangeTests {
  /// A file whose grey rises from left to right, to the brightest that the curve has, with alpha or without.
  static func ramp(
    _ transfer: UInt8,
    primaries: UInt8 = 9,
    width: Int = 64,
    height: Int = 48,
    depth: Int = 16,
    isInterlaced: Bool = false,
    hasAlpha: Bool = false,
    chunks: [(String, [UInt8])] = [],
  ) -> Data {
    let most = 1 << depth - 1
    let file = PNGFile(
      width: width,
      height: height,
      depth: depth,
      colorType: hasAlpha ? .rgba : .rgb,
      isInterlaced: isInterlaced,
    ) { x, y in
      let level = most * x / (width - 1)
      return [level, level, level] + (hasAlpha ? [y < height / 2 ? most : 0] : [])
    }
    return ([("cICP", [primaries, transfer, 0, 1])] + chunks).reduce(file.data) { $0.withPNGChunk($1.0, $1.1) }
  }

  static func tenThousandths(_ nits: Double) -> [UInt8] { .big32(Int(nits * 10_000)) }

  @Test(arguments: [(16, "pq"), (18, "hlg")] as [(UInt8, String)])
  func theHeaderSaysWhatItIs(transfer: UInt8, name: String) throws {
    let plain = try info(Self.ramp(transfer))
    #expect(plain.dynamicRange == .high)
    #expect(plain.transferFunction == name)
    #expect(plain.headroom == nil)
    // From the third edition of PNG, 11.3.2.7 and 11.3.2.8: the content, or else the display.
    let display = [UInt8](repeating: 0, count: 16) + Self.tenThousandths(1_015) + Self.tenThousandths(0.01)
    #expect(try info(Self.ramp(transfer, chunks: [("mDCV", display)])).headroom == 5)
    let content = Self.tenThousandths(609) + Self.tenThousandths(50)
    #expect(try info(Self.ramp(transfer, chunks: [("mDCV", display), ("cLLI", content)])).headroom == 3)
    #expect(
      try info(Self.ramp(transfer, chunks: [("cLLI", Self.tenThousandths(0) + Self.tenThousandths(0))])).headroom == nil
    )
  }

  @Test(arguments: [1, 13] as [UInt8])
  func otherCurvesAreOfStandardRange(transfer: UInt8) throws {
    let header = try info(Self.ramp(transfer))
    #expect(header.dynamicRange == .standard)
    #expect(header.transferFunction == nil)
    #expect(header.headroom == nil)
  }

  static func isRising(_ bitmap: Bitmap, row: Int = 0) -> Bool {
    (1..<bitmap.width).allSatisfy { bitmap[$0, row].x >= bitmap[$0 - 1, row].x }
  }

  @Test(arguments: [16, 18] as [UInt8], [false, true])
  func greyIsGreyFromBlackToWhite(transfer: UInt8, isInterlaced: Bool) throws {
    let bitmap = try decode(Self.ramp(transfer, isInterlaced: isInterlaced)).bitmap

    #expect(bitmap[0, 0] == SIMD4(0, 0, 0, 255))
    #expect(bitmap[63, 47] == SIMD4(255, 255, 255, 255))
    #expect(Self.isRising(bitmap))
    #expect((0..<64).allSatisfy { bitmap[$0, 20].x == bitmap[$0, 20].y && bitmap[$0, 20].y == bitmap[$0, 20].z })
    #expect(bitmap.alpha == .opaque)
    #expect(bitmap.colorSpace == .sRGB)
  }

  /// With 8 bits a component the file has fewer levels, and the same brightness.
  @Test
  func theDepthOfTheFileChangesLittle() throws {
    let deep = try decode(Self.ramp(16)).bitmap
    let shallow = try decode(Self.ramp(16, depth: 8)).bitmap
    for x in 0..<64 { #expect(shallow[x, 0].isWithin(4, of: deep[x, 0])) }
  }

  /// The peak is what the picture has: of a dim one nothing is darkened.
  @Test
  func aDimPictureKeepsItsBrightness() throws {
    // Half of PQ's scale are 92 nits.
    let file = PNGFile(width: 8, height: 8, depth: 16, colorType: .rgb) { _, _ in [32_768, 32_768, 32_768] }.data
    let dim = file.withPNGChunk("cICP", [9, 16, 0, 1])
    let light = PerceptualQuantizer.light(32_768.0 / 65_535) / 203
    let level = UInt8((255 * (1.055 * pow(light, 1 / 2.4) - 0.055)).rounded())

    #expect(try decode(dim).bitmap[3, 3].isWithin(1, of: SIMD4(level, level, level, 255)))
    // The same picture that is said to be bright somewhere is darker.
    let bright = dim.withPNGChunk("cLLI", Self.tenThousandths(4_000) + Self.tenThousandths(100))
    #expect(try decode(bright).bitmap[3, 3].x < level)
  }

  @Test(arguments: [(16, 12), (40, 30), (64, 48), (100, 75)])
  func aResizedPictureIsTheSame(width: Int, height: Int) throws {
    let file = Self.ramp(16, chunks: [("cLLI", Self.tenThousandths(1_000) + Self.tenThousandths(100))])
    let whole = try decode(file).bitmap
    let bitmap = try decode(file, .pixels(width, height, enlarges: true)).bitmap

    #expect(bitmap.width == width && bitmap.height == height)
    #expect(Self.isRising(bitmap, row: height / 2))
    for x in 1..<width - 1 {
      let near = whole[min(63, (2 * x + 1) * 64 / (2 * width)), 24]
      #expect(bitmap[x, height / 2].isWithin(max(8, 600 / width), of: near))
    }
  }

  @Test
  func alphaStays() throws {
    let bitmap = try decode(Self.ramp(18, hasAlpha: true)).bitmap
    #expect(bitmap[40, 5].w == 255 && bitmap[40, 40].w == 0)
    let small = try decode(Self.ramp(18, hasAlpha: true), .pixels(32, 24)).bitmap
    #expect(small[20, 3].w == 255 && small[20, 20].w == 0)
    #expect(Self.isRising(small))
  }

  @Test(arguments: Orientation.allCases)
  func picturesAreTurnedUpright(orientation: Orientation) throws {
    let exif = TIFFBlock.orientation(orientation.rawValue, littleEndian: true)
    let bitmap = try decode(Self.ramp(16, chunks: [("eXIf", exif)])).bitmap
    let expected = try decode(Self.ramp(16)).bitmap
    let size = orientation.applied(width: 64, height: 48)

    #expect(bitmap.width == size.width && bitmap.height == size.height)
    for (x, y) in [(0, 0), (63, 0), (5, 40), (50, 20)] {
      let place = orientation.upright(x: x, y: y, width: 64, height: 48)
      #expect(bitmap[place.x, place.y] == expected[x, y])
    }
  }

  /// Together with the map, the picture is as bright as the file says.
  @Test(arguments: [16, 18] as [UInt8], Orientation.allCases)
  func theRestOfTheRangeIsAGainMap(transfer: UInt8, orientation: Orientation) throws {
    let nits = 1_000.0
    let exif = TIFFBlock.orientation(orientation.rawValue, littleEndian: true)
    let peak = Self.tenThousandths(nits) + Self.tenThousandths(0)
    let file = Self.ramp(transfer, chunks: [("eXIf", exif), ("cLLI", peak)])
    let image = try decode(file) { $0.dynamicRange = .high }
    let map = try #require(image.gainMap)
    #expect(image.bitmap.content == (try decode(file).bitmap.content))
    #expect(try decode(file).gainMap == nil)
    #expect(map.bitmap.size == (orientation.swapsAxes ? [24, 32] : [32, 24]))
    #expect(abs(map.formula.headroom - nits / 203) < 0.001)
    let made = try HighRangeBitmap(image.bitmap, map)
    for x in stride(from: 3, to: 63, by: 4) {
      let component = Double(65_535 * x / 63) / 65_535
      let light =
        transfer == 16
        ? PerceptualQuantizer.light(component) : pow(HybridLogGamma.light(component), HybridLogGamma.gamma) * 1_000
      let right = min(light, nits) / 203
      let place = orientation.upright(x: x, y: 20, width: 64, height: 48)
      // The means of neighbours, in steps of a 255th of the gains.
      #expect(abs(Double(made[place.x, place.y].y) - right) < 0.06 * right + 0.01, "\(x)")
    }
  }

  @Test
  func aDimPictureHasNoGainMap() throws {
    let file = PNGFile(width: 8, height: 8, depth: 16, colorType: .rgb) { _, _ in [32_768, 32_768, 32_768] }.data
    #expect(try decode(file.withPNGChunk("cICP", [9, 16, 0, 1])) { $0.dynamicRange = .high }.gainMap == nil)
  }

  /// Parts of a picture, and its frames, must fit together, so they are not measured.
  @Test
  func regionsFitTogether() throws {
    let file = Self.ramp(16)
    func region(_ x: Int) throws -> Bitmap {
      try decode(file) { $0.region = PixelRegion(x: x, y: 0, width: 16, height: 48) }.bitmap
    }
    let whole = try decode(Self.ramp(16, chunks: [("cLLI", Self.tenThousandths(1_000) + [0, 0, 0, 0])])).bitmap
    for x in [0, 16, 48] { #expect(try region(x)[7, 9] == whole[x + 7, 9]) }
  }

  /// Pure green of BT.2020 is beyond sRGB, and less so beyond Display P3.
  @Test
  func coloursBeyondTheGamutAreMovedIntoIt() throws {
    let green = PNGFile(width: 4, height: 4, depth: 16, colorType: .rgb) { _, _ in [0, 36_000, 0] }.data
      .withPNGChunk("cICP", [9, 16, 0, 1])
    let standard = try decode(green).bitmap[1, 1]
    let wide = try decode(green) { $0.colorSpace = .displayP3 }.bitmap

    #expect(wide.colorSpace == .displayP3)
    for pixel in [standard, wide[1, 1]] { #expect(pixel.y > 150 && pixel.x < pixel.y && pixel.z < pixel.y) }
    // What is compressed keeps some of the others, and is not cut to nothing.
    #expect(standard.x > 0 && standard.z > 0)
  }

  @Test
  func greyLevelsAreThoseOfThePicture() throws {
    let file = Self.ramp(16, chunks: [("cLLI", Self.tenThousandths(1_000) + [0, 0, 0, 0])])
    let grey = try DecoderRegistry.standard.decodeGray(file).bitmap
    let colors = try decode(file).bitmap
    for x in [0, 10, 40, 63] { #expect(grey[x, 10] == colors[x, 10].x) }
  }

  @Test
  func aCutFileShowsItsRows() throws {
    let file = Self.ramp(16, hasAlpha: true)
    let cut = file.prefix(file.count / 4)
    #expect(failure { try decode(cut) }?.code == .truncated)
    let shown = try decode(cut) { $0.acceptsPartial = true }

    #expect(shown.damage?.code == .truncated)
    #expect(shown.bitmap[60, 0].x > 200 && shown.bitmap[60, 0].w == 255)
    #expect(shown.bitmap[60, 47] == SIMD4())
  }

  @Test
  func theResultCountsTowardsMemory() throws {
    var limits = DecodeLimits()
    limits.memoryByteCount = 64 * 48 * 12
    let file = Self.ramp(16)
    #expect(failure { try decode(file) { $0.limits = limits } }?.limit == .memoryByteCount)
  }

  /// The frames of an animation are not measured, so that they do not flicker.
  @Test
  func anAnimationIsShownByTheUsualPeak() throws {
    let control: [UInt8] = .big32(0) + .big32(64) + .big32(48) + .big32(0) + .big32(0)
    let times: [UInt8] = .big16(1) + .big16(10) + [0, 0]
    let second: [UInt8] = .big32(1) + control.dropFirst(4)
    let moving = Self.ramp(16).withPNGChunk("fcTL", second + times).withPNGChunk("fcTL", control + times)
      .withPNGChunk("acTL", .big32(2) + .big32(0))
    let content: [UInt8] = Self.tenThousandths(1_000) + .big32(0)
    let expected = try decode(Self.ramp(16, chunks: [("cLLI", content)])).bitmap
    let bitmap = try decode(moving).bitmap

    for x in [0, 20, 40, 63] { #expect(bitmap[x, 10].isWithin(1, of: expected[x, 10])) }
  }
}
