/// The difference of a frame from the one before it.
struct FrameDifference {
  /// The rectangle of the pixels that get another colour; `nil` if none does.
  private(set) var changed: PixelRegion?
  /// The rectangle of the pixels that become transparent; `nil` if none does.
  private(set) var cleared: PixelRegion?

  /// No difference.
  init() {}

  /// Compares two frames of one size, with straight alpha or opaque ones, and marks what changes.
  init(from old: Bitmap, to new: Bitmap, _ changes: PixelMask) {
    precondition(old.width == new.width && old.height == new.height)
    precondition(changes.width == new.width && changes.height == new.height)
    var (changed, cleared) = (Extent(), Extent())
    for y in 0..<new.height {
      old.withElements { old in
        new.withElements { pixels in
          let (start, marks) = (y * new.bytesPerRow, changes.row(y))
          marks.update(repeating: 0)
          for x in 0..<new.width {
            let before = old.load(at: start &+ x &* 4, as: UInt32.self)
            let after = pixels.load(at: start &+ x &* 4, as: UInt32.self)
            guard before != after, before.drawnColor != after.drawnColor else { continue }
            if after.drawnColor == 0 {
              cleared.add(x, y)
            } else {
              changed.add(x, y)
              marks[x] = 1
            }
          }
        }
      }
    }
    (self.changed, self.cleared) = (changed.region, cleared.region)
  }

  /// Marks all covered pixels of a rectangle, which has become transparent.
  mutating func redraw(_ area: PixelRegion, of new: Bitmap, _ changes: PixelMask) {
    var extent = Extent()
    for y in area.y..<area.y + area.height {
      new.withElements { pixels in
        let (start, marks) = (y * new.bytesPerRow, changes.row(y))
        var columns: ClosedRange<Int>?
        for x in area.x..<area.x + area.width
        where pixels.load(at: start &+ x &* 4, as: UInt32.self).drawnColor != 0 {
          columns = (columns?.lowerBound ?? x)...x
          marks[x] = 1
        }
        if let columns {
          extent.add(columns.lowerBound, y)
          extent.add(columns.upperBound, y)
        }
      }
    }
    changed = PixelRegion.union(changed, extent.region)
  }
}

extension UInt32 {
  /// The colour of four bytes in memory; 0 for a pixel that is less than half covered.
  @inline(__always)
  fileprivate var drawnColor: UInt32 {
    let pixel = UInt32(littleEndian: self)
    return Int32(bitPattern: pixel) < 0 ? pixel | DrawnPixels.drawn : 0
  }
}

/// The smallest rectangle that has some pixels in it.
private struct Extent {
  private var (left, top, right, bottom) = (Int.max, Int.max, -1, -1)

  mutating func add(_ x: Int, _ y: Int) {
    (left, right) = (min(left, x), max(right, x))
    (top, bottom) = (min(top, y), max(bottom, y))
  }

  var region: PixelRegion? {
    right < 0 ? nil : PixelRegion(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
  }
}

extension PixelRegion {
  /// Returns the smallest rectangle with both in it.
  static func union(_ one: PixelRegion?, _ other: PixelRegion?) -> PixelRegion? {
    guard let one, let other else { return one ?? other }
    let (x, y) = (min(one.x, other.x), min(one.y, other.y))
    return PixelRegion(
      x: x,
      y: y,
      width: max(one.x + one.width, other.x + other.width) - x,
      height: max(one.y + one.height, other.y + other.height) - y,
    )
  }
}
