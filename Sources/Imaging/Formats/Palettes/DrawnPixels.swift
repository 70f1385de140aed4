/// The pixels of a part of a bitmap that get a colour.
///
/// Pixels that are less than half covered get none, nor do pixels that a mask excludes.
struct DrawnPixels {
  let area: PixelRegion
  private let bitmap: Bitmap
  private let mask: PixelMask?

  /// Takes a part within a bitmap with straight alpha, or an opaque one; `mask` has the bitmap's size.
  init(_ bitmap: Bitmap, in area: PixelRegion, mask: PixelMask? = nil) {
    precondition(bitmap.alpha != .premultiplied && bitmap.contains(area))
    precondition(mask.map { $0.width == bitmap.width && $0.height == bitmap.height } ?? true)
    (self.bitmap, self.area, self.mask) = (bitmap, area, mask)
  }

  /// Takes all of a bitmap.
  init(_ bitmap: Bitmap) {
    self.init(bitmap, in: PixelRegion(x: 0, y: 0, width: bitmap.width, height: bitmap.height))
  }

  /// The bits of a pixel that gets a colour; the other three bytes are red, green and blue, red the lowest.
  ///
  /// A pixel without one is 0.
  static let drawn: UInt32 = 0xFF00_0000

  /// Returns the same pixels without a mask.
  func unmasked() -> DrawnPixels { DrawnPixels(bitmap, in: area) }

  /// Returns `true` if a pixel gets no colour.
  ///
  /// Complexity: O(1) if no pixel can, otherwise O(pixels).
  func leavesOut() -> Bool {
    guard mask != nil || bitmap.alpha != .opaque else { return false }
    let memory = OwnedElements<UInt32>(repeating: 0, count: area.width)
    let line = memory.elements
    return (0..<area.height).contains { row in
      read(row, into: line)
      return line.indices.contains { line[$0] == 0 }
    }
  }

  /// Writes a row of the area, counted from its own top, into memory for as many pixels as it is wide.
  func read(_ row: Int, into line: MutableElements<UInt32>) {
    bitmap.withElements { bytes in
      let start = (area.y + row) * bitmap.bytesPerRow + area.x * 4
      line.update(numbers: bytes.extracting(start..<start + area.width * 4)) { pixel in
        // Alpha is the highest byte; from 128 on, its highest bit is set.
        Int32(bitPattern: pixel) < 0 ? pixel | Self.drawn : 0
      }
    }
    guard let news = mask?.row(area.y + row) else { return }
    for x in 0..<area.width { line[x] &= 0 &- UInt32(news[area.x &+ x]) }
  }
}

extension Bitmap {
  fileprivate func contains(_ area: PixelRegion) -> Bool {
    area.x >= 0 && area.y >= 0 && area.width > 0 && area.height > 0
      && area.x + area.width <= width && area.y + area.height <= height
  }
}

/// A byte for each pixel of a picture: whether it is drawn.
final class PixelMask {
  let width: Int
  let height: Int
  private let bytes: OwnedElements<UInt8>

  /// Makes a mask that excludes all.
  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    bytes = OwnedElements(repeating: 0, count: width * height)
  }

  /// The bytes of a row: 0 for a pixel that is not drawn, otherwise 1.
  func row(_ row: Int) -> MutableElements<UInt8> { bytes.elements.extracting(row * width..<(row + 1) * width) }
}
