import VitrineRuntime

/// Decoded gray levels, in a quarter of the memory of a ``Bitmap`` of the same size.
///
/// ```swift
/// let page = try DecoderRegistry.standard.decodeGray(scan).bitmap
/// ```
/// Use it for masks, scans and displays without colour. Copies share their pixels, which are immutable, so a bitmap
/// may be read on any thread.
///
/// Shape: ``height`` rows of ``width`` bytes, from top to bottom, 0 for black and 255 for white, in sRGB's curve.
package struct GrayBitmap: Sendable {
  /// The number of pixels, and of bytes, in a row.
  package let width: Int
  /// The number of rows.
  package let height: Int
  private let storage: PixelStorage

  /// The size of the pixels in memory, in bytes.
  package var byteCount: Int { width * height }

  /// Makes a bitmap whose pixels `fill` writes.
  ///
  /// - Parameters:
  ///   - width: The number of pixels in a row, at least 1.
  ///   - height: The number of rows, at least 1.
  ///   - fill: Writes all `width * height` bytes, which are uninitialised before.
  /// - Throws: The error of `fill`; the memory is freed.
  package init<E: Error>(
    width: Int,
    height: Int,
    fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void,
  ) throws(E) {
    self = try GrayBitmap(width: width, height: height, storage: nil) { (levels) throws(E) in
      // All of the storage's bytes.
      try unsafe levels.withUnsafeBufferPointer { (levels) throws(E) in
        try unsafe fill(UnsafeMutableRawBufferPointer(levels))
      }
    }
  }

  /// Makes a bitmap in `storage`, or in memory of its own; `write` writes all bytes.
  package init<E: Error>(
    width: Int,
    height: Int,
    storage: PixelStorage?,
    write: (MutableElements<UInt8>) throws(E) -> Void,
  ) throws(E) {
    precondition(width > 0 && height > 0 && width < 1 << 31 && height < 1 << 31, "a bitmap has at least one pixel")
    (self.width, self.height, self.storage) = (width, height, storage ?? PixelStorage(count: width * height))
    // The storage is not shared yet, so it may be written.
    try write(self.storage.elements)
  }

  /// Converts colours to gray levels.
  ///
  /// The levels are luma of the encoded values, with the weights of Recommendation ITU-R BT.709-6, item 3.2.
  ///
  /// Complexity: O(pixels).
  ///
  /// - Parameters:
  ///   - bitmap: The colours.
  ///   - background: The level behind transparent pixels. Defaults to white.
  package init(_ bitmap: Bitmap, over background: UInt8 = 255) {
    let straight = bitmap.straightened()
    self = GrayBitmap(width: bitmap.width, height: bitmap.height, storage: nil) { levels in
      straight.withElements { pixels in
        for index in levels.indices { levels[index] = Self.level(of: pixels.four(at: 4 * index), over: background) }
      }
    }
  }

  /// Calls `body` with the pixels as raw memory, valid until it returns.
  package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(storage) {} }
    return try unsafe body(UnsafeRawBufferPointer(storage.buffer))
  }

  /// Calls `body` with the pixels as a bounds-checked span, valid until it returns.
  package func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBytes { (bytes) throws(E) -> R in try unsafe body(bytes.bytes) }
  }

  /// Calls `body` with the pixels' bytes, whose bounds are checked in every build; they are valid until it returns.
  package func withElements<R, E: Error>(_ body: (Elements<UInt8>) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(storage) {} }
    return try body(storage.elements.elements)
  }

  /// The level of one pixel.
  package subscript(x: Int, y: Int) -> UInt8 {
    precondition((0..<width).contains(x) && (0..<height).contains(y), "no pixel at \(x), \(y)")
    return withElements { $0[y * width + x] }
  }

  static func level(of pixel: SIMD4<UInt8>) -> UInt8 {
    // The weights are in units of 1/65536 and add up to 1, so gray pixels keep their level.
    let sum = UInt32(pixel.x) * 13_933 + UInt32(pixel.y) * 46_871 + UInt32(pixel.z) * 4732
    return UInt8(truncatingIfNeeded: (sum + 32_768) >> 16)
  }

  /// `pixel` has straight alpha.
  static func level(of pixel: SIMD4<UInt8>, over background: UInt8) -> UInt8 {
    let (level, coverage) = (UInt32(level(of: pixel)), UInt32(pixel.w))
    return UInt8(truncatingIfNeeded: (level * coverage + UInt32(background) * (255 - coverage) + 127) / 255)
  }
}

extension Bitmap {
  /// Makes an opaque bitmap with equal red, green and blue from gray levels.
  ///
  /// Complexity: O(pixels).
  package init(_ gray: GrayBitmap) {
    self = Bitmap.writing(width: gray.width, height: gray.height, alpha: .opaque, colorSpace: .sRGB) { pixels in
      gray.withElements { levels in
        for index in levels.indices {
          let level = levels[index]
          pixels.store(SIMD4(level, level, level, 255), at: 4 * index)
        }
      }
    }
  }
}
