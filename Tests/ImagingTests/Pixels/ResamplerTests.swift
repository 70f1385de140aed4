import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Resampling seen from outside: through QOI, which loses nothing and is never shrunk by its decoder.
struct ResamplerTests {
  static func resampled(_ bitmap: Bitmap, _ size: TargetSize) throws -> Bitmap {
    try decode(bitmap.encoded(as: .qoi), size).bitmap
  }

  static let sizes: [TargetSize] = [
    .pixels(100, 100), .pixels(49, 31, .exact), .pixels(20, 20, .fill), .pixels(7, 7), .pixels(1, 1, .exact),
    .pixels(50, 3, .exact), .pixels(120, 90, .exact, enlarges: true), .pixels(31, 90, .fill, enlarges: true),
  ]

  @Test(
    arguments: sizes,
    [SIMD4<UInt8>(200, 100, 50, 255), SIMD4(255, 255, 255, 255), SIMD4(0, 0, 0, 255), SIMD4(255, 1, 128, 77)],
  )
  func aSolidColourStaysThatColour(size: TargetSize, color: SIMD4<UInt8>) throws {
    let result = try Self.resampled(.solid(color, width: 50, height: 40), size)

    #expect(result.largestDifference(from: .solid(color, width: result.width, height: result.height)) == 0)
  }

  @Test(arguments: [150, 64, 33, 16])
  func aRampStaysARamp(width: Int) throws {
    let ramp = Bitmap.pixels(width: 256, height: 8, alpha: .opaque) { x, _ in SIMD4(UInt8(x), UInt8(x), UInt8(x), 255) }

    let result = try Self.resampled(ramp, .pixels(Double(width), 8, .exact))

    // At the ends the filter reaches beyond the picture; four pixels of it are left out.
    for x in 4..<width - 4 {
      let expected = (Double(x) + 0.5) * 256 / Double(width) - 0.5
      #expect(abs(Double(result[x, 4].x) - expected) <= 1)
    }
  }

  @Test(arguments: [12, 5, 30])
  func aFineCheckerboardShrinksToGrey(side: Int) throws {
    let board = Bitmap.pixels(width: 120, height: 120, alpha: .opaque) { x, y in
      let value: UInt8 = (x + y).isMultiple(of: 2) ? 255 : 0
      return SIMD4(value, value, value, 255)
    }

    let result = try Self.resampled(board, .pixels(Double(side), Double(side)))

    #expect(result.largestDifference(from: .solid(SIMD4(128, 128, 128, 255), width: side, height: side)) <= 3)
  }

  @Test(arguments: [40, 13, 6, 200])
  func whatIsTransparentDoesNotBleed(width: Int) throws {
    let picture = Bitmap.pixels(width: 80, height: 40) { x, _ in x < 40 ? SIMD4(255, 0, 0, 255) : SIMD4(0, 255, 0, 0) }

    let size = TargetSize.pixels(Double(width), Double(width) / 2, .exact, enlarges: true)
    let result = try Self.resampled(picture, size)

    let seen = result.pixels.filter { $0.w > 0 }
    #expect(seen.allSatisfy { $0.x == 255 && $0.y == 0 && $0.z == 0 })
    // The filter's lobes reach three pixels far, to the edge in the smallest of these.
    #expect(result[0, 1].w >= 254)
    #expect(result[width - 1, 1].w <= 1)
  }

  @Test
  func coverageIsAveraged() throws {
    let picture = Bitmap.pixels(width: 64, height: 64) { x, _ in
      x.isMultiple(of: 2) ? SIMD4(10, 200, 30, 255) : SIMD4(250, 0, 250, 0)
    }

    let result = try Self.resampled(picture, .pixels(8, 8))

    #expect(result.largestDifference(from: .solid(SIMD4(10, 200, 30, 128), width: 8, height: 8)) <= 2)
  }

  @Test(
    arguments: [(49, 37), (40, 37), (23, 19), (49, 12), (16, 37), (120, 90), (50, 80)],
    [true, false],
  )
  func theResultIsThatOfTheBooks(size: (width: Int, height: Int), alpha: Bool) throws {
    let picture = Bitmap.busy(width: 50, height: 38, alpha: alpha)

    let result = try Self.resampled(
      picture,
      .pixels(Double(size.width), Double(size.height), .exact, enlarges: true),
    )

    // Colours of low coverage are divided by it, and a level there is none to the eye: compared as seen.
    let expected = ReferenceResampler().resample(picture, width: size.width, height: size.height)
    #expect(result.premultiplied().largestDifference(from: expected.premultiplied()) <= 1)
  }

  @Test
  func theResultOfACropIsThatOfTheBooks() throws {
    let picture = Bitmap.busy(width: 60, height: 38, alpha: false)

    let result = try Self.resampled(picture, .pixels(15, 15, .fill))

    let expected = ReferenceResampler(crop: (11, 0, 38, 38)).resample(picture, width: 15, height: 15)
    #expect(result.largestDifference(from: expected) <= 1)
  }

  @Test(arguments: [2, 3, 5])
  func averagingBlocksFirstIsThatOfTheBooks(factor: Int) throws {
    let picture = Bitmap.busy(width: 120, height: 120, alpha: false)
    let side = 60 / factor

    let result = try Self.resampled(picture, .pixels(Double(side), Double(side)))

    let expected = ReferenceResampler(box: factor).resample(picture, width: side, height: side)
    #expect(result.largestDifference(from: expected) <= 1)
  }

  @Test
  func averagingBlocksFirstIsNotSeen() throws {
    let photograph = try Photograph.data("aeroplane-rgb.png")

    let result = try decode(photograph, .pixels(45, 30)).bitmap

    let expected = ReferenceResampler().resample(try Bitmap(decoding: photograph), width: 45, height: 30)
    #expect(result.psnr(against: expected) >= 45)
  }

  @Test
  func fillingShowsTheMiddle() throws {
    let stripes = Bitmap.pixels(width: 90, height: 30, alpha: .opaque) { x, _ in
      x < 30 ? SIMD4(255, 0, 0, 255) : x < 60 ? SIMD4(0, 255, 0, 255) : SIMD4(0, 0, 255, 255)
    }

    let result = try Self.resampled(stripes, .pixels(10, 10, .fill))

    // The filter reaches a little beyond the crop, into red and blue.
    #expect(result.rows(0..<10).pixels.allSatisfy { $0.y >= 220 })
    #expect((0..<10).allSatisfy { result[5, $0] == SIMD4(0, 255, 0, 255) })
  }

  @Test(arguments: [(1, 40), (40, 1), (1, 1)])
  func thinPicturesSurvive(size: (width: Int, height: Int)) throws {
    let picture = Bitmap.solid(SIMD4(9, 90, 190, 255), width: size.width, height: size.height)

    let small = try Self.resampled(picture, .pixels(5, 5))
    let large = try Self.resampled(picture, .pixels(60, 60, .exact, enlarges: true))

    #expect(small.pixels.allSatisfy { $0 == SIMD4(9, 90, 190, 255) })
    #expect(large.size == [60, 60])
    #expect(large.pixels.allSatisfy { $0 == SIMD4(9, 90, 190, 255) })
  }

  @Test(arguments: DecodeQuality.allCases)
  func everyQualityGivesTheSameSizeAndPicture(quality: DecodeQuality) throws {
    let file = try Bitmap.testPattern(width: 250, height: 170).encoded(as: ImageEncoding(.jpeg, quality: 95))

    let bitmap = try decode(file, .pixels(25, 25)) { $0.quality = quality }.bitmap

    #expect(bitmap.size == [25, 17])
    #expect(bitmap.psnr(against: .testPattern(width: 25, height: 17)) > 30)
  }
}
