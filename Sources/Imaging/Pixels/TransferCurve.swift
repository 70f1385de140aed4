import VitrineRuntime

/// Tables from bytes to linear light and back.
struct TransferCurve {
  /// The linear light, 0 to 1, of each byte.
  let levels: [Float]
  /// The byte for linear light of 0 to 1 in ``steps``, which are a fifth of a level apart where sRGB is steepest.
  let encoded: [UInt8]

  /// The number of places of ``encoded``, a power of two.
  static let placeCount = 1 << 14
  private static let steps = Float(placeCount - 1)

  /// IEC 61966-2-1, which Display P3 shares.
  static let sRGB = TransferCurve { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }

  /// Makes the tables for a curve from 0 to 1, which must rise.
  private init(decode: (Double) -> Double) {
    levels = (0...255).map { Float(decode(Double($0) / 255)) }
    var encoded = [UInt8](repeating: 255, count: Self.placeCount)
    var start = 0
    // Powers only where one byte ends and the next begins: 256 of them, not one for each of 16,384 steps.
    for byte in 0..<255 {
      let end = (decode((Double(byte) + 0.5) / 255) * Double(Self.steps)).rounded(.up)
      for place in start..<Int(end) { encoded[place] = UInt8(byte) }
      start = Int(end)
    }
    self.encoded = encoded
  }

  /// Returns the index in ``encoded`` of linear light; values below 0 or above 1 are clamped.
  @inline(__always)
  static func place(_ light: SIMD4<Float>) -> SIMD4<UInt32> {
    let atLeast = light.replacing(with: 0, where: light .< 0)
    let scaled = atLeast.replacing(with: 1, where: atLeast .> 1) * steps + 12_582_912
    // The number that was rounded is in the last bits.
    return scaled.bits & UInt32(placeCount - 1)
  }
}
