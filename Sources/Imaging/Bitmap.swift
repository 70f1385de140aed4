/// Decoded pixels: RGBA with 8 bits a component, rows from top to bottom, in sRGB unless
/// ``colorSpace`` says otherwise.
///
/// Copies share their pixels, which are freed once, with the last copy. The pixels never change after they are made, so
/// a bitmap may be read on any thread.
///
/// Shape: ``height`` rows of ``bytesPerRow`` bytes, of which the first `4 * width` are pixels (R, G, B, A).
public struct Bitmap: Sendable {
  /// What the fourth byte of a pixel means.
  public enum Alpha: Hashable, Sendable {
    /// Always 255.
    case opaque
    /// Coverage; colours are stored as they are.
    case straight
    /// Coverage; colours are stored multiplied by it.
    case premultiplied
  }

  /// Pixels in a row.
  public let width: Int
  /// Rows.
  public let height: Int
  /// Bytes from one row to the next.
  public let bytesPerRow: Int
  /// What the fourth byte of a pixel means.
  public let alpha: Alpha
  /// What colours the numbers stand for.
  public let colorSpace: ColorSpace
  private let storage: PixelStorage

  /// The size of the pixels in memory, in bytes: what a cache counts as cost.
  public var byteCount: Int { bytesPerRow * height }

  /// Makes a bitmap whose pixels `fill` writes.
  ///
  /// - Parameters:
  ///   - width: Pixels in a row, at least 1.
  ///   - height: Rows, at least 1.
  ///   - alpha: What the fourth byte of a pixel means.
  ///   - colorSpace: What colours the numbers stand for; sRGB unless told.
  ///   - fill: Writes all `4 * width * height` bytes, which have no defined value before; rows follow one another without
  ///     a gap.
  /// - Throws: What `fill` throws; nothing is kept then.
  public init<E: Error>(
    width: Int,
    height: Int,
    alpha: Alpha,
    colorSpace: ColorSpace = .sRGB,
    fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void,
  ) throws(E) {
    precondition(width > 0 && height > 0 && width < 1 << 31 && height < 1 << 31, "a bitmap has at least one pixel")
    let storage = PixelStorage(count: 4 * width * height)
    // Nobody else has seen the storage yet, so writing to it is not shared.
    try unsafe fill(storage.buffer)
    self.init(width: width, height: height, alpha: alpha, colorSpace: colorSpace, storage: storage)
  }

  private init(width: Int, height: Int, alpha: Alpha, colorSpace: ColorSpace, storage: PixelStorage) {
    self.width = width
    self.height = height
    self.bytesPerRow = 4 * width
    self.alpha = alpha
    self.colorSpace = colorSpace
    self.storage = storage
  }

  /// Gives `body` the pixels as raw memory, valid until it returns.
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(storage) {} }
    return try unsafe body(UnsafeRawBufferPointer(storage.buffer))
  }

  /// Gives `body` the pixels with bounds checked, valid until it returns.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBytes { (bytes) throws(E) -> R in try unsafe body(bytes.bytes) }
  }

  /// The components of one pixel: red, green, blue, alpha.
  public subscript(x: Int, y: Int) -> SIMD4<UInt8> {
    precondition((0..<width).contains(x) && (0..<height).contains(y), "no pixel at \(x), \(y)")
    // In bounds by the line above.
    return unsafe withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: y * bytesPerRow + x * 4, as: SIMD4<UInt8>.self)
    }
  }

  /// Whether any pixel lets something shine through.
  ///
  /// Complexity: O(pixels), O(1) when ``alpha`` is opaque.
  public var hasTransparency: Bool {
    guard alpha != .opaque else { return false }
    return unsafe withUnsafeBytes { bytes in
      // Every fourth byte of each row, within width and height.
      for row in 0..<height {
        for x in 0..<width where unsafe bytes[row * bytesPerRow + x * 4 + 3] != 255 { return true }
      }
      return false
    }
  }

  /// The same pixels, shared and not copied, with another meaning of the fourth byte.
  package func declared(_ alpha: Alpha) -> Bitmap {
    Bitmap(width: width, height: height, alpha: alpha, colorSpace: colorSpace, storage: storage)
  }
}
