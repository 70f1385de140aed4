import VitrineRuntime

/// Decoded pixels that may be brighter than white: RGBA in linear light, with the primaries of Display P3.
///
/// A component of 1 is the white of a page; the brightest is ``headroom``. Colours are multiplied by alpha, and may be
/// below 0 or above 1. Copies share their pixels, which are immutable, so a bitmap may be read on any thread.
///
/// Shape: ``height`` rows of ``bytesPerRow`` bytes. A component is a 16-bit floating-point number (IEEE 754 binary16) in
/// the byte order of the machine, four to a pixel (R, G, B, A).
public struct HighRangeBitmap: Sendable {
  /// The number of pixels in a row.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// The brightness of the brightest content, as a multiple of white; more than 1.
  public let headroom: Float
  let storage: PixelStorage

  /// The number of bytes from the start of one row to the next.
  public var bytesPerRow: Int { 8 * width }
  /// The size of the pixels in memory, in bytes.
  public var byteCount: Int { bytesPerRow * height }

  /// Makes a bitmap whose pixels `fill` writes.
  ///
  /// - Parameters:
  ///   - width: The number of pixels in a row, at least 1.
  ///   - height: The number of rows, at least 1.
  ///   - headroom: The brightness of the brightest content, as a multiple of white.
  ///   - fill: Writes all `8 * width * height` bytes, which are uninitialised before.
  /// - Throws: The error of `fill`; the memory is freed.
  public init<E: Error>(
    width: Int,
    height: Int,
    headroom: Float,
    fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void,
  ) throws(E) {
    precondition(width > 0 && height > 0 && width < 1 << 30 && height < 1 << 30, "a bitmap has at least one pixel")
    let storage = PixelStorage(count: 8 * width * height)
    // The storage is not shared yet, so it may be written.
    try unsafe fill(storage.buffer)
    (self.width, self.height, self.headroom, self.storage) = (width, height, headroom, storage)
  }

  /// Calls `body` with the pixels as raw memory, valid until it returns.
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(storage) {} }
    return try unsafe body(UnsafeRawBufferPointer(storage.buffer))
  }

  /// The components of one pixel: red, green, blue, alpha.
  public subscript(x: Int, y: Int) -> SIMD4<Float> {
    precondition((0..<width).contains(x) && (0..<height).contains(y), "no pixel at \(x), \(y)")
    defer { withExtendedLifetime(storage) {} }
    let (halves, start) = (storage.elements.elements, y * bytesPerRow + x * 8)
    var pixel = SIMD4<Float>()
    for place in 0..<4 { pixel[place] = Self.float(halves.load(at: start + 2 * place, as: UInt16.self)) }
    return pixel
  }

  /// Returns the value of a binary16; Swift's own type for it does not exist on Intel Macs.
  private static func float(_ half: UInt16) -> Float {
    let (exponent, fraction) = (Int(half >> 10 & 31), Float(half & 1023) / 1024)
    let size: Float =
      switch exponent {
      case 0: fraction * 0x1p-14
      case 31: fraction == 0 ? .infinity : .nan
      default: Float(sign: .plus, exponent: exponent - 15, significand: 1 + fraction)
      }
    return half >> 15 == 0 ? size : -size
  }
}
