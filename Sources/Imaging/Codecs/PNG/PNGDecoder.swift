import VitrineRuntime

/// Decodes PNG row by row unless the file is interlaced; with ImageIO on Apple's platforms.
///
/// Frames of an APNG are composed on demand, as a viewer shows them. The decoder of the system sees each as a still
/// PNG of its own.
public struct PNGDecoder: ImageDecoder, VitrineDecoder, FrameDecoding {
  /// Makes the decoder.
  public init() {}

  /// PNG and APNG.
  public let formats: [ImageFormat] = [.png, .apng]

  /// Reads the facts of the image from the file's chunks.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    try unsafe info(of: ByteReader(bytes), format, limits)
  }

  /// Reads the facts of the image, of a file or of a picture in one.
  func info(of bytes: ByteReader, _ format: ImageFormat, _ limits: DecodeLimits) throws(ImageError) -> ImageInfo {
    let header = try PNGHeader(bytes)
    var info = ImageInfo(
      format: format,
      storedWidth: header.width,
      storedHeight: header.height,
      orientation: header.orientation,
    )
    info.frameCount = max(1, header.frameCount)
    info.duration = header.duration
    info.loopCount = header.loopCount
    info.hasAlpha = header.hasAlpha
    info.bitsPerComponent = header.bitsPerComponent
    info.streamsRows = !header.isInterlaced
    info.colorModel = header.colorType == 0 || header.colorType == 4 ? .gray : .rgb
    info.colorEncoding = header.colorEncoding
    info.highRangeColors = header.highRangeColors
    if header.hasProfile, header.codePoints == nil, header.highRangeColors == nil {
      info.colorProfile = try Self.profile(of: bytes, format, limits)
      info.highRangeColors = info.colorProfile?.highRange(peak: nil)
    }
    return info
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let header = try unsafe PNGHeader(ByteReader(bytes))
    let isWide = request.info.highRangeColors != nil
    let picture = (isWide ? 8 : 4) * request.info.storedWidth * request.info.storedHeight
    let isComposed = request.info.format == .apng && (request.frame > 0 || !header.beginsWithDefaultPicture)
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    var memory = PlatformCodecs.memory(width: width, height: height, scale: isComposed ? 1 : request.minimumScale)
    guard isComposed else {
      // The rows of an interlaced file do not stream.
      if header.isInterlaced, memory.rows == 0 { memory.rows = picture }
      return memory
    }
    // The picture before a frame that is disposed of, an interlaced frame, and the frame as a file of its own.
    let frame = (header.savesPicture ? picture : 0) + (header.isInterlaced ? picture : 0)
    memory.codec = memory.codec.addingSaturating(frame).addingSaturating(2 * bytes.count)
    memory.rows = picture
    return memory
  }

  /// Opens the image for reading rows.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    try unsafe open(ByteReader(bytes), request)
  }

  /// Opens a file, or a picture in one.
  func open(_ bytes: ByteReader, _ request: RowRequest) throws(ImageError) -> any RowSource {
    guard request.frame < request.info.frameCount else { throw .noSuchFrame(request.frame, of: request.info) }
    if request.info.format == .apng {
      let header = try PNGHeader(bytes)
      if request.frame > 0 { return try composed(bytes, request) }
      if !header.beginsWithDefaultPicture, let rows = try firstFrame(bytes, request) { return rows }
    }
    return try Self.openPicture(
      bytes,
      request,
      width: request.info.storedWidth,
      height: request.info.storedHeight,
    )
  }
}
