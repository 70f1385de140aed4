/// The mean of linear light of a block, as a byte of sRGB, from the mean and the standard deviation of encoded samples.
///
/// The more the samples differ, the brighter is their mean of light. The block is taken for one of two levels with this
/// mean and deviation: one as far above the mean as the other is below or, near an end of the range, black or white and the
/// level that follows from it. Black and white text has only two levels, so its light is exact.
///
/// The known deviation is luma's. A component of a saturated colour, which is far from luma, gets a smaller share of it:
/// with all of it, leaves get grey seams. Samples that differ in colour but not in luma are averaged as encoded.
enum BlockLight {
  /// The largest deviation of bytes: half of them are 0, half 255.
  static let deviationLimit = 127

  /// A byte for each level, for each deviation.
  private static let levels: [UInt8] = (0...deviationLimit).flatMap { deviation in
    (0...255).map { level(mean: Float($0), deviation: Float(deviation)) }
  }

  /// Makes means of light of a row of pixels, of which there are no more than of luma and of deviations.
  static func brighten(_ pixels: MutableElements<UInt8>, luma: Elements<UInt8>, deviations: Elements<UInt8>) {
    levels.withElements { levels in
      // Deviations of 1 change nothing.
      for index in 0..<pixels.count / 4 where deviations[index] > 1 {
        let pixel = pixels.four(at: index &* 4)
        let shares = Self.shares(SIMD4<Float>(pixel), luma: Float(luma[index]))
        // The number that was rounded is in the last bits.
        let rows = (shares * Float(deviations[index]) + 12_582_912).bits & 127
        let places = rows &<< 8 | SIMD4<UInt32>(truncatingIfNeeded: pixel)
        let (red, green, blue) = (levels[Int(places.x)], levels[Int(places.y)], levels[Int(places.z)])
        pixels.store(SIMD4(red, green, blue, pixel.w), at: index &* 4)
      }
    }
  }

  /// Returns each component's share of the deviation: 1 for grey, and 0 at the end of the range that is farther than luma.
  ///
  /// The fourth root is a compromise: shades of one colour have the ratio itself, and most photographs nearly 1.
  @inline(__always)
  private static func shares(_ color: SIMD4<Float>, luma: Float) -> SIMD4<Float> {
    let (below, above) = (color / max(luma, 1), (255 - color) / max(255 - luma, 1))
    return below.replacing(with: above, where: above .< below).squareRoot().squareRoot()
  }

  private static func level(mean: Float, deviation: Float) -> UInt8 {
    let (low, high) = (mean - deviation, mean + deviation)
    let sum: Float
    if low < 0 {
      let high = min(255, mean > 0 ? mean + deviation * deviation / mean : 255)
      sum = mean / high * light(high)
    } else if high > 255 {
      let depth = min(255, mean < 255 ? 255 - mean + deviation * deviation / (255 - mean) : 255)
      sum = 1 - (255 - mean) / depth * (1 - light(255 - depth))
    } else {
      sum = (light(low) + light(high)) / 2
    }
    return TransferCurve.sRGB.encoded[Int(TransferCurve.place(SIMD4(repeating: sum)).x)]
  }

  /// The light of a level, interpolated between two bytes.
  private static func light(_ level: Float) -> Float {
    let levels = TransferCurve.sRGB.levels
    let below = min(Int(level), 254)
    return levels[below] + (level - Float(below)) * (levels[below + 1] - levels[below])
  }
}
