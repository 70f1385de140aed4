import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Means of linear light that our own JPEG decoder makes of the statistics of blocks, beside those of all pixels.
struct EighthLightTests {
  private static func light(
    _ file: Data,
    _ decoder: JPEGDecoder = EighthDecoding.own,
  ) throws
    -> EighthDecoding.Picture
  {
    try EighthDecoding.picture(file, decoder, scale: 1, lightScale: 1 / 8)
  }

  /// The mean of the light of each block of 8x8 pixels.
  private static func means(_ picture: Bitmap) throws -> Bitmap {
    try picture.resized(
      to: .pixels(Double(picture.width / 8), Double(picture.height / 8), .exact),
      filter: .box,
      usesLinearLight: true,
    )
  }

  /// Blocks of which 0 to 63 of 64 pixels are white.
  private static let dots = Bitmap.pixels(width: 64, height: 64, alpha: .opaque) { x, y in
    let place = (x % 8 * 8 + y % 8) * 37 % 64
    return place < x / 8 * 8 + y / 8 ? SIMD4(repeating: 255) : SIMD4(0, 0, 0, 255)
  }

  @Test(arguments: [ImageEncoding.Subsampling.yuv420, .yuv422, .yuv444])
  func blocksOfTwoLevelsHaveTheirLight(subsampling: ImageEncoding.Subsampling) throws {
    let file = try Self.dots.encoded(as: .jpeg(quality: 100, subsampling: subsampling))

    let result = try Self.light(file)

    #expect(result.isOwn)
    #expect(result.damage == nil)
    #expect(result.bitmap.largestDifference(from: try Self.means(Self.dots)) <= 3)
    // Encoded values have other means.
    #expect(try EighthDecoding.picture(file).bitmap.largestDifference(from: try Self.means(Self.dots)) > 60)
  }

  @Test(arguments: [DecodeQuality.fast, .balanced, .best])
  func aFineCheckerboardStaysAsLightAsItIs(quality: DecodeQuality) throws {
    let board = Bitmap.pixels(width: 640, height: 480, alpha: .opaque) { x, y in
      (x + y).isMultiple(of: 2) ? SIMD4(repeating: 255) : SIMD4(0, 0, 0, 255)
    }
    let file = try board.encoded(as: .jpeg(quality: 95))

    let light = try decode(file, .pixels(40, 40)) { ($0.quality, $0.usesLinearLight) = (quality, true) }.bitmap
    let encoded = try decode(file, .pixels(40, 40)) { $0.quality = quality }.bitmap

    #expect(light.largestDifference(from: .solid(SIMD4(188, 188, 188, 255), width: 40, height: 30)) <= 2)
    #expect(encoded.largestDifference(from: .solid(SIMD4(128, 128, 128, 255), width: 40, height: 30)) <= 1)
  }

  @Test
  func aColourStaysThatColour() throws {
    for level in stride(from: 0, through: 255, by: 17) {
      let color = SIMD4(UInt8(level), UInt8(255 - level), 128, 255)
      let file = try Bitmap.solid(color, width: 64, height: 64).encoded(as: .jpeg(quality: 95))

      #expect(try Self.light(file).bitmap.largestDifference(from: EighthDecoding.picture(file).bitmap) == 0)
    }
  }

  @Test(arguments: ["waterfall-cliff-large.jpg", "macaws-444.jpg", "autumn-avenue-nikon.jpg", "statue-grey.jpg"])
  func aPhotographHasNearlyTheLightOfAllItsPixels(name: String) throws {
    let file = try Photograph.data(name)
    let whole = try Bitmap(decoding: file)
    let means = try Self.means(whole)

    let light = try Self.light(file)
    let encoded = try EighthDecoding.picture(file)

    #expect(light.isOwn)
    #expect(light.bitmap.size == means.size)
    #expect(light.bitmap.psnr(against: means) > 37)
    #expect(light.bitmap.psnr(against: means) > encoded.bitmap.psnr(against: means) + 2)
  }

  @Test(arguments: ["waterfall-cliff-large.jpg", "waterfall-cliff-orientation-6.jpg"])
  func aThumbnailIsNearThatOfAllPixels(name: String) throws {
    let file = try Photograph.data(name)
    func thumbnail(_ quality: DecodeQuality, _ light: Bool) throws -> Bitmap {
      try decode(file, .pixels(80, 80)) { ($0.quality, $0.usesLinearLight) = (quality, light) }.bitmap
    }

    let best = try thumbnail(.best, true)

    #expect(try thumbnail(.balanced, true).psnr(against: best) > 37)
    #expect(try thumbnail(.balanced, false).psnr(against: best) < thumbnail(.balanced, true).psnr(against: best) - 2)
  }

  @Test
  func otherFilesAreDecodedWhole() throws {
    let picture = Bitmap.busy(width: 64, height: 48, alpha: false)
    let progressive = try picture.encoded(as: .jpeg(isProgressive: true))

    for file in [progressive, try Fixture.data("rgb.jpg"), try Fixture.data("cmyk.jpg")] {
      let whole = try EighthDecoding.picture(file, scale: 1)

      #expect(try Self.light(file).bitmap.largestDifference(from: whole.bitmap) == 0)
      #expect(!whole.isOwn)
    }
    // Small files, too, and those whose caller needs more pixels.
    let file = try picture.encoded(as: .jpeg)
    #expect(try Self.light(file, JPEGDecoder()).bitmap.size == [64, 48])
    #expect(try EighthDecoding.picture(file, scale: 1, lightScale: 0.2).bitmap.size == [64, 48])
  }

  @Test
  func damageIsLeftToTheSystemsDecoder() throws {
    let file = try Photograph.data("macaws-444.jpg").prefix(40_000)

    let part = try decode(file, .pixels(60, 60)) { ($0.acceptsPartial, $0.usesLinearLight) = (true, true) }

    #expect(failure { try Self.light(file) }?.code == .truncated)
    #expect(part.damage?.code == .truncated)
    #expect(part.bitmap.size == [60, 40])
  }
}
