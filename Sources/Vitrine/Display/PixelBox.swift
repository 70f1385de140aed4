import VitrineImaging

/// The size of a view in device pixels.
struct PixelBox: Hashable, Sendable {
  var width: Int
  var height: Int

  /// The smallest box of this shape whose longer side is 64 pixels times a power of the square root of 2.
  ///
  /// A growing view is loaded only at these sizes: doubling it takes two loads, instead of one per pixel.
  var onLadder: PixelBox {
    let side = Double(max(width, height))
    var whole = 64.0
    while whole < side { whole *= 2 }
    let half = (whole * 0.5.squareRoot()).rounded(.up)
    let scale = (half >= side ? half : whole) / side
    return PixelBox(width: Int((Double(width) * scale).rounded()), height: Int((Double(height) * scale).rounded()))
  }

  /// Returns `true` if an image made for this box suits another one, with one pixel of tolerance.
  func covers(_ other: PixelBox) -> Bool { width + 1 >= other.width && height + 1 >= other.height }

  /// Returns `true` if both sides are equal, with one pixel of tolerance.
  func matches(_ other: PixelBox) -> Bool { covers(other) && other.covers(self) }

  func targetSize(_ mode: TargetSize.Mode) -> TargetSize { .pixels(Double(width), Double(height), mode) }
}
