import CoreGraphics
import Foundation

extension CGRect {
  /// Whether two rectangles share more than an edge.
  ///
  /// `intersects(_:)` of Foundation on Linux also says yes where they only touch.
  public func _overlaps(_ other: CGRect) -> Bool {
    minX < other.maxX && other.minX < maxX && minY < other.maxY && other.minY < maxY
  }
}
