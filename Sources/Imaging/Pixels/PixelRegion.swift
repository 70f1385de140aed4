/// A rectangle of whole pixels, measured from the top left.
public struct PixelRegion: Hashable, Sendable, CustomStringConvertible {
  /// The first column.
  public var x: Int
  /// The first row.
  public var y: Int
  /// The number of columns.
  public var width: Int
  /// The number of rows.
  public var height: Int

  /// Makes a rectangle.
  ///
  /// An empty one, or one outside the image, is rejected where it is used.
  public init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// The region in the form `300x200 at 10, 20`.
  public var description: String { "\(width)x\(height) at \(x), \(y)" }

  /// Returns the part inside `width` x `height` pixels; `nil` if it is empty.
  package func clipped(width: Int, height: Int) -> PixelRegion? {
    guard let columns = Self.clip(x, self.width, width), let rows = Self.clip(y, self.height, height) else {
      return nil
    }
    return PixelRegion(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
  }

  private static func clip(_ start: Int, _ length: Int, _ limit: Int) -> Range<Int>? {
    guard length > 0, start < limit else { return nil }
    let (end, overflows) = start.addingReportingOverflow(length)
    let upper = overflows ? limit : min(end, limit)
    return upper > 0 ? max(0, start)..<upper : nil
  }
}

extension SamplingPlan {
  /// Fits a part of an upright source to `size`.
  init(_ size: TargetSize?, _ part: PixelRegion) throws(ImageError) {
    try self.init(size, width: part.width, height: part.height)
    crop.x += Double(part.x)
    crop.y += Double(part.y)
  }

  /// Returns the stored pixels that the output needs: the crop and the reach of filters beyond it.
  func needed(of info: ImageInfo) -> PixelRegion {
    let scales = scales
    // Three lobes of the kernel and the correction of means, as wide as an output pixel, and one more for rounding.
    let (reachX, reachY) = (5 * max(1, 1 / scales.x) + 8, 5 * max(1, 1 / scales.y) + 8)
    let (left, top) = (max(0, crop.x - reachX), max(0, crop.y - reachY))
    let part = PixelRect(
      x: left,
      y: top,
      width: min(Double(info.width), crop.x + crop.width + reachX) - left,
      height: min(Double(info.height), crop.y + crop.height + reachY) - top,
    )
    let stored = info.orientation.stored(part, width: Double(info.storedWidth), height: Double(info.storedHeight))
    let (x, y) = (max(0, Int(stored.x.rounded(.down))), max(0, Int(stored.y.rounded(.down))))
    return PixelRegion(
      x: x,
      y: y,
      width: min(info.storedWidth, Int((stored.x + stored.width).rounded(.up))) - x,
      height: min(info.storedHeight, Int((stored.y + stored.height).rounded(.up))) - y,
    )
  }
}
