/// Mixes pairs of a palette's colours to others, in a fixed pattern.
///
/// A colour between two of the palette is drawn as one of them here and as the other there, in the ratio that comes
/// nearest to it. The pattern is Bayer's ("An optimum method for two-level rendition of continuous-tone pictures", 1973).
final class ColorPairs {
  /// The number of partners that a colour has at most.
  private static let most = 8
  /// The price of a mix of unlike colours, which is seen as a pattern, relative to the price of a wrong mean.
  private static let roughness: Float = 0.3

  /// A colour, and its partners.
  private struct Mixes {
    let color: SIMD4<Float>
    /// The ways to the partners.
    var red = SIMD8<Float>()
    var green = SIMD8<Float>()
    var blue = SIMD8<Float>()
    /// The inverses of their squared lengths.
    var inverse = SIMD8<Float>()
    /// The prices of roughness.
    var price = SIMD8<Float>()
    var partners: SIMD8<UInt8>
  }

  private let mixes: [Mixes]

  /// Prepares the pairs of a palette of 1 to 256 colours.
  init(_ colors: [SIMD4<Float>]) {
    precondition((1...256).contains(colors.count))
    mixes = colors.enumerated().map { index, color in
      var mixes = Mixes(color: color, partners: SIMD8(repeating: UInt8(index)))
      for (place, partner) in Self.partners(of: color, colors).enumerated() {
        let way = colors[partner.index] - color
        (mixes.red[place], mixes.green[place], mixes.blue[place]) = (way.x, way.y, way.z)
        mixes.inverse[place] = 1 / partner.distance
        mixes.price[place] = partner.distance * Self.roughness
        mixes.partners[place] = UInt8(partner.index)
      }
      return mixes
    }
  }

  /// Returns the nearest of the other colours, the nearest first, with the squares of their distances.
  private static func partners(
    of color: SIMD4<Float>,
    _ colors: [SIMD4<Float>],
  ) -> [(distance: Float, index: Int)] {
    var near: [(distance: Float, index: Int)] = []
    var farthest = Float.infinity
    for (index, candidate) in colors.enumerated() {
      let way = candidate - color
      let distance = (way * way).sum()
      guard distance > 0, distance < farthest else { continue }
      let place = near.firstIndex { $0.distance > distance } ?? near.count
      near.insert((distance, index), at: place)
      if near.count > most { near.removeLast() }
      if near.count == most { farthest = near[most - 1].distance }
    }
    return near
  }

  /// Returns the index of the colour that is drawn for another one, whose nearest is `nearest`.
  ///
  /// `threshold` is the share that a partner must have to be drawn.
  @inline(__always)
  func index(of color: SIMD4<Float>, nearest: Int, _ threshold: Float) -> Int {
    let mixes = mixes[nearest]
    let rest = color - mixes.color
    guard (rest * rest).sum() > 0 else { return nearest }
    let (red, green, blue) = (mixes.red, mixes.green, mixes.blue)
    let along = (red * rest.x + green * rest.y + blue * rest.z) * mixes.inverse
    let share = along.replacing(with: 0, where: along .< 0)
    let (missingRed, missingGreen) = (share * red - rest.x, share * green - rest.y)
    let missingBlue = share * blue - rest.z
    let wrong = missingRed * missingRed + missingGreen * missingGreen + missingBlue * missingBlue
    let price = wrong + mixes.price * share * (1 - share)
    // The first of the cheapest.
    let least = Self.least(price)
    let place = Int(Self.least(Self.places.replacing(with: 7, where: price .> least)))
    return share[place] > threshold ? Int(mixes.partners[place]) : nearest
  }

  private static let places = SIMD8<Float>(0, 1, 2, 3, 4, 5, 6, 7)

  @inline(__always)
  private static func least(_ numbers: SIMD8<Float>) -> Float {
    let four = numbers.lowHalf.replacing(with: numbers.highHalf, where: numbers.highHalf .< numbers.lowHalf)
    let two = four.lowHalf.replacing(with: four.highHalf, where: four.highHalf .< four.lowHalf)
    return two.y < two.x ? two.y : two.x
  }

  /// The share of a mix at which a pixel gets the second colour: each of 64 values once in every 8x8 pixels.
  @inline(__always)
  static func threshold(_ x: Int, _ y: Int) -> Float {
    // The bits of x ^ y and y, interleaved from the lowest to the highest.
    let (across, down) = (x ^ y, y)
    let high = (across & 1) << 5 | (down & 1) << 4
    let middle = (across & 2) << 2 | (down & 2) << 1
    let low = (across & 4) >> 1 | (down & 4) >> 2
    return (Float(high | middle | low) + 0.5) / 64
  }
}
