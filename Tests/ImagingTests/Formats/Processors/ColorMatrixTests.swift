import Testing
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Colours that are multiplied by a matrix, with levels computed by hand.
struct ColorMatrixTests {
  private static func result(_ processor: ImageProcessor, of pixel: SIMD4<UInt8>) throws -> SIMD4<UInt8> {
    try processor.process(Bitmap.solid(pixel, width: 1, height: 1))[0, 0]
  }

  @Test(
    arguments: [
      // Rows that exchange red and blue.
      (
        [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0], SIMD4<UInt8>(10, 20, 30, 40),
        SIMD4<UInt8>(30, 20, 10, 40),
      ),
      // A negative, whose last column is of components from 0 to 1.
      (
        [-1, 0, 0, 0, 1, 0, -1, 0, 0, 1, 0, 0, -1, 0, 1, 0, 0, 0, 1, 0], SIMD4(0, 100, 255, 255),
        SIMD4(255, 155, 0, 255),
      ),
      // The alpha is a factor, too: 100 + 0.5 * 200.
      (
        [1, 0, 0, 0.5, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.5, 0], SIMD4(100, 1, 2, 200), SIMD4(200, 1, 2, 100),
      ),
      // Red becomes alpha; the rest is a constant of 0.2 * 255.
      ([0, 0, 0, 0, 0.2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], SIMD4(77, 1, 2, 255), SIMD4(51, 0, 0, 77)),
      // Clamped at both ends.
      (
        [2, 0, 0, 0, 0, 0, -5, 0, 0, 0, 0, 0, 1e6, 0, -1e6, 0, 0, 0, 9, 0], SIMD4(200, 50, 255, 100),
        SIMD4(255, 0, 0, 255),
      ),
    ] as [([Double], SIMD4<UInt8>, SIMD4<UInt8>)]
  )
  func aRowIsASumOfProducts(matrix: [Double], pixel: SIMD4<UInt8>, expected: SIMD4<UInt8>) throws {
    #expect(try Self.result(.colorMatrix(matrix), of: pixel) == expected)
  }

  @Test
  func onlyARowThatKeepsAlphaKeepsAnOpaqueBitmapOpaque() throws {
    let opaque = Bitmap.solid(SIMD4(1, 2, 3, 255), width: 2, height: 2)
    let half = ImageProcessor.colorMatrix([1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.5, 0])

    #expect(try ImageProcessor.sepia().process(opaque).alpha == .opaque)
    let result = try half.process(opaque)
    #expect(result.alpha == .straight && result[1, 1] == SIMD4(1, 2, 3, 128))
  }

  @Test(arguments: [0, 19, 21])
  func anotherNumberOfNumbersIsAnError(count: Int) {
    let error = failure {
      try Self.result(.colorMatrix([Double](repeating: 1, count: count)), of: SIMD4(repeating: 9))
    }
    #expect(error?.code == .processingFailed && error?.detail.contains("has \(count) numbers, not 20") == true)
  }

  /// Rows of 1.351, 1.203 and 0.937 in all, and half of the way there from 1.
  @Test(
    arguments: [
      (1, 100, SIMD4<UInt8>(135, 120, 94, 60)), (0.5, 100, SIMD4(118, 110, 97, 60)),
      (1, 255, SIMD4(255, 255, 239, 60)),
    ] as [(Double, UInt8, SIMD4<UInt8>)]
  )
  func sepiaIsBrown(amount: Double, level: UInt8, expected: SIMD4<UInt8>) throws {
    #expect(try Self.result(.sepia(amount), of: SIMD4(level, level, level, 60)) == expected)
  }

  /// Black and white become the two colours, and a gray or a colour that between them which its luma says: 128 / 255, and
  /// 0.2126 for red.
  @Test(arguments: [
    (SIMD4<UInt8>(0, 0, 0, 255), SIMD4<UInt8>(0, 0, 100, 255)), (SIMD4(255, 255, 255, 9), SIMD4(255, 200, 100, 9)),
    (SIMD4(128, 128, 128, 255), SIMD4(128, 100, 100, 255)), (SIMD4(255, 0, 0, 255), SIMD4(54, 43, 100, 255)),
  ])
  func aDuotoneIsBetweenTwoColours(pixel: SIMD4<UInt8>, expected: SIMD4<UInt8>) throws {
    let duotone = ImageProcessor.duotone(shadows: PixelColor(0x000064), highlights: PixelColor(0xFFC864))
    #expect(try Self.result(duotone, of: pixel) == expected)
  }

  @Test
  func aPartOfADuotoneIsOnTheWayThere() throws {
    let half = ImageProcessor.duotone(shadows: PixelColor(0x000064), highlights: PixelColor(0xFFC864), amount: 0.5)
    #expect(try Self.result(half, of: SIMD4(0, 0, 0, 255)) == SIMD4(0, 0, 50, 255))
    #expect(try Self.result(half, of: SIMD4(255, 0, 0, 255)) == SIMD4(155, 21, 50, 255))
  }

  @Test
  func theColoursOfADuotoneAreThoseOfTheImagesColourSpace() throws {
    let white = Bitmap.solid(SIMD4(repeating: 255), width: 1, height: 1).converted(to: .displayP3)
    let result = try ImageProcessor.duotone(shadows: .black, highlights: PixelColor(0xFF0000)).process(white)
    #expect(result.colorSpace == .displayP3 && result[0, 0].isWithin(1, of: SIMD4(234, 51, 35, 255)))
  }
}
