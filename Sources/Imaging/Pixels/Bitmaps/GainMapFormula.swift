import VitrineRuntime

/// The numbers with which a gain map brightens a picture for a display of high dynamic range (ISO 21496-1).
///
/// A stored gain of 0 to 1 stands for `g = minimum + (maximum - minimum) * stored^(1 / gamma)`. Linear light of the
/// picture, 1 for white, becomes `(light + baseOffset) * 2^(g * w) - alternateOffset`. The weight `w` is 0 on a display
/// whose headroom is ``baseHeadroom``, 1 from ``alternateHeadroom`` on, and between them in between.
public struct GainMapFormula: Sendable, Hashable {
  /// The logarithm to base 2 of the gain for a stored 0: red, green, blue.
  public var minimum: SIMD3<Double>
  /// The logarithm to base 2 of the gain for a stored 1: red, green, blue.
  public var maximum: SIMD3<Double>
  /// The exponent with which gains were stored: red, green, blue; more than 0.
  ///
  /// Defaults to 1.
  public var gamma = SIMD3<Double>(repeating: 1)
  /// The light that is added to the picture before the gain, which keeps black from being divided by.
  ///
  /// Defaults to 1/64.
  public var baseOffset = SIMD3<Double>(repeating: 1 / 64)
  /// The light that is taken away after the gain.
  ///
  /// Defaults to 1/64.
  public var alternateOffset = SIMD3<Double>(repeating: 1 / 64)
  /// The headroom that the picture itself is made for: the logarithm to base 2 of the brightest as a multiple of white.
  ///
  /// Defaults to 0: nothing is brighter than white.
  public var baseHeadroom = 0.0
  /// The headroom from which on the map is applied in full, as a logarithm to base 2; more than ``baseHeadroom``.
  public var alternateHeadroom: Double
  /// The colour space whose components the gains are for.
  ///
  /// Defaults to ``ColorSpace/sRGB``. It makes no difference for a map with equal gains.
  public var colorSpace = ColorSpace.sRGB

  /// Makes a formula with equal gains and the default offsets.
  ///
  /// - Parameters:
  ///   - minimum: The logarithm to base 2 of the gain for a stored 0. Defaults to 0: no gain.
  ///   - maximum: The logarithm to base 2 of the gain for a stored 1, which is the headroom, too.
  public init(minimum: Double = 0, maximum: Double) {
    self.minimum = SIMD3(repeating: minimum)
    (self.maximum, alternateHeadroom) = (SIMD3(repeating: maximum), maximum)
  }

  /// The brightest with all of the map, as a multiple of white.
  public var headroom: Double { exp2(alternateHeadroom) }

  /// The most stops that are believed: more than any display or sensor has.
  private static let mostStops = 32.0

  /// A Boolean value that indicates whether the numbers make sense: finite, in order, and not beyond all displays.
  package var isValid: Bool {
    func lies(_ values: SIMD3<Double>, in range: ClosedRange<Double>) -> Bool {
      (0..<3).allSatisfy { range.contains(values[$0]) }
    }
    let stops = -Self.mostStops...Self.mostStops
    guard lies(minimum, in: stops), lies(maximum, in: stops), lies(maximum - minimum, in: 0...(2 * Self.mostStops)),
      lies(gamma, in: 0.001...1_000), lies(baseOffset, in: -1...1), lies(alternateOffset, in: -1...1)
    else { return false }
    return baseHeadroom >= 0 && alternateHeadroom - baseHeadroom >= 0.001 && alternateHeadroom <= Self.mostStops
  }

  /// The text of errors about a formula that is not valid.
  static let isInvalid = "the gain map's numbers are not finite, not in order, or too large"

  /// Returns the weight of the map on a display with a headroom, as a logarithm to base 2.
  func weight(onHeadroom headroom: Double) -> Double {
    min(max((headroom - baseHeadroom) / (alternateHeadroom - baseHeadroom), 0), 1)
  }

  /// The logarithm to base 2 of the gain for each stored byte, by component.
  var gains: [[Double]] {
    (0..<3).map { place in
      let (start, length, power) = (minimum[place], maximum[place] - minimum[place], 1 / gamma[place])
      return (0...255).map { start + length * pow(Double($0) / 255, power) }
    }
  }
}
