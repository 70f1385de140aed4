import CVitrineCodecs
package import VitrineRuntime

/// Encodes JPEG with optimised tables.
///
/// Transparent pixels are composited over white.
package struct JPEGEncoder: ImageEncoder {
  static let longestSide = 65_500

  /// Makes the encoder.
  package init() {}

  /// JPEG.
  package var format: ImageFormat { .jpeg }

  /// Display P3, EXIF, XMP and gain maps.
  ///
  /// Of EXIF of more than 64 KB, which has no place in a segment, only the common fields are written; such XMP is left
  /// out.
  package var features: EncoderFeatures { [.displayP3, .exif, .xmp, .gainMap] }

  /// Encodes the bitmap, whose sides may have up to 65,500 pixels.
  ///
  /// Blocks until done.
  package func encode(_ input: EncoderInput, _ options: JPEGOptions) throws(ImageError) -> Data {
    try JPEGGainMap.encode(input) { (input, isMap) throws(ImageError) in
      try file(input, isMap ? options.ofGainMap(input.bitmap) : options)
    }
  }

  private func file(_ input: EncoderInput, _ options: JPEGOptions) throws(ImageError) -> Data {
    try Self.check(input.bitmap, .jpeg, longestSide: Self.longestSide)
    let flat = input.bitmap.flattenedOverWhite()
    let cancellation = EncoderCancellation(input)
    let (profile, segments) = (input.colorProfile?.data, JPEGMetadata.segments(of: input))
    var out = unsafe vitrine_encoded()
    let status = unsafe Self.withPointers(to: segments) { segments in
      unsafe (profile ?? Data()).withUnsafeBytes { profile in
        // The areas outlive the call, which only reads them.
        let settings = unsafe vitrine_jpeg_options(
          quality: Int32(options.quality),
          across: options.subsampling == .yuv444 ? 1 : 2,
          down: options.subsampling == .yuv420 ? 2 : 1,
          gray: options.isGray ? 1 : 0,
          progressive: options.isProgressive ? 1 : 0,
          profile: profile.isEmpty ? nil : profile.baseAddress?.assumingMemoryBound(to: UInt8.self),
          profile_length: profile.count,
          segments: segments.baseAddress,
          segment_count: Int32(segments.count),
          stop: { context, _ in unsafe EncoderCancellation.at(context).isRequested ? 1 : 0 },
          context: cancellation.pointer,
        )
        return unsafe Self.encode(flat, settings, &out)
      }
    }
    withExtendedLifetime(cancellation) {}
    guard status != VITRINE_STOPPED else { throw ImageError(.cancelled, "cancelled") }
    guard status == VITRINE_OK, let bytes = unsafe out.bytes else {
      // The message is a C array of characters that ends in a zero.
      let message = unsafe withUnsafeBytes(of: out.message) { characters in
        unsafe String(decoding: characters.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw ImageError(.notEncodable, format: .jpeg, "cannot be encoded as jpeg: \(message)")
    }
    // The shim allocated it with malloc and passes ownership.
    return unsafe Data(bytesNoCopy: bytes, count: out.length, deallocator: .free)
  }

  private static func encode(_ flat: Bitmap, _ settings: vitrine_jpeg_options, _ out: inout vitrine_encoded) -> Int32 {
    var settings = unsafe settings
    let (stride, width, height) = (flat.bytesPerRow, UInt32(flat.width), UInt32(flat.height))
    // The pixels are read only within the call: `height` rows of `bytesPerRow` bytes, which the bitmap has.
    return flat.withElements { pixels in
      unsafe pixels.withUnsafeBufferPointer {
        unsafe vitrine_jpeg_encode($0.baseAddress, stride, width, height, &settings, &out)
      }
    }
  }

  /// Calls `body` with segments of APP1, whose bytes stay in place until it returns.
  private static func withPointers(
    to segments: [Data],
    _ body: (UnsafeBufferPointer<vitrine_jpeg_segment>) -> Int32,
  ) -> Int32 {
    segments.reduce(Data(), +).reading { bytes in
      var offset = 0
      let list = unsafe segments.map { segment in
        defer { offset += segment.count }
        return unsafe bytes.slice(offset, segment.count).bytes.withUnsafeBufferPointer {
          unsafe vitrine_jpeg_segment(number: 1, bytes: $0.baseAddress, length: $0.count)
        }
      }
      return unsafe list.withUnsafeBufferPointer { unsafe body($0) }
    }
  }
}

/// A request to stop, as C code that encodes asks for it.
///
/// ``pointer`` is valid as long as the object lives.
@safe
final class EncoderCancellation {
  private let isCancelled: (@Sendable () -> Bool)?

  init(_ input: EncoderInput) { isCancelled = input.isCancelled }

  var isRequested: Bool { isCancelled?() ?? false }

  var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  /// Returns the object of a pointer, which the caller keeps alive.
  static func at(_ pointer: UnsafeMutableRawPointer?) -> EncoderCancellation {
    guard let pointer = unsafe pointer else { preconditionFailure("the context is always given") }
    return unsafe Unmanaged.fromOpaque(pointer).takeUnretainedValue()
  }
}
