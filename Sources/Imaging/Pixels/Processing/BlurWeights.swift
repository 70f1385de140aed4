import VitrineRuntime

/// The passes of a Gaussian blur along one axis.
///
/// A wide Gaussian needs few samples. So a wide blur is done on a coarser grid: a narrow Gaussian reduces the image
/// to a half, a third or a quarter, the rest of the blur is done there, in the same way if it is still wide, and a cubic
/// B-spline interpolates between the results. Variances add up: the whole has the sum of the first Gaussian's, the
/// blur's on the grid and the spline's. Every pixel of the full size is touched by a fixed number of weights, so the
/// cost does not depend on the radius. Beyond its edges, the image is continued by its mirror image.
struct BlurWeights {
  /// Reductions, from the full size on.
  private(set) var reductions: [FilterWeights] = []
  /// The blur on the coarsest grid; `nil` if nothing is left of it.
  private(set) var middle: FilterWeights?
  /// Enlargements, to the full size last.
  private(set) var enlargements: [FilterWeights] = []

  /// The standard deviation of a reduction, in pixels of its result: as small as keeps aliases below 0.1 levels.
  private static let reduction = 1.2
  /// The variance of a cubic B-spline, in squares of its spacing.
  private static let spline = 1.0 / 3
  /// The reach of weights, in standard deviations; beyond it is less than 0.05 % of a Gaussian.
  private static let reach = 3.5

  /// Makes the passes for `count` pixels and a standard deviation in pixels, at least 0.
  init(count: Int, sigma: Double) {
    var (count, sigma) = (count, sigma)
    while let factor = Self.factor(count, sigma) {
      let fewer = (count + factor - 1) / factor
      let spacing = Double(count) / Double(fewer)
      let (weights, variance) = Self.reduction(from: count, to: fewer, spacing)
      reductions.append(weights)
      enlargements.insert(Self.enlargement(from: fewer, to: count, spacing), at: 0)
      let rest = sigma * sigma / (spacing * spacing) - variance - Self.spline
      (count, sigma) = (fewer, max(0, rest).squareRoot())
    }
    if sigma > 0.05, count > 1 { middle = Self.blur(count, sigma) }
  }

  /// Returns the number of pixels that become one; `nil` if the blur is too narrow for that.
  private static func factor(_ count: Int, _ sigma: Double) -> Int? {
    // What is left for the grid smooths the steps between the splines: narrower ones are two levels off.
    let factor = min(5, Int(min(sigma, 100) / 1.6))
    return count >= 32 && factor > 1 ? factor : nil
  }

  private static func blur(_ count: Int, _ sigma: Double) -> FilterWeights {
    FilterWeights(outputCount: count, sourceCount: count) { output in
      // So wide that all pixels have the same weight.
      guard sigma < 2 * Double(count) else { return (0, [Double](repeating: 1, count: count)) }
      return gaussian(around: Double(output) + 0.5, sigma)
    }
  }

  /// `variance` is the weights', in squares of the spacing.
  private static func reduction(
    from count: Int,
    to fewer: Int,
    _ spacing: Double,
  ) -> (weights: FilterWeights, variance: Double) {
    let sigma = reduction * spacing
    let weights = FilterWeights(outputCount: fewer, sourceCount: count) { output in
      gaussian(around: (Double(output) + 0.5) * spacing, sigma)
    }
    let (first, values) = gaussian(around: 0, sigma)
    var (sum, squares) = (0.0, 0.0)
    for (index, value) in values.enumerated() {
      let distance = Double(first + index) + 0.5
      sum += value
      squares += value * distance * distance
    }
    return (weights, squares / sum / (spacing * spacing))
  }

  private static func enlargement(from count: Int, to more: Int, _ spacing: Double) -> FilterWeights {
    FilterWeights(outputCount: more, sourceCount: count) { output in
      let place = (Double(output) + 0.5) / spacing - 0.5
      let first = place.rounded(.down)
      let t = place - first
      let rest = 1 - t
      // The uniform cubic B-spline.
      let weights = [
        rest * rest * rest / 6, (3 * t * t * t - 6 * t * t + 4) / 6, (3 * rest * rest * rest - 6 * rest * rest + 4) / 6,
        t * t * t / 6,
      ]
      return (Int(first) - 1, weights)
    }
  }

  /// Returns the first pixel and the weights of a Gaussian around a place, in pixels from the first edge.
  private static func gaussian(around center: Double, _ sigma: Double) -> (first: Int, weights: [Double]) {
    let first = Int((center - reach * sigma - 0.5).rounded(.up))
    let last = max(first, Int((center + reach * sigma - 0.5).rounded(.down)))
    return (
      first,
      (first...last).map { index in
        let distance = (Double(index) + 0.5 - center) / sigma
        return exp(-0.5 * distance * distance)
      },
    )
  }
}

extension FilterWeights {
  /// Makes weights from a function that returns the first pixel of each output pixel, and the weights from there on.
  ///
  /// Beyond the edges are the pixels of the mirror image. The weights of an output pixel are made to add up to 1.
  fileprivate init(outputCount: Int, sourceCount: Int, _ weights: (Int) -> (first: Int, weights: [Double])) {
    var lines: [(first: Int, weights: [Double])] = []
    lines.reserveCapacity(outputCount)
    for output in 0..<outputCount {
      let (first, values) = weights(output)
      let end = first + values.count
      guard first < 0 || end > sourceCount else {
        lines.append((first, values))
        continue
      }
      var folded = [Double](repeating: 0, count: sourceCount)
      var (low, high) = (sourceCount, 0)
      for (index, value) in values.enumerated() {
        let period = 2 * sourceCount
        let place = ((first + index) % period + period) % period
        let mirrored = place < sourceCount ? place : period - 1 - place
        folded[mirrored] += value
        (low, high) = (min(low, mirrored), max(high, mirrored))
      }
      lines.append((low, Array(folded[low...high])))
    }
    self.init(lines)
  }
}
