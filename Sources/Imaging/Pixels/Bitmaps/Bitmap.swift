/// Decoded pixels: RGBA with 8 bits a component, rows from top to bottom, in the colour space ``colorSpace``.
///
/// Copies share their pixels, which are freed with the last copy. A bitmap that is changed, by ``withMutableBytes(_:)`` or
/// ``draw(_:at:opacity:)``, gets pixels of its own first if it shares them. So a bitmap may be read on any thread.
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
  public private(set) var alpha: Alpha
  /// The colour space of the components.
  public let colorSpace: ColorSpace
  /// The memory of the pixels, which all copies share.
  private(set) var storage: PixelStorage

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

  /// Calls `body` with the pixels' bytes, to change them; they are valid until it returns.
  ///
  /// The bytes of row `y` begin at `y *` ``bytesPerRow``: R, G, B and A for each pixel, with the meaning that ``alpha``
  /// says. If the bitmap shares its pixels with others, it gets its own first. An opaque bitmap that has a fourth byte
  /// other than 255 afterwards has straight alpha from then on.
  ///
  /// Complexity: O(pixels) if pixels are shared or opaque, otherwise O(1).
  ///
  /// - Throws: The error of `body`; what it has changed stays changed.
  public mutating func withMutableBytes<R, E: Error>(
    _ body: (inout MutableSpan<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    defer { if alpha == .opaque, !isOpaqueInFact { alpha = .straight } }
    return try withElementsForWriting { (elements) throws(E) in
      try unsafe elements.withUnsafeBufferPointer { (bytes) throws(E) in
        // The storage has no other owner, and outlives the call.
        var span = unsafe bytes.mutableSpan
        return try body(&span)
      }
    }
  }

  /// Calls `body` with the pixels' bytes, which no other bitmap has; they are valid until it returns.
  package mutating func withElementsForWriting<R, E: Error>(
    _ body: (MutableElements<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    if !isKnownUniquelyReferenced(&storage) || !storage.isOwner {
      let copy = PixelStorage(count: byteCount)
      withElements { copy.elements.update(from: $0) }
      storage = copy
    }
    defer { withExtendedLifetime(storage) {} }
    return try body(storage.elements)
  }

  /// True if each fourth byte is 255, whatever ``alpha`` says.
  private var isOpaqueInFact: Bool {
    withElements { bytes in stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 } }
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
    alpha != .opaque && !isOpaqueInFact
  }

  /// Returns a bitmap that shares these pixels and declares another meaning of the fourth byte.
  package func declared(_ alpha: Alpha) -> Bitmap {
    Bitmap(width: width, height: height, alpha: alpha, colorSpace: colorSpace, storage: storage)
  }

  /// Returns a bitmap that shares these pixels and declares them to be of another colour space.
  func declared(_ colorSpace: ColorSpace) -> Bitmap {
    Bitmap(width: width, height: height, alpha: alpha, colorSpace: colorSpace, storage: storage)
  }
}
