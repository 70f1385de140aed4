/// How stored pixels are turned to be upright: the eight values of the EXIF tag `Orientation` (0x0112).
///
/// Complexity: every operation is O(1).
public enum Orientation: Int, Hashable, Sendable, CaseIterable {
  /// Stored upright.
  case up = 1
  /// Mirrored left to right.
  case upMirrored = 2
  /// Turned by 180 degrees.
  case down = 3
  /// Mirrored top to bottom.
  case downMirrored = 4
  /// Mirrored over the diagonal from top left.
  case leftMirrored = 5
  /// To be turned by 90 degrees clockwise.
  case right = 6
  /// Mirrored over the diagonal from top right.
  case rightMirrored = 7
  /// To be turned by 90 degrees counter-clockwise.
  case left = 8

  /// Whether width and height change places on the way upright.
  public var swapsAxes: Bool { rawValue >= 5 }

  /// The size of the upright image, in pixels, from the size as stored (or the other way round).
  public func applied(width: Int, height: Int) -> (width: Int, height: Int) {
    swapsAxes ? (height, width) : (width, height)
  }

  /// Where the pixel stored at `x`, `y` of a `width` x `height` image belongs in the upright one.
  public func upright(x: Int, y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
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

  /// The stored rectangle that becomes `rect` of the upright image; `width` and `height` are those as stored.
  func stored(_ rect: PixelRect, width: Double, height: Double) -> PixelRect {
    var result = swapsAxes ? PixelRect(x: rect.y, y: rect.x, width: rect.height, height: rect.width) : rect
    let mirrorsX = self == .upMirrored || self == .down || self == .left || self == .rightMirrored
    let mirrorsY = self == .downMirrored || self == .down || self == .right || self == .rightMirrored
    if mirrorsX { result.x = width - result.x - result.width }
    if mirrorsY { result.y = height - result.y - result.height }
    return result
  }
}

/// A rectangle in pixels, from the top left, with fractions.
package struct PixelRect: Hashable, Sendable {
  package var x: Double
  package var y: Double
  package var width: Double
  package var height: Double
}
