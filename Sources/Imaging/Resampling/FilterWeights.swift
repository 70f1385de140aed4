import VitrineRuntime

/// Which source pixels make an output pixel along one axis, and with what weight.
///
/// The kernel is Lanczos with three lobes (C. E. Duchon, "Lanczos Filtering in One and Two Dimensions", 1979), widened
/// by the scale when shrinking so that it is the low-pass filter as well; weights are normalised to a sum of 1.
struct FilterWeights {
  /// The first source pixel of each output pixel.
  private(set) var starts: [Int] = []
  /// How many source pixels each output pixel is made of.
  private(set) var counts: [Int] = []
  /// `stride` weights for each output pixel, of which the first `counts[i]` are used.
  private(set) var weights: [Float] = []
  let stride: Int

  static let lobes = 3.0

  /// - Parameters:
  ///   - origin: Where the output begins, in source pixels.
  ///   - length: How much of the source the output covers, in source pixels.
  ///   - sourceCount: How many source pixels there are; those beyond are not used.
  ///   - outputCount: How many pixels are made.
  init(origin: Double, length: Double, sourceCount: Int, outputCount: Int) {
    let scale = length / Double(outputCount)
    let filterScale = max(scale, 1)
    let support = Self.lobes * filterScale
    stride = Int((support * 2).rounded(.up)) + 2
    weights = [Float](repeating: 0, count: outputCount * stride)
    starts.reserveCapacity(outputCount)
    counts.reserveCapacity(outputCount)
    var line = [Double](repeating: 0, count: stride)
    for output in 0..<outputCount {
      let center = origin + (Double(output) + 0.5) * scale
      let first = min(max(0, Int((center - support).rounded(.down))), sourceCount - 1)
      let end = min(max(first + 1, Int((center + support).rounded(.up))), sourceCount, first + stride)
      var sum = 0.0
      for source in first..<end {
        let weight = Self.lanczos3((Double(source) + 0.5 - center) / filterScale)
        line[source - first] = weight
        sum += weight
      }
      if abs(sum) < 1e-6 {
        // Beyond the edge by rounding: the nearest pixel alone.
        for index in 0..<end - first { line[index] = 0 }
        line[min(max(Int(center), first), end - 1) - first] = 1
        sum = 1
      }
      for index in 0..<end - first { weights[output * stride + index] = Float(line[index] / sum) }
      starts.append(first)
      counts.append(end - first)
    }
  }

  private static func lanczos3(_ x: Double) -> Double {
    guard abs(x) < lobes else { return 0 }
    guard abs(x) > 1e-8 else { return 1 }
    let angle = x * Double.pi
    return lobes * sin(angle) * sin(angle / lobes) / (angle * angle)
  }
}
