/// The pixels of a part of a bitmap that get a colour.
///
/// Those that are less than half covered get none, nor do those that a mask excludes.
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
    let line = UnsafeMutablePointer<UInt32>.allocate(capacity: area.width)
    defer { unsafe line.deallocate() }
    return (0..<area.height).contains { row in
      // `line` has room for a row.
      unsafe read(row, into: line)
      return unsafe UnsafeBufferPointer(start: line, count: area.width).contains(0)
    }
  }

  /// Writes a row of the area, counted from its own top, into memory for as many pixels as it is wide.
  func read(_ row: Int, into line: UnsafeMutablePointer<UInt32>) {
    precondition((0..<area.height).contains(row))
    unsafe bitmap.withUnsafeBytes { bytes in
      // The area is inside the bitmap, and so is the row.
      let start = (area.y + row) * bitmap.bytesPerRow + area.x * 4
      for x in 0..<area.width {
        let pixel = unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start &+ x &* 4, as: UInt32.self))
        // Alpha is the highest byte; from 128 on, its highest bit is set.
        unsafe line[x] = Int32(bitPattern: pixel) < 0 ? pixel | Self.drawn : 0
      }
    }
    unsafe mask?.clear(line, from: area.x, count: area.width, row: area.y + row)
  }
}

extension Bitmap {
  fileprivate func contains(_ area: PixelRegion) -> Bool {
    area.x >= 0 && area.y >= 0 && area.width > 0 && area.height > 0
      && area.x + area.width <= width && area.y + area.height <= height
  }
}

/// A byte for each pixel of a picture: whether it is drawn.
@safe
final class PixelMask {
  let width: Int
  let height: Int
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  private let bytes: UnsafeMutablePointer<UInt8>

  /// Makes a mask that excludes all.
  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    unsafe bytes = .allocate(capacity: width * height)
    unsafe bytes.initialize(repeating: 0, count: width * height)
  }

  deinit { unsafe bytes.deallocate() }

  /// The bytes of a row: 0 for a pixel that is not drawn, otherwise 1.
  func row(_ row: Int) -> UnsafeMutableBufferPointer<UInt8> {
    precondition((0..<height).contains(row))
    // Within `height` rows of `width` bytes.
    return unsafe UnsafeMutableBufferPointer(start: bytes + row * width, count: width)
  }

  fileprivate func clear(_ line: UnsafeMutablePointer<UInt32>, from x: Int, count: Int, row: Int) {
    precondition(x >= 0 && count >= 0 && x + count <= width)
    let news = unsafe self.row(row)
    // Within the row by the line above; `line` has `count` pixels.
    for offset in 0..<count { unsafe line[offset] &= 0 &- UInt32(news[x &+ offset]) }
  }
}
