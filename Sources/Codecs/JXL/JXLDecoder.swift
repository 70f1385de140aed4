import CLibJXL
public import VitrineImaging
import VitrineRuntime

/// Decodes JPEG XL, still and animated, with libjxl.
///
/// ```swift
/// import Vitrine
/// import VitrineJXL
///
/// let pipeline = try ImagePipeline { $0.decoders.add(.jxl) }
/// ```
/// The picture is held as a whole. It is decoded on as many threads as there are idle cores. Cancellation takes effect
/// every 64 KiB of the file for each thread.
public struct JXLDecoder: ImageDecoder, VitrineDecoder, FrameDecoding {
  /// Makes the decoder.
  public init() {}

  /// JPEG XL, bare or in a container.
  public var formats: [ImageFormat] { [.jxl] }

  /// Reads the header, and for an animation the frames' headers.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let reader = try unsafe JXLReader(bytes, events: [JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FRAME])
    let header = try reader.header()
    var info = ImageInfo(
      format: .jxl,
      storedWidth: Int(header.xsize),
      storedHeight: Int(header.ysize),
      orientation: Orientation(rawValue: Int(header.orientation.rawValue)) ?? .up,
    )
    info.hasAlpha = header.alpha_bits > 0
    info.bitsPerComponent = Int(header.bits_per_sample)
    info.colorModel = header.num_color_channels == 1 ? .gray : .rgb
    info.colorProfile = try reader.profile(header, byteLimit: limits.metadataByteCount)
    info.highRangeColors = reader.highRange
    info.workingByteCount = Self.pictureBytes(info).addingSaturating(reader.codecBytes(header))
    if header.have_animation != 0 {
      let delays = try reader.delays(header, limit: limits.frameCount)
      info.frameCount = max(1, delays.count)
      info.duration = info.frameCount > 1 ? delays.reduce(0, +) : 0
      info.loopCount = Int(header.animation.num_loops)
    }
    return info
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let rows = Self.pictureBytes(request.info)
    return DecodeMemory(codec: max(0, (request.info.workingByteCount ?? 0) - rows), rows: rows)
  }

  private static func pictureBytes(_ info: ImageInfo) -> Int {
    info.storedWidth.multipliedSaturating(by: info.storedHeight).multipliedSaturating(by: bytesPerPixel(info))
  }

  fileprivate static func bytesPerPixel(_ info: ImageInfo) -> Int { info.highRangeColors == nil ? 4 : 8 }

  /// Returns rows that are wrapped if they are of high dynamic range.
  fileprivate static func shown(_ rows: HeldRows, _ request: RowRequest) -> any RowSource {
    request.info.highRangeColors.map { HighRangeRows(rows, $0, to: request.colorSpace) } ?? rows
  }

  /// Opens one frame, composed as a viewer shows it.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame < request.info.frameCount else { throw .noSuchFrame(request.frame, of: request.info) }
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    try request.limits.check(composed: width * height * (request.frame + 1), format: .jxl)
    let info = request.info
    let size = Self.bytesPerPixel(info)
    let rows = HeldRows(width: width, height: height, hasAlpha: info.hasAlpha, bytesPerPixel: size) {
      (pixels, wholeRows) throws(ImageError) in
      let reader = try unsafe JXLReader(
        picturesOf: bytes,
        request.info,
        threadCount: request.threadCount,
      )
      do throws(ImageError) {
        try reader.decodeFrame(after: request.frame, into: pixels, request.control)
      } catch {
        // A coarse picture has all its rows.
        if error.code == .truncated, reader.flush() { wholeRows = height }
        throw error
      }
    }
    return Self.shown(rows, request)
  }

  /// Reads the duration of each frame, in seconds, from the frames' headers.
  public func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    let reader = try unsafe JXLReader(bytes, events: [JXL_DEC_BASIC_INFO, JXL_DEC_FRAME])
    return try reader.delays(reader.header(), limit: max(1, info.frameCount))
  }

  /// Opens the frames of an animation.
  package func frames(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> (any FrameReader)? {
    guard info.frameCount > 1 else { return nil }
    return unsafe JXLFrames(bytes)
  }
}

/// The frames of an animation, of which the decoder keeps the frames that the next frame is blended with.
@safe
private final class JXLFrames: FrameReader {
  private let bytes: UnsafeRawBufferPointer
  private var reader: JXLReader?
  /// The frame that the reader decodes next.
  private var next = 0

  /// `bytes` must stay in place for the life of the frames.
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = bytes
  }

  func open(_ request: RowRequest) throws(ImageError) -> any RowSource {
    let (info, frame) = (request.info, request.frame)
    let (reader, skipped): (JXLReader, Int)
    if let known = self.reader, next <= frame {
      (reader, skipped) = (known, frame - next)
    } else {
      (reader, skipped) = (try unsafe JXLReader(picturesOf: bytes, info), frame)
    }
    let (width, height) = (info.storedWidth, info.storedHeight)
    try request.limits.check(composed: width * height * (skipped + 1), format: .jxl)
    self.reader = nil
    let size = JXLDecoder.bytesPerPixel(info)
    let rows = HeldRows(width: width, height: height, hasAlpha: info.hasAlpha, bytesPerPixel: size) {
      (pixels, _) throws(ImageError) in
      try reader.decodeFrame(after: skipped, into: pixels, request.control)
      // After an error the decoder is of no use.
      (self.reader, self.next) = (reader, frame + 1)
    }
    return JXLDecoder.shown(rows, request)
  }
}

extension ImageDecoder where Self == JXLDecoder {
  /// A decoder of JPEG XL.
  public static var jxl: JXLDecoder { JXLDecoder() }
}
