import VitrineRuntime

/// Decodes GIF: the first frame row by row where possible, any other by composing the frames before it.
///
/// It uses giflib; on Apple's platforms ImageIO, which sees each frame as a still GIF of its own.
public struct GIFDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// GIF.
  public let formats: [ImageFormat] = [.gif]

  /// Reads the file's blocks, without their pixels.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let header = try unsafe GIFHeader(ByteReader(bytes))
    guard header.frameCount > 0 else { throw ImageError(.truncated, format: .gif, "truncated: the GIF has no frame") }
    var info = ImageInfo(format: .gif, storedWidth: header.width, storedHeight: header.height)
    info.frameCount = header.frameCount
    info.duration = header.duration
    info.loopCount = header.loopCount
    info.hasAlpha = header.hasAlpha
    info.streamsRows = true
    return info
  }

  /// Reads the duration of each frame, in seconds, from the file's blocks.
  public func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    try unsafe GIFHeader(ByteReader(bytes), collectsDelays: true).delays
  }
}
