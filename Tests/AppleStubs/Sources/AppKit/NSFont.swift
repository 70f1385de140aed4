import Foundation

/// A font, as far as symbols need one.
open class NSFont: NSObject, @unchecked Sendable {
  // Sendable by hand, as in the SDK: it has no fields.

  /// The boldness of a font.
  public struct Weight: Hashable, Equatable, RawRepresentable, Sendable {
    /// The boldness, from -1 to 1.
    public let rawValue: CGFloat

    /// Makes a boldness.
    public init(rawValue: CGFloat) {
      self.rawValue = rawValue
    }

    /// Makes a boldness.
    public init(_ rawValue: CGFloat) {
      self.rawValue = rawValue
    }

    /// The thinnest.
    public static let ultraLight = Weight(-0.8)
    /// Thin.
    public static let thin = Weight(-0.6)
    /// Light.
    public static let light = Weight(-0.4)
    /// Regular.
    public static let regular = Weight(0)
    /// Medium.
    public static let medium = Weight(0.23)
    /// Half bold.
    public static let semibold = Weight(0.3)
    /// Bold.
    public static let bold = Weight(0.4)
    /// Heavy.
    public static let heavy = Weight(0.56)
    /// The boldest.
    public static let black = Weight(0.62)
  }

  /// The role of a text.
  public typealias TextStyle = _TextStyle
}
