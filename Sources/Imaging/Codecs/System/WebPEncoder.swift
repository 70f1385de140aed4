import CLibWebP
public import VitrineRuntime

/// Encodes WebP, lossy by default, with alpha if any pixel is transparent.
public struct WebPEncoder: ImageEncoder {
  /// Makes the encoder.
  public init() {}

  /// WebP.
  public var format: ImageFormat { .webp }

  /// Encodes the bitmap, whose sides may have up to 16,383 pixels.
  ///
  /// Blocks until done.
  public func encode(_ bitmap: Bitmap, _ options: EncodeOptions) throws(ImageError) -> Data {
    try Self.check(bitmap, .webp, longestSide: Int(WEBP_MAX_DIMENSION))
    let straight = bitmap.straightened()
    var bytes: UnsafeMutablePointer<UInt8>?
    // libwebp reads `height` rows of `bytesPerRow` bytes, which the bitmap has. It detects transparency itself.
    let count = unsafe straight.withUnsafeBytes { pixels in
      let (width, height, stride) = (Int32(straight.width), Int32(straight.height), Int32(straight.bytesPerRow))
      let start = unsafe pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
      guard !options.isLossless else { return unsafe WebPEncodeLosslessRGBA(start, width, height, stride, &bytes) }
      return unsafe WebPEncodeRGBA(start, width, height, stride, Float(options.clampedQuality), &bytes)
    }
    guard count > 0, let bytes = unsafe bytes else {
      throw ImageError(
        .notEncodable,
        format: .webp,
        "cannot be encoded as webp: libwebp failed, perhaps for lack of memory",
      )
    }
    defer { unsafe WebPFree(bytes) }
    return unsafe Data(bytes: bytes, count: count)
  }
}
