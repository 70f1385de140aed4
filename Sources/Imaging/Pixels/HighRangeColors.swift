import VitrineRuntime

/// The range of brightness of an image, or of a file.
public enum DynamicRange: String, Hashable, Sendable, CaseIterable {
  /// Up to the white of a page.
  case standard
  /// Brighter than that where the file has it: with a gain map, and on Apple's platforms as ImageIO decodes it.
  case high
}

/// The colours of a file of high dynamic range (ITU-R BT.2100-2).
package struct HighRangeColors: Hashable, Sendable {
  /// The curve from components to light.
  package enum Transfer: String, Hashable, Sendable, CaseIterable {
    /// Perceptual quantisation (SMPTE ST 2084): a component stands for one brightness, on every screen.
    case pq
    /// Hybrid log-gamma (ARIB STD-B67): components are relative to the brightest that the screen can show.
    case hlg
  }

  package var transfer: Transfer
  /// The primaries and the white; the curve is ``transfer``.
  package var primaries: ColorEncoding
  /// The brightest content in nits (candelas a square metre), if the file says.
  ///
  /// It is the maximum content light level (CTA-861.3), or else the maximum of the mastering display (SMPTE ST 2086).
  package private(set) var peak: Double?

  /// The white of a page, in nits (ITU-R BT.2408-7, section 2.1).
  package static let white = 203.0
  /// The brightness in nits that is assumed if the file names none and the picture is not measured: the peak of HLG.
  static let nominalPeak = 1_000.0

  package init(_ transfer: Transfer, primaries: ColorEncoding, peak: Double? = nil) {
    (self.transfer, self.primaries) = (transfer, primaries)
    // More than the curve can say, or nothing at all, is no information.
    self.peak = peak.flatMap { $0 > 0 && $0 <= PerceptualQuantizer.limit ? $0 : nil }
  }

  /// Makes colours of the code points of ITU-T H.273; returns `nil` for other curves.
  package init?(primaries: Int, transfer: Int, peak: Double? = nil) {
    let curve: Transfer? = transfer == 16 ? .pq : transfer == 18 ? .hlg : nil
    guard let curve else { return nil }
    // BT.2100 defines both curves, for the primaries of BT.2020.
    self.init(curve, primaries: ColorProfile.spaces[primaries]?.encoding ?? .rec2020, peak: peak)
  }

  /// The brightest content as a multiple of white, if the file says.
  package var headroom: Double? { peak.map { max(1, $0 / Self.white) } }
}

/// The curve of SMPTE ST 2084.
enum PerceptualQuantizer {
  /// The brightness of a component of 1, in nits.
  static let limit = 10_000.0
  private static let (m1, m2) = (2_610.0 / 16_384, 2_523.0 / 32)
  private static let (c1, c2, c3) = (3_424.0 / 4_096, 2_413.0 / 128, 2_392.0 / 128)

  /// Returns the brightness in nits of a component of 0 to 1.
  static func light(_ component: Double) -> Double {
    let power = pow(component, 1 / m2)
    return limit * pow(max(power - c1, 0) / (c2 - c3 * power), 1 / m1)
  }

  /// Returns the component for a brightness in nits.
  static func component(_ light: Double) -> Double {
    let power = pow(max(0, light) / limit, m1)
    return pow((c1 + c2 * power) / (1 + c3 * power), m2)
  }
}

/// The curve of ARIB STD-B67, by ITU-R BT.2100-2, table 5.
enum HybridLogGamma {
  private static let a = 0.178_832_77
  private static let (b, c) = (1 - 4 * a, 0.5 - a * log(4 * a))

  /// Returns the light of the scene, of 0 to 1, for a component of 0 to 1.
  static func light(_ component: Double) -> Double {
    component <= 0.5 ? component * component / 3 : (exp((component - c) / a) + b) / 12
  }

  /// The peak of the screen that it is made for, in nits.
  static let screen = HighRangeColors.nominalPeak
  /// The exponent from the luminance of the scene to the luminance of the screen (note 5f).
  static let gamma = 1.2 + 0.42 * log10(screen / 1_000)
}
