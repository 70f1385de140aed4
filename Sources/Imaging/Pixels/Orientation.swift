/// The transform from stored pixels to the upright image: the eight values of the EXIF tag `Orientation` (0x0112).
///
/// Complexity: every operation is O(1).
public enum Orientation: Int, Hashable, Sendable, CaseIterable {
  /// Stored upright.
  case up = 1
  /// Mirrored left to right.
  case upMirrored = 2
  /// Rotated by 180 degrees.
  case down = 3
  /// Mirrored top to bottom.
  case downMirrored = 4
  /// Mirrored over the diagonal from the top left.
  case leftMirrored = 5
  /// To be rotated by 90 degrees clockwise.
  case right = 6
  /// Mirrored over the diagonal from the top right.
  case rightMirrored = 7
  /// To be rotated by 90 degrees counter-clockwise.
  case left = 8

  /// Makes the orientation of a picture that is rotated by quarters, counter-clockwise, and then mirrored left to right.
  package init(turns: Int, isMirrored: Bool) {
    let all: [Orientation] =
      isMirrored ? [.upMirrored, .rightMirrored, .downMirrored, .leftMirrored] : [.up, .left, .down, .right]
    self = all[turns & 3]
  }

  /// A Boolean value that indicates whether the upright image swaps width and height.
  package var swapsAxes: Bool { rawValue >= 5 }

  /// Returns the size of the upright image, in pixels, from the stored size, or the other way round.
  package func applied(width: Int, height: Int) -> (width: Int, height: Int) {
    swapsAxes ? (height, width) : (width, height)
  }

  /// Returns the position in the upright image of the pixel stored at `x`, `y` of a `width` x `height` image.
  package func upright(x: Int, y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
    let right = width - 1 - x
    let bottom = height - 1 - y
    return switch self {
    case .up: (x, y)
    case .upMirrored: (right, y)
    case .down: (right, bottom)
    case .downMirrored: (x, bottom)
    case .leftMirrored: (y, x)
    case .right: (bottom, x)
    case .rightMirrored: (bottom, right)
    case .left: (y, right)
    }
  }

  /// Returns the stored rectangle of `rect` in the upright image; `width` and `height` are the stored ones.
  package func stored(_ rect: PixelRect, width: Double, height: Double) -> PixelRect {
    var result = swapsAxes ? PixelRect(x: rect.y, y: rect.x, width: rect.height, height: rect.width) : rect
    if mirrorsStoredColumns { result.x = width - result.x - result.width }
    if mirrorsStoredRows { result.y = height - result.y - result.height }
    return result
  }

  /// True if stored columns, from left to right, are upright columns or rows in reverse order.
  var mirrorsStoredColumns: Bool {
    self == .upMirrored || self == .down || self == .left || self == .rightMirrored
  }

  /// True if stored rows, from top to bottom, are upright rows or columns in reverse order.
  var mirrorsStoredRows: Bool {
    self == .downMirrored || self == .down || self == .right || self == .rightMirrored
  }
}

/// A rectangle in pixels from the top left, with fractions.
package struct PixelRect: Hashable, Sendable {
  package var x: Double
  package var y: Double
  package var width: Double
  package var height: Double
}
