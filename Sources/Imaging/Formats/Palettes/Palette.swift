/// The colours with which a picture is drawn.
struct Palette: Sendable {
  /// Red, green and blue, red in the lowest byte; 1 to 256 of them.
  let colors: [UInt32]
  /// A Boolean value that indicates whether the picture has no other colour.
  let isExact: Bool
  /// The mean squared error of a pixel that is drawn in its nearest colour.
  let error: Double

  /// Makes the palette of a picture, of at most `count` colours.
  ///
  /// The boxes of a ``ColorCut`` are moved by Lloyd's iteration ("Least squares quantization in PCM", 1982), k-means,
  /// until that hardly helps any more.
  init(
    _ counts: borrowing ColorCounts,
    count: Int,
    _ check: () throws(ImageError) -> Void,
  ) throws(ImageError) {
    precondition((1...256).contains(count))
    if counts.isExact, counts.count <= count {
      // A picture without a colour gets one without a use.
      colors = counts.count == 0 ? [0] : counts.colors.map { $0 & 0xFF_FFFF }
      (isExact, error) = (true, 0)
      return
    }
    let points = counts.points
    var palette = ColorCut.palette(points, count: count)
    try check()
    error = try Self.move(&palette, points, check)
    isExact = false
    colors = palette.map { color in
      let rounded = SIMD4<UInt32>(SIMD4<Float>.minimum(color.rounded(.toNearestOrAwayFromZero), 255))
      return rounded.x | rounded.y << 8 | rounded.z << 16
    }
  }

  /// The colours as numbers from 0 to 255; the fourth component is 0.
  var components: [SIMD4<Float>] {
    colors.map { SIMD4(Float($0 & 255), Float($0 >> 8 & 255), Float($0 >> 16 & 255), 0) }
  }

  private static func move(
    _ palette: inout [SIMD4<Float>],
    _ points: [SIMD4<Float>],
    _ check: () throws(ImageError) -> Void,
  ) throws(ImageError) -> Double {
    var before = Double.infinity
    let pixelCount = points.reduce(0) { $0 + Double($1.w) }
    for _ in 0..<mostRounds {
      var nearest = NearestColors(palette, bits: 4)
      var sums = [SIMD4<Double>](repeating: SIMD4(), count: palette.count)
      var error = 0.0
      var worst: (error: Float, color: SIMD4<Float>) = (0, SIMD4())
      for point in points {
        var color = point
        color.w = 0
        let index = nearest.index(of: color)
        let difference = color - palette[index]
        let own = (difference * difference).sum() * point.w
        error += Double(own)
        if own > worst.error { worst = (own, color) }
        var weighted = SIMD4<Double>(point) * Double(point.w)
        weighted.w = Double(point.w)
        sums[index] += weighted
      }
      for (index, sum) in sums.enumerated() {
        if sum.w > 0 {
          palette[index] = SIMD4<Float>(sum / sum.w)
          palette[index].w = 0
        } else {
          // Nothing is nearest to it: it goes where it is needed most.
          palette[index] = worst.color
        }
      }
      let isEnough = error > before * enough
      before = error
      if isEnough { break }
      try check()
    }
    return before / pixelCount
  }

  /// More rounds gain less than 0.05 dB.
  private static let mostRounds = 8
  /// A round that leaves more of the error is the last.
  private static let enough = 0.995
}

extension SIMD4 where Scalar == Float {
  fileprivate static func minimum(_ one: Self, _ other: Scalar) -> Self {
    one.replacing(with: other, where: one .> other)
  }
}
