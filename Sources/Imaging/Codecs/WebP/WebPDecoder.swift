import VitrineRuntime

/// Decodes WebP, still and animated, with libwebp, which also downsamples still pictures.
///
/// On Apple's platforms it uses ImageIO, which sees each frame of an animation as a still picture of its own.
public struct WebPDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// WebP.
  public let formats: [ImageFormat] = [.webp]

  /// Reads the facts of the image from the file's chunks.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let bytes = unsafe ByteReader(bytes)
    let features = try Self.features(of: bytes)
    let header = WebPHeader(bytes, metadataLimit: limits.metadataByteCount)
    var info = ImageInfo(
      format: .webp,
      storedWidth: features.width,
      storedHeight: features.height,
      orientation: header.orientation,
    )
    info.hasAlpha = features.hasAlpha
    info.colorProfile = header.profile
    if header.isAnimated {
      // A damaged file may have none.
      info.frameCount = max(1, header.frameCount)
      info.duration = header.duration
      info.loopCount = header.loopCount
    }
    return info
  }

  /// Reads the duration of each frame, in seconds, from the file's chunks.
  public func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    unsafe WebPHeader(ByteReader(bytes), metadataLimit: 0, collectsDelays: true).delays
  }
}
