import VitrineRuntime

/// Tables from bytes to linear light and back.
struct TransferCurve {
  /// The linear light, 0 to 1, of each byte.
  let levels: [Float]
  /// The byte for linear light of 0 to 1 in ``steps``, which are a fifth of a level apart where sRGB is steepest.
  let encoded: [UInt8]

  private static let steps: Float = 16383

  /// IEC 61966-2-1, which Display P3 shares.
  static let sRGB = TransferCurve(
    decode: { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) },
    encode: { $0 <= 0.0031308 ? $0 * 12.92 : 1.055 * pow($0, 1 / 2.4) - 0.055 },
  )

  private init(decode: (Double) -> Double, encode: (Double) -> Double) {
    levels = (0...255).map { Float(decode(Double($0) / 255)) }
    encoded = (0...Int(Self.steps)).map { UInt8((encode(Double($0) / Double(Self.steps)) * 255).rounded()) }
  }

  /// Returns the index in ``encoded`` of linear light; values below 0 or above 1 are clamped.
  @inline(__always)
  static func place(_ light: SIMD4<Float>) -> SIMD4<Int32> {
    let atLeast = light.replacing(with: 0, where: light .< 0)
    let scaled = atLeast.replacing(with: 1, where: atLeast .> 1) * steps + 12_582_912
    // Four floats and four integers have the same size; the number that was rounded is in the last 22 bits.
    return unsafe unsafeBitCast(scaled, to: SIMD4<Int32>.self) & 0x3F_FFFF
  }
}
