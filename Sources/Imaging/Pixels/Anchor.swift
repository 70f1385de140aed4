/// The part of an upright image that stays when the image is cropped.
///
/// An anchor is a point in the unit square: 0, 0 is the top left, 1, 1 the bottom right. It gives the share of the
/// removed pixels that is taken from the left, and from the top.
public struct Anchor: Hashable, Sendable {
  /// The horizontal position, from 0 (the left edge) to 1 (the right edge).
  public let x: Double
  /// The vertical position, from 0 (the top edge) to 1 (the bottom edge).
  public let y: Double

  /// Makes an anchor.
  ///
  /// Coordinates are clamped to 0...1; NaN becomes 0.5.
  public init(x: Double, y: Double) {
    func inside(_ value: Double) -> Double { value.isNaN ? 0.5 : min(max(value, 0), 1) }
    self.x = inside(x)
    self.y = inside(y)
  }

  /// The top left corner.
  public static let topLeft = Anchor(x: 0, y: 0)
  /// The middle of the top edge.
  public static let top = Anchor(x: 0.5, y: 0)
  /// The top right corner.
  public static let topRight = Anchor(x: 1, y: 0)
  /// The middle of the left edge.
  public static let left = Anchor(x: 0, y: 0.5)
  /// The centre.
  public static let center = Anchor(x: 0.5, y: 0.5)
  /// The middle of the right edge.
  public static let right = Anchor(x: 1, y: 0.5)
  /// The bottom left corner.
  public static let bottomLeft = Anchor(x: 0, y: 1)
  /// The middle of the bottom edge.
  public static let bottom = Anchor(x: 0.5, y: 1)
  /// The bottom right corner.
  public static let bottomRight = Anchor(x: 1, y: 1)
}
