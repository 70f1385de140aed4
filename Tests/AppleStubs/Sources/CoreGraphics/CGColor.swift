// @unchecked: constant after it has been made.
/// A colour.
public final class CGColor: @unchecked Sendable {
  /// The components, from 0 to 1, and the opacity.
  public let components: [CGFloat]?

  /// Makes a colour in sRGB.
  public init(srgbRed red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    components = [red, green, blue, alpha]
  }
}

/// A map from places to places: `x` becomes `a * x + c * y + tx`, and `y` becomes `b * x + d * y + ty`.
public struct CGAffineTransform: Sendable {
  // The names of the numbers are those of matrices.

  /// Stretches `x`.
  public var a: CGFloat
  /// Moves `y` by `x`.
  public var b: CGFloat
  /// Moves `x` by `y`.
  public var c: CGFloat
  /// Stretches `y`.
  public var d: CGFloat
  /// Moves `x`.
  public var tx: CGFloat
  /// Moves `y`.
  public var ty: CGFloat

  /// Makes a map of its numbers.
  public init(a: CGFloat, b: CGFloat, c: CGFloat, d: CGFloat, tx: CGFloat, ty: CGFloat) {
    (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
  }

  /// Changes nothing.
  public static let identity = CGAffineTransform(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)
}
