/// The gain map of a picture (ISO 21496-1): how much brighter each place is on a display that can show more than white.
///
/// Phones write one into most photographs. The picture itself is made for every display; with the map it is the
/// picture of high dynamic range. A map has a size of its own, usually a half or a quarter of the picture's, and at
/// most all of it.
public struct GainMap: Sendable {
  /// The stored gains of red, green and blue, of which ``formula`` makes gains: opaque, upright, and of the same part as
  /// the picture.
  ///
  /// They are numbers, not colours. The three are equal in a map that brightens all colours alike.
  public let bitmap: Bitmap
  /// The numbers that make gains of the stored ones.
  public let formula: GainMapFormula

  /// Makes a map of its parts.
  public init(_ bitmap: Bitmap, _ formula: GainMapFormula) {
    (self.bitmap, self.formula) = (bitmap.straightened(), formula)
  }
}
