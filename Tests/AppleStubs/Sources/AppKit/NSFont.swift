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

    /// Bold.
    public static let bold = Weight(0.4)
  }
}
