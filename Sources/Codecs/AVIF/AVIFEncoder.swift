public import VitrineImaging
public import VitrineRuntime

/// Encodes AVIF, still and animated, with libavif.
///
/// ```swift
/// import Vitrine
/// import VitrineAVIF
///
/// let pipeline = try ImagePipeline { $0.encoders.add(.avif) }
/// let data = try await pipeline.encoded(for: request, as: .avif(quality: 60))
/// ```
/// Coverage is kept exactly, whatever the quality. One image uses one thread. Cancellation takes effect between frames:
/// libavif cannot be stopped within one, so that a still picture is encoded to its end.
public struct AVIFEncoder: ImageEncoder {
  /// The longest side that AV1 allows.
  private static let longestSide = 65_536
  /// The number of pixels that libavif reads by default, and so do browsers.
  private static let pixelLimit = 16_384 * 16_384

  /// Makes the encoder.
  public init() {}

  /// AVIF.
  public var format: ImageFormat { .avif }

  /// AVIF has a place for everything.
  public var features: EncoderFeatures { [.displayP3, .animation, .exif, .xmp, .alpha] }

  /// Encodes a picture, whose sides may have up to 65,536 pixels, and 268 million in all.
  ///
  /// Blocks until done.
  public func encode(_ input: EncoderInput, _ options: AVIFOptions) throws(ImageError) -> Data {
    try Self.check(input.bitmap, .avif, longestSide: Self.longestSide)
    guard input.bitmap.width * input.bitmap.height <= Self.pixelLimit else {
      throw ImageError(
        .notEncodable,
        format: .avif,
        "\(input.bitmap.width)x\(input.bitmap.height) pixels are too many for avif, which allows at most "
          + "\(Self.pixelLimit) pixels",
      )
    }
    let writer = try AVIFWriter(input, options)
    guard let animation = input.animation else {
      try writer.add(input.bitmap, delay: nil)
      return try writer.finish()
    }
    var frames = try input.frames(of: animation)
    while let frame = try frames.next() {
      try input.checkCancellation()
      try writer.add(frame.bitmap, delay: frame.delay)
    }
    try input.checkCancellation()
    return try writer.finish()
  }
}

extension ImageEncoder where Self == AVIFEncoder {
  /// An encoder of AVIF.
  public static var avif: AVIFEncoder { AVIFEncoder() }
}

extension AVIFEncoder: MeasuredEncoder {
  package var byteCountPerPixel: Int { format.row.encodingByteCount }
}
