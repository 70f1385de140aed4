/// A decoder of a program's own, whose answers are checked before anything relies on them.
///
/// Sizes and offsets that do not fit together would be reads outside of memory. They are errors of code
/// ``ImageError/Code/decoderFailed``.
struct CheckedDecoder: ImageDecoder {
  private let decoder: any ImageDecoder

  /// Returns a decoder that is checked, unless it is one of Vitrine's.
  static func checking(_ decoder: any ImageDecoder) -> any ImageDecoder {
    let isOwn = decoder is any VitrineDecoder || decoder is any PrefixDecoding || decoder is any FrameDecoding
    return isOwn || decoder is CheckedDecoder ? decoder : CheckedDecoder(decoder: decoder)
  }

  private init(decoder: any ImageDecoder) { self.decoder = decoder }

  var formats: [ImageFormat] { decoder.formats }

  func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? { unsafe decoder.recognizes(bytes) }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    guard let info = try unsafe decoder.info(of: bytes, format: format, limits: limits) else { return nil }
    return try checked(info)
  }

  func info(
    ofFrame frame: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo {
    try checked(try unsafe decoder.info(ofFrame: frame, of: bytes, info, limits: limits))
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard let rows = try unsafe decoder.open(bytes, request) else { return nil }
    return try CheckedRows(rows, request.info)
  }

  func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    // A frame without one, or with none that can be waited for, gets another.
    try unsafe decoder.frameDelays(of: bytes, info)
  }

  func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    try unsafe decoder.metadata(of: bytes, info, limits: limits)
  }

  private func checked(_ info: ImageInfo) throws(ImageError) -> ImageInfo {
    let sides = 1..<(1 << 31)
    guard sides.contains(info.storedWidth), sides.contains(info.storedHeight) else {
      throw .impossible(info.format, "\(info.storedWidth)x\(info.storedHeight) pixels")
    }
    guard info.frameCount >= 1, info.loopCount >= 0, info.duration >= 0, info.duration.isFinite else {
      throw .impossible(info.format, "\(info.frameCount) frames of \(info.duration) s")
    }
    guard (1...64).contains(info.bitsPerComponent), info.workingByteCount.map({ $0 >= 0 }) ?? true else {
      throw .impossible(info.format, "\(info.bitsPerComponent) bits, or memory")
    }
    return info
  }
}

/// Rows of a program's own decoder: what they say of themselves is asked for once, and fits together.
final class CheckedRows: RowSource {
  let width: Int
  let height: Int
  let extentWidth: Double
  let extentHeight: Double
  let origin: (x: Int, y: Int)
  let hasAlpha: Bool
  let colorModel: ColorModel
  let isAveraged: Bool
  let colorSpace: ColorSpace?
  let isUpright: Bool
  var damage: ImageError? { rows.damage }
  private let rows: any RowSource
  private let format: ImageFormat
  private var row = 0

  init(_ rows: any RowSource, _ info: ImageInfo) throws(ImageError) {
    (self.rows, format) = (rows, info.format)
    (width, height, origin) = (rows.width, rows.height, rows.origin)
    (extentWidth, extentHeight) = (rows.extentWidth, rows.extentHeight)
    (hasAlpha, colorModel, isAveraged) = (rows.hasAlpha, rows.colorModel, rows.isAveraged)
    (colorSpace, isUpright) = (rows.colorSpace, rows.isUpright)
    let (most, tallest) = isUpright ? (info.width, info.height) : (info.storedWidth, info.storedHeight)
    for (side, place, extent, most) in [
      (width, origin.x, extentWidth, most), (height, origin.y, extentHeight, tallest),
    ] {
      // A drawing may be drawn larger than it says.
      let limit = info.isVector ? 1 << 31 : most
      guard side >= 1, side <= limit, place >= 0, place <= limit, extent > 0, extent <= Double(limit),
        Double(place + side) <= extent.rounded(.up)
      else {
        throw .impossible(
          format,
          "\(width)x\(height) pixels at \(origin.x),\(origin.y) of \(extentWidth)x\(extentHeight)",
        )
      }
    }
  }

  func read(into target: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let most = min(count, height - row)
    guard most > 0 else { return 0 }
    let got = try unsafe rows.read(into: target, bytesPerRow: bytesPerRow, count: most)
    guard (0...most).contains(got) else { throw .impossible(format, "\(got) rows of \(most)") }
    row += got
    return got
  }
}

extension ImageError {
  /// An answer of a program's own decoder that cannot be.
  static func impossible(_ format: ImageFormat, _ what: String) -> ImageError {
    ImageError(.decoderFailed, format: format, "the program's decoder of \(format) answers with impossible \(what)")
  }
}
