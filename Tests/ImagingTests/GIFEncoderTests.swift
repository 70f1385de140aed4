import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct GIFEncoderTests {
  /// Different colours far apart, some of which differ in their lowest bits only.
  static func colors(_ count: Int) -> [SIMD4<UInt8>] {
    (0..<count).map { index -> SIMD4<UInt8> in
      let (red, green) = (UInt8(truncatingIfNeeded: index * 7), UInt8(truncatingIfNeeded: index * index))
      return SIMD4(red, green, UInt8(truncatingIfNeeded: index), 255)
    }
  }

  /// A picture of some of the colours, in no order.
  static func noise(
    _ width: Int,
    _ height: Int,
    _ colors: [SIMD4<UInt8>],
    seed: UInt64,
  ) -> Bitmap {
    var generator = SplitMix64(seed: seed)
    return .pixels(width: width, height: height) { _, _ in
      colors[Int.random(in: colors.indices, using: &generator)]
    }
  }

  @Test(arguments: [2, 3, 4, 16, 17, 255, 256], [false, true])
  func aPictureOfNoMoreColoursThanThePaletteComesBackExactly(count: Int, isTransparent: Bool) throws {
    let colors = Self.colors(isTransparent ? count - 1 : count) + (isTransparent ? [SIMD4()] : [])
    for height in 1...5 {
      for width in 1...20 {
        let picture = Self.noise(width, height, colors, seed: UInt64(width * height))

        let decoded = try Bitmap(decoding: picture.encoded(as: .gif(colorCount: count)))

        #expect(decoded.size == picture.size)
        #expect(decoded.largestDifference(from: picture) == 0, "\(width)x\(height)")
      }
    }
    let all = Bitmap.pixels(width: 32, height: 16) { x, y in colors[(y * 32 + x) % colors.count] }
    for dithering in ImageEncoding.Dithering.allCases {
      let decoded = try decode(all.encoded(as: .gif(colorCount: count, dithering: dithering)))
      #expect(decoded.bitmap.largestDifference(from: all) == 0)
      #expect(decoded.info.hasAlpha == isTransparent)
    }
  }

  @Test(arguments: [2, 5, 64, 256])
  func aTableThatFillsSeveralTimesIsBegunAnew(count: Int) throws {
    let picture = Self.noise(150, 120, Self.colors(count), seed: 1)

    #expect(try Bitmap(decoding: picture.encoded(as: .gif)).largestDifference(from: picture) == 0)
  }

  @Test
  func repetitionsTakeFewBytes() throws {
    let colors = Self.colors(256)
    let stripes = Bitmap.pixels(width: 200, height: 100, alpha: .opaque) { x, _ in colors[x / 20] }

    let file = try stripes.encoded(as: .gif)

    #expect(file.count < 2500)
    #expect(try Bitmap(decoding: file).largestDifference(from: stripes) == 0)
  }

  @Test(arguments: [2, 3, 8, 100, 256], ImageEncoding.Dithering.allCases)
  func noMoreColoursAreWrittenThanAllowed(count: Int, dithering: ImageEncoding.Dithering) throws {
    let picture = Bitmap.pixels(width: 90, height: 90) { x, y in
      SIMD4(UInt8(x * 2), UInt8(y * 2), UInt8((x + y) & 255), x == y ? 0 : 255)
    }

    let decoded = try Bitmap(decoding: picture.encoded(as: .gif(colorCount: count, dithering: dithering)))

    #expect(Set(decoded.pixels).count <= count)
    #expect((0..<90).allSatisfy { decoded[$0, $0].w == 0 })
    #expect(decoded.pixels.count { $0.w == 0 } == 90)
  }

  @Test
  func coverageIsNoneOrAll() throws {
    let picture = Bitmap.pixels(width: 256, height: 2) { x, y in SIMD4(200, UInt8(y), 30, UInt8(x)) }

    let decoded = try decode(picture.encoded(as: .gif)).bitmap

    #expect((0..<128).allSatisfy { decoded[$0, 0].w == 0 })
    #expect((128..<256).allSatisfy { decoded[$0, 1] == SIMD4(200, 1, 30, 255) })
  }

  @Test
  func aPictureWithoutACoveredPixelStaysEmpty() throws {
    let picture = Bitmap.solid(SIMD4(9, 9, 9, 5), width: 30, height: 3)

    #expect(try decode(picture.encoded(as: .gif(colorCount: 2))).bitmap.pixels.allSatisfy { $0.w == 0 })
  }

  /// Three channels of waves and noise, with far more colours than a palette.
  static func waves(_ width: Int, _ height: Int) -> Bitmap {
    var generator = SplitMix64(seed: 3)
    return .pixels(width: width, height: height, alpha: .opaque) { x, y in
      let noise = UInt8.random(in: 0...7, using: &generator)
      return SIMD4(UInt8(x * 5 % 240) + noise, UInt8((x + 2 * y) % 200) + noise, UInt8(y * y % 97) + noise, 255)
    }
  }

  @Test(arguments: [2, 7, 40, 256])
  func withoutDitheringEachPixelGetsTheNearestColour(count: Int) throws {
    let picture = Self.waves(60, 50)

    let decoded = try Bitmap(
      decoding: picture.encoded(as: .gif(colorCount: count, dithering: ImageEncoding.Dithering.none))
    )

    let palette = Set(decoded.pixels).map { SIMD4<Int>(truncatingIfNeeded: $0) }
    func error(_ one: SIMD4<Int>, _ other: SIMD4<Int>) -> Int { ((one &- other) &* (one &- other)).wrappedSum() }
    for (pixel, drawn) in zip(picture.pixels, decoded.pixels) {
      let wanted = SIMD4<Int>(truncatingIfNeeded: pixel)
      let least = palette.map { error($0, wanted) }.min()
      #expect(error(SIMD4<Int>(truncatingIfNeeded: drawn), wanted) == least)
    }
  }

  @Test(arguments: [
    ("macaws-444.jpg", 36.0, 34.0, 35.0), ("caps-p3-profile.jpg", 37.0, 35.0, 36.0),
    ("red-barn-progressive.jpg", 34.0, 32.0, 33.0),
  ])
  func aPhotographKeepsItsLooks(name: String, none: Double, diffusion: Double, ordered: Double) throws {
    let picture = try Bitmap(decoding: Photograph.data(name), size: .pixels(128, 128))
    func noise(_ dithering: ImageEncoding.Dithering) throws -> Double {
      try Bitmap(decoding: picture.encoded(as: .gif(dithering: dithering))).psnr(against: picture)
    }

    #expect(try noise(.none) >= none)
    #expect(try noise(.diffusion) >= diffusion)
    #expect(try noise(.ordered) >= ordered)
  }

  @Test(arguments: [ImageEncoding.Dithering.diffusion, .ordered])
  func ditheringKeepsTheMeansOfASmoothPicture(dithering: ImageEncoding.Dithering) throws {
    let picture = Bitmap.testPattern(width: 256, height: 256)
    let size = TargetSize.pixels(32, 32)
    let wanted = try Bitmap(decoding: picture.encoded(as: .png), size: size)
    func noise(_ dithering: ImageEncoding.Dithering) throws -> Double {
      let file = try picture.encoded(as: .gif(colorCount: 32, dithering: dithering))
      return try Bitmap(decoding: file, size: size).psnr(against: wanted)
    }

    #expect(try noise(dithering) > noise(.none) + 3)
  }

  @Test
  func aStillPictureIsDiffusedByDefault() throws {
    let picture = Self.waves(40, 40)

    #expect(try picture.encoded(as: .gif) == picture.encoded(as: .gif(dithering: .diffusion)))
  }

  @Test
  func fewMoreColoursThanThePaletteChangeLittle() throws {
    let colors = Self.colors(257)
    let picture = Bitmap.pixels(width: 257, height: 8, alpha: .opaque) { x, _ in colors[x] }

    let decoded = try Bitmap(decoding: picture.encoded(as: .gif(dithering: ImageEncoding.Dithering.none)))

    #expect(zip(decoded.pixels, picture.pixels).count { $0 == $1 } >= 254 * 8)
  }

  @Test
  func moreColoursThanAreCountedOneByOneStayDistinct() throws {
    // More than half of 2^16, and no two of them alike.
    let picture = Bitmap.pixels(width: 256, height: 160, alpha: .opaque) { x, y in
      SIMD4(UInt8(x), UInt8(y), UInt8((x ^ y) & 255), 255)
    }

    let decoded = try Bitmap(decoding: picture.encoded(as: .gif(dithering: ImageEncoding.Dithering.none)))

    #expect(decoded.psnr(against: picture) > 28)
    #expect(Set(decoded.pixels).count == 256)
  }

  @Test
  func onePixelCanBeWritten() throws {
    let color = SIMD4<UInt8>(120, 130, 140, 255)

    #expect(try Bitmap(decoding: Bitmap.solid(color, width: 1, height: 1).encoded(as: .gif)).pixels == [color])
  }

  @Test(arguments: [true, false])
  func sidesThatTheFormatCannotHoldAreRefused(isWide: Bool) throws {
    func picture(_ side: Int) -> Bitmap {
      .solid(SIMD4(9, 9, 9, 255), width: isWide ? side : 1, height: isWide ? 1 : side)
    }

    #expect(try info(picture(65_535).encoded(as: .gif)).storedWidth == (isWide ? 65_535 : 1))
    let error = failure { try picture(65_536).encoded(as: .gif) }
    #expect(error?.code == .notEncodable)
    #expect(error?.detail.contains("65535") == true)
  }

  @Test(arguments: [1, 254, 255, 256, 3000])
  func xmpComesBack(count: Int) throws {
    let packet = Data((0..<count).map { UInt8(1 + $0 * 37 % 255) })
    let input = EncoderInput(.testPattern(width: 5, height: 4), metadata: WrittenMetadata(xmp: packet))

    let file = try GIFEncoder().encode(input, GIFOptions())

    #expect(try DecoderRegistry.standard.metadata(of: file).xmp == packet)
    #expect(try Bitmap(decoding: file).largestDifference(from: .testPattern(width: 5, height: 4)) == 0)
  }

  @Test
  func xmpThatIsNoTextIsLeftOut() throws {
    let input = EncoderInput(.testPattern(width: 5, height: 4), metadata: WrittenMetadata(xmp: Data([60, 0, 62])))

    let file = try GIFEncoder().encode(input, GIFOptions())

    #expect(try file == Bitmap.testPattern(width: 5, height: 4).encoded(as: .gif))
  }

  @Test(arguments: ImageEncoding.Dithering.allCases)
  func encodingIsGivenUpWhenAsked(dithering: ImageEncoding.Dithering) throws {
    let picture = Self.waves(140, 130)
    let questions = Counter()
    _ = try EncoderRegistry.standard.encode(picture, as: .gif(dithering: dithering)) {
      questions.increase() < 0
    }
    let last = questions.increase() - 1
    #expect(last > 8)
    for stop in [1, 2, last / 2, last] {
      let asked = Counter()
      let error = failure {
        try EncoderRegistry.standard.encode(picture, as: .gif(dithering: dithering)) { asked.increase() >= stop }
      }
      #expect(error?.code == .cancelled)
    }
  }

  @Test
  func theSamePictureGivesTheSameBytes() throws {
    let picture = Self.waves(100, 80)

    #expect(try picture.encoded(as: .gif) == picture.encoded(as: .gif))
  }
}
