import CVitrineCodecs
public import VitrineRuntime

/// Encodes baseline JPEG with 4:2:0 chroma and optimised tables.
///
/// Transparent pixels are composited over white.
public struct JPEGEncoder: ImageEncoder {
  static let longestSide = 65_500

  /// Makes the encoder.
  public init() {}

  /// JPEG.
  public var format: ImageFormat { .jpeg }

  /// Encodes the bitmap, whose sides may have up to 65,500 pixels.
  ///
  /// Blocks until done.
  public func encode(_ bitmap: Bitmap, _ options: EncodeOptions) throws(ImageError) -> Data {
    try Self.check(bitmap, .jpeg, longestSide: Self.longestSide)
    let flat = bitmap.flattenedOverWhite()
    return try unsafe ShimEncoder.data(flat, as: .jpeg) { pixels, out in
      unsafe vitrine_jpeg_encode(
        pixels,
        flat.bytesPerRow,
        UInt32(flat.width),
        UInt32(flat.height),
        Int32(options.clampedQuality),
        &out,
      )
    }
  }
}

/// The common part of the shim's two encoders.
enum ShimEncoder {
  /// Calls `encode` with the pixels and takes ownership of the memory that it allocated.
  static func data(
    _ bitmap: Bitmap,
    as format: ImageFormat,
    _ encode: (UnsafePointer<UInt8>?, inout vitrine_encoded) -> Int32,
  ) throws(ImageError) -> Data {
    var out = unsafe vitrine_encoded()
    // The pixels are read only within the call: `height` rows of `bytesPerRow` bytes, which the bitmap has.
    let status = unsafe bitmap.withUnsafeBytes { pixels in
      unsafe encode(pixels.baseAddress?.assumingMemoryBound(to: UInt8.self), &out)
    }
    guard status == VITRINE_OK, let bytes = unsafe out.bytes else {
      // The message is a C array of characters that ends in a zero.
      let message = unsafe withUnsafeBytes(of: out.message) { characters in
        unsafe String(decoding: characters.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw ImageError(.notEncodable, format: format, "cannot be encoded as \(format): \(message)")
    }
    // The shim allocated it with malloc and passes ownership.
    return unsafe Data(bytesNoCopy: bytes, count: out.length, deallocator: .free)
  }
}
