import Testing

@testable import VitrineRuntime

@Suite
struct ClampedNumbersTests {
  @Test
  func everyNumberHasANearestInteger() {
    let pairs: [(Double, Int64)] = [
      (0, 0), (-0.5, 0), (1.9, 1), (-1.9, -1), (.nan, 0), (.signalingNaN, 0), (.infinity, .max), (-.infinity, .min),
      (1e300, .max), (-1e300, .min), (9.3e18, .max), (-9.3e18, .min), (0x1p63, .max), (-0x1p63, .min),
      (9_007_199_254_740_992, 9_007_199_254_740_992),
    ]
    for (value, expected) in pairs { #expect(Int64(clamping: value) == expected, "\(value)") }
    #expect(UInt8(clamping: -1) == 0 && UInt8(clamping: 255.9) == 255 && UInt8(clamping: 256.0) == 255)
  }

  @Test
  func sumsAndProductsEndAtTheLargestNumber() {
    #expect(Int.max.addingSaturating(1) == .max && Int.min.addingSaturating(-1) == .min && 1.addingSaturating(2) == 3)
    #expect(Int.max.multipliedSaturating(by: 2) == .max && 3.multipliedSaturating(by: 2) == 6)
  }
}
