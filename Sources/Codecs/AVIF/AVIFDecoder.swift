import CLibAVIF
public import VitrineImaging
import VitrineRuntime

/// Decodes AVIF, still and animated, with libavif.
///
/// ```swift
/// import Vitrine
/// import VitrineAVIF
///
/// let pipeline = try ImagePipeline { $0.decoders.add(.avif) }
/// ```
/// The coded picture is held as a whole (about 18 MB at 12 MP and 8 bits) and converted to RGBA a few rows at a time; for
/// a thumbnail it is shrunk before. It is decoded on as many threads as there are idle cores. Cancellation takes effect
/// between frames and between rows.
public struct AVIFDecoder: ImageDecoder, VitrineDecoder, FrameDecoding {
  /// Makes the decoder.
  public init() {}

  /// AVIF.
  public var formats: [ImageFormat] { [.avif] }

  /// Reads the facts of the image from the file's boxes.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let reader = try unsafe AVIFReader(bytes, pixelLimit: nil, frameLimit: limits.frameCount)
    let crop = reader.crop
    var info = ImageInfo(
      format: .avif,
      storedWidth: Int(crop.width),
      storedHeight: Int(crop.height),
      orientation: reader.orientation,
    )
    info.frameCount = reader.frameCount
    info.duration = reader.frameCount > 1 ? reader.delays.reduce(0, +) : 0
    if info.frameCount > 1 { info.loopCount = unsafe ISOMediaFile.loopCount(ByteReader(bytes)) }
    info.hasAlpha = reader.hasAlpha
    info.bitsPerComponent = reader.depth
    info.colorModel = reader.isGray ? .gray : .rgb
    info.workingByteCount = reader.workingByteCount
    info.colorProfile = reader.profile(byteLimit: limits.metadataByteCount)
    info.highRangeColors = unsafe reader.highRange(info.colorProfile, peak: ISOMediaFile.peak(ByteReader(bytes)))
    return info
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let info = request.info
    let factor = AVIFMeans.factor(for: request, AVIF_PIXEL_FORMAT_YUV420)
    let pixels = factor == 1 ? 0 : info.storedWidth / factor + 1
    let means = pixels.multipliedSaturating(by: (info.storedHeight / factor + 1) * (info.bitsPerComponent > 8 ? 6 : 3))
    return DecodeMemory(codec: (info.workingByteCount ?? 0).addingSaturating(means))
  }

  /// Opens one frame for reading rows.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame < request.info.frameCount else { throw .noSuchFrame(request.frame, of: request.info) }
    let reader = try unsafe AVIFReader(
      bytes,
      pixelLimit: request.limits.mostHeldPixels,
      frameLimit: request.limits.frameCount,
      threadCount: request.threadCount,
    )
    return try AVIFRows.rows(reader, request)
  }

  /// Reads the duration of each frame, in seconds, from the file's boxes.
  public func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    try unsafe AVIFReader(bytes, pixelLimit: nil, frameLimit: max(1, info.frameCount)).delays
  }

  /// Opens the frames of an animation.
  package func frames(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> (any FrameReader)? {
    guard info.frameCount > 1 else { return nil }
    return try AVIFFrames(unsafe AVIFReader(bytes, pixelLimit: limits.mostHeldPixels, frameLimit: limits.frameCount))
  }
}

/// The frames of an animation, of which the decoder keeps the frames that the next frame builds on.
private final class AVIFFrames: FrameReader {
  private let reader: AVIFReader

  init(_ reader: AVIFReader) {
    self.reader = reader
  }

  func open(_ request: RowRequest) throws(ImageError) -> any RowSource { try AVIFRows.rows(reader, request) }
}

extension ImageDecoder where Self == AVIFDecoder {
  /// A decoder of AVIF.
  public static var avif: AVIFDecoder { AVIFDecoder() }
}

/// The rows of one frame: decoded at the first read, then converted to RGBA strip by strip.
private final class AVIFRows: RowSource {
  /// The number of rows converted at once.
  private static let stripHeight = 64
  /// The number of rows around a strip that chroma is interpolated from; even, because two rows may share one of
  /// chroma.
  private static let margin = 2

  let width: Int
  let height: Int
  let extentWidth: Double
  let extentHeight: Double
  let hasAlpha: Bool
  /// The number of pixels along either axis that a delivered one is the mean of.
  private let factor: Int
  private let reader: AVIFReader
  private let request: RowRequest
  /// The bits of a component; a pixel has half as many bytes.
  private let bits: Int
  /// The coded rows, which a crop makes wider than the delivered ones.
  private var strip: [UInt8] = []
  /// The size of the picture that rows are converted from.
  private let whole: (width: Int, height: Int)
  private let left: Int
  private let top: Int
  private var stripRows = 0..<0
  private var row = 0
  private var isDecoded = false

  static func rows(_ reader: AVIFReader, _ request: RowRequest) throws(ImageError) -> any RowSource {
    let rows = try AVIFRows(reader, request)
    return request.info.highRangeColors.map { HighRangeRows(rows, $0, to: request.colorSpace) } ?? rows
  }

  private init(_ reader: AVIFReader, _ request: RowRequest) throws(ImageError) {
    (self.reader, self.request) = (reader, request)
    let factor = reader.showsWhole ? AVIFMeans.factor(for: request, reader.format) : 1
    let info = request.info
    bits = info.highRangeColors == nil ? 8 : 16
    guard Int(reader.crop.width) == info.storedWidth, Int(reader.crop.height) == info.storedHeight else {
      throw ImageError(.corrupt, format: .avif, "corrupt: two headers disagree")
    }
    (width, height) = ((info.storedWidth + factor - 1) / factor, (info.storedHeight + factor - 1) / factor)
    extentWidth = Double(info.storedWidth) / Double(factor)
    extentHeight = Double(info.storedHeight) / Double(factor)
    (self.factor, hasAlpha) = (factor, info.hasAlpha)
    (left, top) = (Int(reader.crop.x), Int(reader.crop.y))
    whole = factor == 1 ? reader.codedSize : (width, height)
  }

  var isAveraged: Bool { factor > 1 }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    if !isDecoded {
      try reader.decode(frame: request.frame, request.limits, request.control)
      if factor > 1 { try reader.shrink(by: factor, request.control) }
      isDecoded = true
    }
    if !stripRows.contains(row), row < height { try convert(from: row) }
    let count = min(count, stripRows.upperBound - row)
    guard count > 0 else { return 0 }
    let (apart, size) = (whole.width * bits / 2, bits / 2)
    // The strip holds `stripRows` after its margin. Only read and written while the closure runs.
    unsafe strip.withUnsafeBytes { strip in
      let start = (row - stripRows.lowerBound + Self.margin) * apart + left * size
      let source = unsafe Elements(strip).extracting(start..<strip.count)
      unsafe MutableElements(rows)
        .update(rows: count, of: source, apart: apart, length: width * size, bytesPerRow: bytesPerRow)
    }
    row += count
    return count
  }

  private func convert(from first: Int) throws(ImageError) {
    let end = min(height, first + Self.stripHeight)
    if strip.isEmpty {
      strip = [UInt8](repeating: 0, count: (Self.stripHeight + 2 * Self.margin) * whole.width * bits / 2)
    }
    let above = min(Self.margin, top + first)
    let range = top + first - above..<min(whole.height, top + end + Self.margin)
    let offset = (Self.margin - above) * whole.width * bits / 2
    try reader.convert(range, width: whole.width, bits: bits, into: &strip, offset: offset)
    stripRows = first..<end
  }
}
