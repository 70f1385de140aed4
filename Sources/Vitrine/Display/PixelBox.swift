import VitrineImaging

/// The size of a view in device pixels.
struct PixelBox: Hashable, Sendable {
  var width: Int
  var height: Int

  /// The least box of this shape whose longer side is on the ladder: 64 pixels times a power of the square root of 2.
  ///
  /// A view that is being enlarged is loaded for at these sizes only, so a doubling of it makes two loads, not one a pixel.
  var onLadder: PixelBox {
    let side = Double(max(width, height))
    var whole = 64.0
    while whole < side { whole *= 2 }
    let half = (whole * 0.5.squareRoot()).rounded(.up)
    let scale = (half >= side ? half : whole) / side
    return PixelBox(width: Int((Double(width) * scale).rounded()), height: Int((Double(height) * scale).rounded()))
  }

  /// Whether an image made for this box is good for another one, with one pixel of tolerance.
  func covers(_ other: PixelBox) -> Bool { width + 1 >= other.width && height + 1 >= other.height }

  /// Whether both sides are the same, with one pixel of tolerance.
  func matches(_ other: PixelBox) -> Bool { covers(other) && other.covers(self) }

  func targetSize(_ mode: TargetSize.Mode) -> TargetSize { .pixels(Double(width), Double(height), mode) }
}
