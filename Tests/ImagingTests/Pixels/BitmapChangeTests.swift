import Testing
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Bitmaps that are made and changed by programs.
struct BitmapChangeTests {
  struct Refusal: Error {}

  private static let red = SIMD4<UInt8>(255, 0, 0, 255)

  // MARK: One colour

  @Test
  func aBitmapHasTheColour() throws {
    let bitmap = try Bitmap(width: 3, height: 2, color: PixelColor(0x0A141E))

    #expect(bitmap.alpha == .opaque && bitmap.colorSpace == .sRGB)
    #expect(bitmap.pixels == [SIMD4](repeating: SIMD4(10, 20, 30, 255), count: 6))
  }

  @Test
  func aBitmapIsTransparentByDefault() throws {
    let bitmap = try Bitmap(width: 1, height: 1)

    #expect(bitmap.alpha == .straight)
    #expect(bitmap[0, 0] == SIMD4(0, 0, 0, 0))
  }

  /// sRGB's red in Display P3 is 0.9175, 0.2003, 0.1387.
  @Test
  func theColourIsConvertedToTheColourSpace() throws {
    let bitmap = try Bitmap(width: 1, height: 1, color: PixelColor(0xFF0000), colorSpace: .displayP3)

    #expect(bitmap[0, 0].isWithin(1, of: SIMD4(234, 51, 35, 255)))
  }

  @Test(arguments: [(0, 1), (1, 0), (-1, 5), (Int.min, Int.min)])
  func anEmptyBitmapIsAnError(width: Int, height: Int) {
    #expect(failure { try Bitmap(width: width, height: height) }?.code == .invalidSize)
  }

  @Test(
    arguments: [
      (65_536, 1, DecodeLimits.Name.side), (1, Int.max, .side), (65_535, 65_535, .outputByteCount),
      (8192, 8193, .outputByteCount),
    ] as [(Int, Int, DecodeLimits.Name)]
  )
  func aBitmapOverTheLimitsIsAnError(width: Int, height: Int, limit: DecodeLimits.Name) {
    let error = failure { try Bitmap(width: width, height: height) }
    #expect(error?.code == .overLimit && error?.limit == limit)
  }

  @Test
  func theLimitsAreTheCallers() throws {
    var limits = DecodeLimits()
    limits.outputByteCount = 400
    #expect(throws: Never.self) { try Bitmap(width: 10, height: 10, limits: limits) }
    #expect(throws: ImageError.self) { try Bitmap(width: 10, height: 11, limits: limits) }
  }

  // MARK: Pixel by pixel

  @Test
  func mapReplacesEachPixel() {
    let bitmap = Bitmap.pixels(width: 3, height: 2, alpha: .opaque) { x, y in SIMD4(UInt8(x), UInt8(y), 7, 255) }

    let result = bitmap.map { SIMD4(255 - $0.x, $0.y + 1, $0.z, $0.w) }

    #expect(result.alpha == .opaque)
    #expect(result.pixels == bitmap.pixels.map { SIMD4(255 - $0.x, $0.y + 1, 7, 255) })
    #expect(bitmap[2, 1] == SIMD4(2, 1, 7, 255))
  }

  @Test
  func mapReceivesAndReturnsStraightAlpha() {
    let bitmap = Bitmap.pixels(width: 1, height: 1, alpha: .premultiplied) { _, _ in SIMD4(128, 0, 64, 128) }

    var seen: [SIMD4<UInt8>] = []
    let result = bitmap.map { pixel in
      seen.append(pixel)
      return pixel
    }

    // 64 * 255 / 128 = 127.5
    #expect(seen == [SIMD4(255, 0, 128, 128)])
    #expect(result.alpha == .straight && result.pixels == seen)
  }

  @Test
  func anOpaqueBitmapThatIsMappedToATransparentOneHasAlpha() {
    let bitmap = Bitmap.solid(Self.red, width: 2, height: 1)
    var isFirst = true

    let result = bitmap.map { pixel in
      defer { isFirst = false }
      return isFirst ? pixel : SIMD4(1, 2, 3, 254)
    }

    #expect(result.alpha == .straight)
    #expect(result.pixels == [Self.red, SIMD4(1, 2, 3, 254)])
  }

  @Test
  func mapPassesAnErrorOn() {
    let bitmap = Bitmap.solid(Self.red, width: 2, height: 1)
    #expect(throws: Refusal.self) { try bitmap.map { (_) throws(Refusal) in throw Refusal() } }
  }

  // MARK: In place

  @Test
  func bytesThatNoOtherBitmapHasAreChangedInPlace() {
    var bitmap = Bitmap.testPattern(width: 5, height: 3)
    let address = bitmap.address

    bitmap.withMutableBytes { bytes in bytes[1 * 20 + 4 * 4] = 9 }

    #expect(bitmap.address == address)
    #expect(bitmap[4, 1].x == 9 && bitmap.alpha == .opaque)
  }

  @Test
  func aCopyKeepsItsPixels() {
    let original = Bitmap.solid(Self.red, width: 4, height: 4)
    var changed = original

    let count = changed.withMutableBytes { bytes in
      for index in 0..<4 { bytes[index] = UInt8(index) }
      return bytes.count
    }

    #expect(count == 64)
    #expect(original[0, 0] == Self.red)
    #expect(changed[0, 0] == SIMD4(0, 1, 2, 3) && changed[1, 0] == Self.red)
  }

  @Test
  func borrowedMemoryIsNotWritten() {
    var memory = [UInt8](repeating: 7, count: 16)
    unsafe memory.withUnsafeMutableBytes { bytes in
      var bitmap = unsafe Bitmap(borrowing: bytes, width: 2, height: 2, alpha: .straight, colorSpace: .sRGB)
      bitmap.withMutableBytes { $0[0] = 1 }
      #expect(bitmap[0, 0] == SIMD4(1, 7, 7, 7))
    }
    #expect(memory == [UInt8](repeating: 7, count: 16))
  }

  @Test
  func anOpaqueBitmapWhoseAlphaIsChangedIsNoLongerOpaque() {
    var bitmap = Bitmap.solid(Self.red, width: 2, height: 2)

    bitmap.withMutableBytes { $0[15] = 254 }

    #expect(bitmap.alpha == .straight && bitmap.hasTransparency)
  }

  @Test
  func whatHasBeenChangedBeforeAnErrorStaysChanged() {
    var bitmap = Bitmap.solid(Self.red, width: 1, height: 1)

    #expect(throws: Refusal.self) {
      try bitmap.withMutableBytes { (bytes) throws(Refusal) in
        bytes[3] = 0
        throw Refusal()
      }
    }

    #expect(bitmap[0, 0] == SIMD4(255, 0, 0, 0) && bitmap.alpha == .straight)
  }

  // MARK: Drawing

  /// Porter and Duff's "source over" by hand: the alpha is 0.502 + 0.502 * 0.498 = 0.752.
  @Test(
    arguments: [
      (SIMD4<UInt8>(0, 0, 255, 255), Bitmap.Alpha.opaque, SIMD4<UInt8>(128, 0, 127, 255)),
      (SIMD4(0, 0, 255, 255), .premultiplied, SIMD4(128, 0, 127, 255)),
      (SIMD4(0, 0, 255, 128), .straight, SIMD4(170, 0, 85, 192)),
      (SIMD4(0, 0, 128, 128), .premultiplied, SIMD4(128, 0, 64, 192)),
      (SIMD4(9, 9, 9, 0), .straight, SIMD4(255, 0, 0, 128)),
      (SIMD4(0, 0, 0, 0), .premultiplied, SIMD4(128, 0, 0, 128)),
    ] as [(SIMD4<UInt8>, Bitmap.Alpha, SIMD4<UInt8>)]
  )
  func colorsMix(below: SIMD4<UInt8>, alpha: Bitmap.Alpha, expected: SIMD4<UInt8>) {
    for (color, kind) in [
      (SIMD4<UInt8>(255, 0, 0, 128), Bitmap.Alpha.straight), (SIMD4(128, 0, 0, 128), .premultiplied),
    ] {
      var canvas = Bitmap.pixels(width: 1, height: 1, alpha: alpha) { _, _ in below }
      canvas.draw(Bitmap.pixels(width: 1, height: 1, alpha: kind) { _, _ in color }, at: (0, 0))
      #expect(canvas[0, 0] == expected && canvas.alpha == alpha)
    }
  }

  /// The places of a picture of 2x2 pixels on one of 3x3, and the pixels that it covers.
  @Test(
    arguments: [
      (0, 0, [0, 1, 3, 4]), (1, 1, [4, 5, 7, 8]), (-1, -1, [0]), (2, 2, [8]), (2, -1, [2]), (-1, 1, [3, 6]),
      (3, 0, []), (0, -2, []), (.max, 0, []), (0, .min, []), (.min, .max, []),
    ] as [(Int, Int, [Int])]
  )
  func thePartOutsideIsCutOff(x: Int, y: Int, covered: [Int]) {
    let white = SIMD4<UInt8>(repeating: 255)
    var canvas = Bitmap.solid(white, width: 3, height: 3)

    canvas.draw(.solid(Self.red, width: 2, height: 2), at: (x, y))

    #expect(canvas.pixels == (0..<9).map { covered.contains($0) ? Self.red : white })
  }

  @Test
  func drawingCopiesNothingUnlessPixelsAreShared() {
    var canvas = Bitmap.solid(SIMD4(0, 0, 0, 255), width: 4, height: 1)
    let address = canvas.address
    for x in 0..<4 { canvas.draw(.solid(SIMD4(UInt8(x), 0, 0, 255), width: 1, height: 1), at: (x, 0)) }
    #expect(canvas.address == address)

    let copy = canvas
    canvas.draw(.solid(Self.red, width: 1, height: 1), at: (0, 0))

    #expect(copy.address == address && copy.pixels.map(\.x) == [0, 1, 2, 3])
    #expect(canvas.pixels.map(\.x) == [255, 1, 2, 3])
  }

  @Test
  func aBitmapIsDrawnOnItself() {
    var canvas = Bitmap.pixels(width: 4, height: 1, alpha: .opaque) { x, _ in SIMD4(UInt8(x), 0, 0, 255) }

    canvas.draw(canvas, at: (1, 0))

    #expect(canvas.pixels.map(\.x) == [0, 0, 1, 2])
  }

  @Test
  func whatIsDrawnIsConvertedToTheColourSpaceOfTheCanvas() throws {
    var canvas = try Bitmap(width: 1, height: 1, color: .white, colorSpace: .displayP3)

    canvas.draw(.solid(Self.red, width: 1, height: 1), at: (0, 0))

    #expect(canvas.colorSpace == .displayP3)
    #expect(canvas[0, 0].isWithin(1, of: SIMD4(234, 51, 35, 255)))
  }

  @Test(
    arguments: [
      (0.5, 128), (0, 255), (1, 0), (2, 0), (-1, 255), (.nan, 0), (.infinity, 0), (0.2, 204),
    ] as [(Double, UInt8)]
  )
  func theOpacityIsClamped(opacity: Double, green: UInt8) {
    var canvas = Bitmap.solid(SIMD4(repeating: 255), width: 1, height: 1)

    canvas.draw(.solid(Self.red, width: 1, height: 1), at: (0, 0), opacity: opacity)

    #expect(canvas[0, 0] == SIMD4(255, green, green, 255))
  }

  @Test
  func anOverlayIsTheSame() throws {
    for base in [ProcessorTests.picture, ProcessorTests.soft] {
      let overlay = ImageProcessor.overlay(ImageProcessor.mark, at: .topLeft, offset: (3, 4), opacity: 0.7)
      var canvas = base
      canvas.draw(ImageProcessor.mark, at: (3, 4), opacity: 0.7)
      #expect(try canvas.pixels == overlay.process(base).pixels)
    }
  }
}
