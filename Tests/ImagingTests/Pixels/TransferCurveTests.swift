import Foundation
import Testing

@testable import VitrineImaging

struct TransferCurveTests {
  /// The formula that IEC 61966-2-1 gives for the way from linear light to a byte.
  private func byte(_ light: Double) -> UInt8 {
    let encoded = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    return UInt8((encoded * 255).rounded())
  }

  @Test
  func eachStepOfLightHasTheByteOfTheFormula() {
    let encoded = TransferCurve.sRGB.encoded
    #expect(encoded.count == 16_384)
    let wrong = encoded.indices.filter { encoded[$0] != byte(Double($0) / 16_383) }
    #expect(wrong.isEmpty)
  }

  @Test
  func eachByteComesBack() {
    let curve = TransferCurve.sRGB
    let back = curve.levels.map { curve.encoded[Int(($0 * 16_383).rounded())] }
    #expect(back == Array(0...255))
  }
}
