public import VitrineImaging
public import VitrineRuntime

/// Encodes JPEG XL, still and animated, with libjxl.
///
/// ```swift
/// import Vitrine
/// import VitrineJXL
///
/// let pipeline = try ImagePipeline { $0.encoders.add(.jxl) }
/// let data = try await pipeline.encoded(for: request, as: .jxl(quality: 80))
/// ```
/// Coverage is kept exactly from libjxl 0.8 on; before, it is off by at most 1 of 255 at the default quality. One image
/// uses one thread. Cancellation takes effect between frames, and while bytes are written: libjxl cannot be stopped
/// while it encodes one frame.
public struct JXLEncoder: ImageEncoder {
  /// The longest side that the format allows.
  private static let longestSide = 1 << 30

  /// Makes the encoder.
  public init() {}

  /// JPEG XL.
  public var format: ImageFormat { .jxl }

  /// JPEG XL has a place for everything.
  public var features: EncoderFeatures { [.displayP3, .animation, .exif, .xmp, .alpha] }

  /// Encodes a picture, whose sides may have up to 2^30 pixels.
  ///
  /// Blocks until done.
  public func encode(_ input: EncoderInput, _ options: JXLOptions) throws(ImageError) -> Data {
    try Self.check(input.bitmap, .jxl, longestSide: Self.longestSide)
    let writer = try JXLWriter(input, options)
    guard let animation = input.animation else {
      try writer.add(input.bitmap, delay: nil)
      return try writer.finish(input)
    }
    var frames = try input.frames(of: animation)
    while let frame = try frames.next() {
      // The frame before was not the last one, so it can be written.
      try writer.write(input)
      try writer.add(frame.bitmap, delay: frame.delay)
    }
    return try writer.finish(input)
  }
}

extension ImageEncoder where Self == JXLEncoder {
  /// An encoder of JPEG XL.
  public static var jxl: JXLEncoder { JXLEncoder() }
}

extension JXLEncoder: MeasuredEncoder {
  package var byteCountPerPixel: Int { format.row.encodingByteCount }
}
