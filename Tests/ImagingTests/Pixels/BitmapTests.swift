import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTesting

struct BitmapTests {
  struct Refusal: Error {}

  @Test
  func copiesShareTheirPixels() {
    let bitmap = Bitmap.testPattern(width: 8, height: 8)
    let copy = bitmap

    let addresses = [bitmap, copy, bitmap.straightened(), bitmap.premultiplied()].map { picture in
      unsafe picture.withUnsafeBytes { unsafe $0.baseAddress.map { UInt(bitPattern: $0) } }
    }

    #expect(Set(addresses).count == 1)
  }

  @Test
  func pixelsOutliveTheBitmapTheyWereCopiedFrom() {
    var original: Bitmap? = .testPattern(width: 16, height: 16)
    let copy = original
    original = nil

    #expect(copy?.hasCorners(Bitmap.testPatternCorners, tolerance: 0) == true)
  }

  @Test
  func rowsFollowOneAnother() {
    let bitmap = Bitmap.solid(SIMD4(1, 2, 3, 255), width: 5, height: 7)

    #expect(bitmap.bytesPerRow == 20)
    #expect(bitmap.byteCount == 140)
    #expect(bitmap.withBytes { $0.byteCount } == 140)
  }

  @Test
  func aPixelIsFoundAtItsPlace() {
    let bitmap = Bitmap.pixels(width: 4, height: 3) { x, y in SIMD4(UInt8(x), UInt8(y), 7, 255) }

    #expect(bitmap[3, 1] == SIMD4(3, 1, 7, 255))
  }

  @Test
  func whatFillingThrowsIsPassedOn() {
    #expect(throws: Refusal.self) {
      try unsafe Bitmap(width: 2, height: 2, alpha: .opaque) { (_) throws(Refusal) in throw Refusal() }
    }
  }

  @Test
  func onePixelIsEnoughToBeTransparent() {
    let bitmap = Bitmap.pixels(width: 9, height: 9) { x, y in SIMD4(0, 0, 0, x == 8 && y == 8 ? 254 : 255) }

    #expect(bitmap.hasTransparency)
  }

  @Test
  func fullCoverageIsNotTransparent() {
    let bitmap = Bitmap.pixels(width: 9, height: 9) { _, _ in SIMD4(0, 0, 0, 255) }

    #expect(!bitmap.hasTransparency)
  }

  /// Every premultiplied value there is: a column for each colour, a row for each coverage.
  static let everyPremultiplied = Bitmap.pixels(width: 256, height: 256, alpha: .premultiplied) { x, y in
    SIMD4(UInt8(min(x, y)), UInt8(min(x, y)), 0, UInt8(y))
  }

  @Test
  func premultipliedColoursSurviveTheWayThereAndBack() {
    let result = Self.everyPremultiplied.straightened().premultiplied()

    #expect(result.alpha == .premultiplied)
    #expect(result.largestDifference(from: Self.everyPremultiplied) == 0)
  }

  @Test
  func straightColoursOfFullCoverageSurviveTheWayThereAndBack() {
    let bitmap = Bitmap.pixels(width: 256, height: 1) { x, _ in SIMD4(UInt8(x), UInt8(255 - x), 0, 255) }

    #expect(bitmap.premultiplied().straightened().largestDifference(from: bitmap) == 0)
  }

  @Test
  func premultiplyingMultipliesByCoverage() {
    let bitmap = Bitmap.solid(SIMD4(255, 128, 0, 128), width: 1, height: 1).premultiplied()

    #expect(bitmap[0, 0] == SIMD4(128, 64, 0, 128))
  }

  @Test
  func flatteningLaysOverWhite() {
    let colors: [SIMD4<UInt8>] = [SIMD4(10, 20, 30, 255), SIMD4(10, 20, 30, 0), SIMD4(255, 0, 0, 128)]
    let bitmap = Bitmap.pixels(width: 3, height: 1) { x, _ in colors[x] }

    let flat = bitmap.flattenedOverWhite()

    #expect(flat.alpha == .opaque)
    #expect(flat.pixels == [SIMD4(10, 20, 30, 255), SIMD4(255, 255, 255, 255), SIMD4(255, 127, 127, 255)])
  }

  @Test
  func flatteningTakesPremultipliedColoursToo() {
    let bitmap = Bitmap.solid(SIMD4(128, 0, 0, 128), width: 1, height: 1).declaredPremultiplied

    #expect(bitmap.flattenedOverWhite()[0, 0] == SIMD4(255, 127, 127, 255))
  }

  @Test
  func theTestPatternTellsAllOrientationsApart() {
    let pattern = Bitmap.testPattern(width: 12, height: 12)

    let pictures = Orientation.allCases.map { pattern.stored($0).pixels }

    #expect(Set(pictures).count == 8)
  }

  @Test
  func comparisonMeasuresWhatDiffers() {
    let black = Bitmap.solid(SIMD4(0, 0, 0, 255), width: 4, height: 4)
    let grey = Bitmap.solid(SIMD4(0, 51, 0, 255), width: 4, height: 4)

    #expect(black.largestDifference(from: grey) == 51)
    #expect(abs(black.psnr(against: grey) - 10 * log10(25.0 * 3)) < 1e-9)
    #expect(black.psnr(against: black) == .infinity)
  }
}

extension Bitmap {
  fileprivate var declaredPremultiplied: Bitmap {
    .pixels(width: width, height: height, alpha: .premultiplied) { self[$0, $1] }
  }
}
