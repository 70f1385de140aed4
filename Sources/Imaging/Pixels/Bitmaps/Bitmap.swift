/// Decoded pixels: RGBA with 8 bits a component, rows from top to bottom, in the colour space ``colorSpace``.
///
/// Copies share their pixels, which are freed with the last copy. The pixels are immutable, so a bitmap may be read
/// on any thread.
///
/// Shape: ``height`` rows of ``bytesPerRow`` bytes. The first `4 * width` bytes of a row are pixels (R, G, B, A).
public struct Bitmap: Sendable {
  /// The meaning of a pixel's fourth byte.
  public enum Alpha: Hashable, Sendable {
    /// The fourth byte is always 255.
    case opaque
    /// The fourth byte is coverage; colours are not multiplied by it.
    case straight
    /// The fourth byte is coverage; colours are multiplied by it.
    case premultiplied
  }

  /// The number of pixels in a row.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// The number of bytes from the start of one row to the next.
  public let bytesPerRow: Int
  /// The meaning of a pixel's fourth byte.
  public let alpha: Alpha
  /// The colour space of the components.
  public let colorSpace: ColorSpace
  /// The memory of the pixels, which all copies share.
  let storage: PixelStorage

  /// The size of the pixels in memory, in bytes.
  ///
  /// Caches count it as the cost.
  public var byteCount: Int { bytesPerRow * height }

  /// Makes a bitmap whose pixels `fill` writes.
  ///
  /// - Parameters:
  ///   - width: The number of pixels in a row, at least 1.
  ///   - height: The number of rows, at least 1.
  ///   - alpha: The meaning of a pixel's fourth byte.
  ///   - colorSpace: The colour space of the components. Defaults to sRGB.
  ///   - fill: Writes all `4 * width * height` bytes, which are uninitialised before. Rows follow one another without
  ///     a gap.
  /// - Throws: The error of `fill`; the memory is freed.
  public init<E: Error>(
    width: Int,
    height: Int,
    alpha: Alpha,
    colorSpace: ColorSpace = .sRGB,
    fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void,
  ) throws(E) {
    self = try Bitmap.writing(width: width, height: height, alpha: alpha, colorSpace: colorSpace) {
      (bytes) throws(E) in
      // All of the storage's bytes.
      try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(E) in
        try unsafe fill(UnsafeMutableRawBufferPointer(bytes))
      }
    }
  }

  /// Returns a bitmap whose bytes `write` writes, all of them, with checks of the bounds.
  ///
  /// They are in `storage`, of as many bytes, or in memory of their own.
  package static func writing<E: Error>(
    width: Int,
    height: Int,
    alpha: Alpha,
    colorSpace: ColorSpace,
    storage: PixelStorage? = nil,
    _ write: (MutableElements<UInt8>) throws(E) -> Void,
  ) throws(E) -> Bitmap {
    precondition(width > 0 && height > 0 && width < 1 << 31 && height < 1 << 31, "a bitmap has at least one pixel")
    let storage = storage ?? PixelStorage(count: 4 * width * height)
    // The storage is not shared yet, so it may be written.
    try write(storage.elements)
    return Bitmap(width: width, height: height, alpha: alpha, colorSpace: colorSpace, storage: storage)
  }

  /// Makes a bitmap of memory that stays, and stays as it is, for the life of the bitmap and its copies.
  ///
  /// `memory` has `4 * width * height` bytes.
  package init(
    borrowing memory: UnsafeMutableRawBufferPointer,
    width: Int,
    height: Int,
    alpha: Alpha,
    colorSpace: ColorSpace,
  ) {
    precondition(width > 0 && height > 0 && memory.count == 4 * width * height)
    let storage = unsafe PixelStorage(borrowing: memory)
    self.init(width: width, height: height, alpha: alpha, colorSpace: colorSpace, storage: storage)
  }

  /// Makes a bitmap of storage that holds its pixels, row after row.
  init(width: Int, height: Int, alpha: Alpha, colorSpace: ColorSpace, storage: PixelStorage) {
    self.width = width
    self.height = height
    self.bytesPerRow = 4 * width
    self.alpha = alpha
    self.colorSpace = colorSpace
    self.storage = storage
  }

  /// Calls `body` with the pixels as raw memory, valid until it returns.
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(storage) {} }
    return try unsafe body(UnsafeRawBufferPointer(storage.buffer))
  }

  /// Calls `body` with the pixels as a bounds-checked span, valid until it returns.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBytes { (bytes) throws(E) -> R in try unsafe body(bytes.bytes) }
  }

  /// Calls `body` with the pixels' bytes, whose bounds are checked in every build; they are valid until it returns.
  package func withElements<R, E: Error>(_ body: (Elements<UInt8>) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(storage) {} }
    return try body(storage.elements.elements)
  }

  /// Returns whether both are the same pixels in memory.
  package func isSamePixels(as other: Bitmap) -> Bool { storage === other.storage }

  /// The components of one pixel: red, green, blue, alpha.
  public subscript(x: Int, y: Int) -> SIMD4<UInt8> {
    precondition((0..<width).contains(x) && (0..<height).contains(y), "no pixel at \(x), \(y)")
    return withElements { $0.four(at: y * bytesPerRow + x * 4) }
  }

  /// A Boolean value that indicates whether any pixel is not fully opaque.
  ///
  /// Complexity: O(1) if ``alpha`` is opaque, otherwise O(pixels).
  public var hasTransparency: Bool {
    guard alpha != .opaque else { return false }
    return withElements { bytes in
      for alpha in stride(from: 3, to: bytes.count, by: 4) where bytes[alpha] != 255 { return true }
      return false
    }
  }

  /// Returns a bitmap that shares these pixels and declares another meaning of the fourth byte.
  package func declared(_ alpha: Alpha) -> Bitmap {
    Bitmap(width: width, height: height, alpha: alpha, colorSpace: colorSpace, storage: storage)
  }
}
