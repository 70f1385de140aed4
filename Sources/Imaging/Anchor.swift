/// The part of an upright image that stays when the rest is cut off.
///
/// It is a point in the unit square, 0, 0 at the top left and 1, 1 at the bottom right: the share of what is cut off that
/// lies left of the part that stays, and above it.
public struct Anchor: Hashable, Sendable {
  /// From 0, the left edge, to 1, the right one.
  public let x: Double
  /// From 0, the upper edge, to 1, the lower one.
  public let y: Double

  /// Makes an anchor; coordinates are cut to 0...1, and what is not a number becomes 0.5.
  public init(x: Double, y: Double) {
    func inside(_ value: Double) -> Double { value.isNaN ? 0.5 : min(max(value, 0), 1) }
    self.x = inside(x)
    self.y = inside(y)
  }

  /// The upper left corner.
  public static let topLeft = Anchor(x: 0, y: 0)
  /// The middle of the upper edge.
  public static let top = Anchor(x: 0.5, y: 0)
  /// The upper right corner.
  public static let topRight = Anchor(x: 1, y: 0)
  /// The middle of the left edge.
  public static let left = Anchor(x: 0, y: 0.5)
  /// The middle.
  public static let center = Anchor(x: 0.5, y: 0.5)
  /// The middle of the right edge.
  public static let right = Anchor(x: 1, y: 0.5)
  /// The lower left corner.
  public static let bottomLeft = Anchor(x: 0, y: 1)
  /// The middle of the lower edge.
  public static let bottom = Anchor(x: 0.5, y: 1)
  /// The lower right corner.
  public static let bottomRight = Anchor(x: 1, y: 1)
}
