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
/// The picture is held as a whole. One image uses one thread. Cancellation takes effect every 64 KiB of the file.
public struct JXLDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// JPEG XL, bare or in a container.
  public var formats: [ImageFormat] { [.jxl] }

  /// Reads the header, and for an animation those of the frames.
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
    info.workingByteCount = Self.pictureBytes(info).addingSaturating(reader.codecBytes(header))
    if header.have_animation != 0 {
      let frames = try reader.countFrames(limit: limits.frameCount)
      info.frameCount = max(1, frames.count)
      let ticks = Double(max(1, header.animation.tps_numerator)) / Double(max(1, header.animation.tps_denominator))
      info.duration = info.frameCount > 1 ? Double(frames.ticks) / ticks : 0
    }
    return info
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let rows = Self.pictureBytes(request.info)
    return DecodeMemory(codec: max(0, (request.info.workingByteCount ?? 0) - rows), rows: rows)
  }

  private static func pictureBytes(_ info: ImageInfo) -> Int {
    info.storedWidth.multipliedSaturating(by: info.storedHeight).multipliedSaturating(by: 4)
  }

  /// Opens one frame, composed as a viewer shows it.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame < request.info.frameCount else { throw .noSuchFrame(request.frame, of: request.info) }
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    try request.limits.check(composed: width * height * (request.frame + 1), format: .jxl)
    return unsafe HeldRows(width: width, height: height, hasAlpha: request.info.hasAlpha) {
      (pixels, wholeRows) throws(ImageError) in
      let reader = try unsafe JXLReader(
        bytes,
        events: [JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FULL_IMAGE],
      )
      do throws(ImageError) {
        try unsafe reader.decode(frame: request.frame, into: pixels, request)
      } catch {
        // A coarse picture has all its rows.
        if error.code == .truncated, reader.flush() { wholeRows = height }
        throw error
      }
    }
  }
}

extension ImageDecoder where Self == JXLDecoder {
  /// A decoder of JPEG XL.
  public static var jxl: JXLDecoder { JXLDecoder() }
}
