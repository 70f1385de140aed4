import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// JPEG files that are turned without decoding.
struct JPEGTurnTests {
  /// A picture whose places all differ, of whole units of blocks for every subsampling.
  private static func file(
    width: Int = 64,
    height: Int = 48,
    _ subsampling: ImageEncoding.Subsampling = .yuv420,
    isProgressive: Bool = false,
  ) throws -> Data {
    let picture = Bitmap.pixels(width: width, height: height) { x, y in
      SIMD4(UInt8(255 * x / width), UInt8(255 * y / height), UInt8((x * y) & 127), 255)
    }
    return try picture.encoded(as: .jpeg(quality: 90, subsampling: subsampling, isProgressive: isProgressive))
  }

  @Test(arguments: Orientation.allCases, [ImageEncoding.Subsampling.yuv444, .yuv420])
  func aTurnedFileHasTheTurnedPixels(orientation: Orientation, subsampling: ImageEncoding.Subsampling) throws {
    let file = try Self.file(subsampling)
    let turned = try #require(try JPEGTurn(orientation).turned(file))
    let (before, after) = try (decode(file).bitmap, decode(turned).bitmap)

    let size = orientation.applied(width: 64, height: 48)
    #expect(after.width == size.width && after.height == size.height)
    // Coefficients are the same; how they become pixels is rounded in another order.
    var most = 0
    for y in 0..<48 {
      for x in 0..<64 {
        let place = orientation.upright(x: x, y: y, width: 64, height: 48)
        let (one, other) = (before[x, y], after[place.x, place.y])
        for part in 0..<3 { most = max(most, abs(Int(one[part]) - Int(other[part]))) }
      }
    }
    #expect(most <= (subsampling == .yuv444 ? 3 : 12))
  }

  @Test(arguments: [false, true])
  func turnsThatGoRoundLoseNothing(isProgressive: Bool) throws {
    let file = try Self.file(isProgressive: isProgressive)
    let same = try #require(try JPEGTurn(.up).turned(file))
    for quarters in [1, 2, 3, -1] {
      let there = try #require(try JPEGTurn(.up, thenQuarters: quarters).turned(file))
      let back = try #require(try JPEGTurn(.up, thenQuarters: -quarters).turned(there))
      // Byte for byte: each coefficient is back.
      #expect(back == same)
    }
    #expect(try decode(same).bitmap.psnr(against: decode(file).bitmap) == .infinity)
  }

  @Test
  func quartersComeAfterTheOrientation() {
    for orientation in Orientation.allCases {
      #expect(JPEGTurn(orientation, thenQuarters: 4) == JPEGTurn(orientation))
      #expect(JPEGTurn(orientation, thenQuarters: -1) == JPEGTurn(orientation, thenQuarters: 3))
    }
    #expect(JPEGTurn(.up, thenQuarters: 1) == JPEGTurn(.right) && JPEGTurn(.up, thenQuarters: 3) == JPEGTurn(.left))
    #expect(
      JPEGTurn(.right, thenQuarters: 1) == JPEGTurn(.down)
        && JPEGTurn(.upMirrored, thenQuarters: 2) == JPEGTurn(.downMirrored)
    )
  }

  @Test
  func anEdgeWithinABlockIsNotMirrored() throws {
    let file = try Self.file(width: 63, height: 48)
    // The right edge is in the way of a mirror, and not of a transposition.
    #expect(try JPEGTurn(.upMirrored).turned(file) == nil)
    #expect(try JPEGTurn(.left).turned(file) == nil)
    #expect(try JPEGTurn(.leftMirrored).turned(file) != nil)
    let down = try #require(try JPEGTurn(.downMirrored).turned(file))
    #expect(try decode(down).bitmap.width == 63)
  }

  @Test(arguments: Orientation.allCases, [false, true])
  func metadataStayAndTheOrientationIsUpright(orientation: Orientation, littleEndian: Bool) throws {
    let file = try Self.file().withEXIF(orientation, littleEndian: littleEndian)
    let before = try DecoderRegistry.standard.info(of: file)
    try #require(before.orientation == orientation)
    let turned = try #require(try JPEGTurn(orientation).turned(file))
    let after = try DecoderRegistry.standard.info(of: turned)
    #expect(after.orientation == .up && (after.width, after.height) == (before.width, before.height))
    #expect(
      try DecoderRegistry.standard.metadata(of: turned).exif?.count
        == DecoderRegistry.standard.metadata(of: file).exif?.count
    )
  }

  @Test
  func damagedFilesAreRefused() throws {
    let file = try Self.file()
    for count in stride(from: 0, to: file.count, by: 37) {
      #expect(throws: ImageError.self) { try JPEGTurn(.right).turned(file.prefix(count)) }
    }
  }

  @Test
  func aPictureOfTooManyPixelsIsRefusedBeforeItIsRead() throws {
    var limits = DecodeLimits()
    limits.heldPixelCount = 64 * 48 - 1
    let file = try Self.file()
    let error = #expect(throws: ImageError.self) { try JPEGTurn(.right).turned(file, limits: limits) }
    #expect(error?.code == .overLimit)
  }

  @Test
  func aSecondPictureInTheFileIsNotLost() throws {
    var file = try Self.file()
    let body = Array("MPF\0II*\0".utf8) + [UInt8](repeating: 0, count: 20)
    file.insert(contentsOf: [0xFF, 0xE2, 0, UInt8(body.count + 2)] + body, at: 2)
    let error = #expect(throws: ImageError.self) { try JPEGTurn(.right).turned(file) }
    #expect(error?.code == .unsupported)
  }
}
