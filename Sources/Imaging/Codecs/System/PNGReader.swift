import CVitrineCodecs
import VitrineRuntime

extension PNGDecoder {
  /// Opens a still picture of the size in its header.
  ///
  /// The bytes are the file's, or one frame's.
  static func openPicture(
    _ bytes: ByteReader,
    _ request: RowRequest,
    width: Int,
    height: Int,
  ) throws(ImageError) -> any RowSource {
    let colors = request.info.highRangeColors
    let reader = try PNGReader(bytes, limits: request.limits, format: request.info.format, isWide: colors != nil)
    guard reader.width == width, reader.height == height else {
      throw ImageError(.corrupt, format: request.info.format, "corrupt: two headers disagree")
    }
    let rows: any RowSource = reader.isInterlaced ? reader.interlacedRows(request.control) : PNGRows(reader)
    return colors.map { HighRangeRows(rows, $0, to: request.colorSpace) } ?? rows
  }

  /// Returns the profile, which is compressed; libpng bounds the inflated size.
  static func profile(
    of bytes: ByteReader,
    _ format: ImageFormat,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> ColorProfile? {
    try PNGReader(bytes, limits: limits, format: format).profile
  }

  /// Inflates the chunk with libpng, within the limit.
  ///
  /// It is wrapped in a file of one pixel, because it may follow the picture.
  static func inflated(_ chunk: PNGHeader.Chunk, _ limits: DecodeLimits) -> Data? {
    let header: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]
    var file = PNGHeader.signature + header.reading { PNGChecksum.chunk(PNGHeader.Chunk.IHDR, [$0]) }
    file += PNGChecksum.chunk(chunk.type, [chunk.body]) + PNGChecksum.chunk(PNGHeader.Chunk.IDAT, [])
    return file.reading {
      (try? PNGReader($0, limits: limits, format: .png, keepsText: true))?.text("XML:com.adobe.xmp")
    }
  }
}

/// libpng's state for one file.
@safe
final class PNGReader {
  let width: Int
  let height: Int
  let isInterlaced: Bool
  let hasAlpha: Bool
  let profile: ColorProfile?
  /// The bytes of a pixel of the rows: RGBA with 8 or 16 bits a component.
  let bytesPerPixel: Int

  // Owned: made in init, destroyed in deinit, used by one thread at a time.
  let reader: OpaquePointer
  private let limits: DecodeLimits
  private let format: ImageFormat

  /// Texts are read only if `keepsText` is set; the rows have 16 bits a component if `isWide` is set.
  init(
    _ bytes: ByteReader,
    limits: DecodeLimits,
    format: ImageFormat,
    keepsText: Bool = false,
    isWide: Bool = false,
  ) throws(ImageError) {
    (self.limits, self.format, bytesPerPixel) = (limits, format, isWide ? 8 : 4)
    // `bytes` outlives the reader by the contract of `ImageDecoder.open`.
    let reader = unsafe bytes.bytes.withUnsafeBufferPointer {
      unsafe vitrine_png_create($0.baseAddress, $0.count, max(1, limits.metadataByteCount), keepsText ? 1 : 0)
    }
    guard let reader = unsafe reader
    else { throw ImageError(.overLimit, format: format, "not enough memory for the PNG decoder") }
    unsafe self.reader = reader
    var info = unsafe vitrine_png_info()
    let status = unsafe vitrine_png_read_header(reader, &info, isWide ? 1 : 0)
    (width, height) = unsafe (Int(info.width), Int(info.height))
    isInterlaced = unsafe info.interlaced != 0
    hasAlpha = unsafe info.has_alpha != 0
    // libpng owns the profile until the reader is destroyed, so it is copied first.
    profile = unsafe info.profile.map { start in
      unsafe ColorProfile(data: Data(UnsafeBufferPointer(start: start, count: Int(info.profile_length))))
    }
    // Everything is initialised here, so throwing runs deinit, which destroys the reader.
    if status != VITRINE_OK { throw unsafe Self.error(reader, format, row: 0, of: 0) }
  }

  deinit { unsafe vitrine_png_destroy(reader) }

  /// Reads rows; an interlaced file is read seven times into the same memory.
  func read(into rows: MutableElements<UInt8>, bytesPerRow: Int, count: Int, row: Int) throws(ImageError) -> Int {
    precondition(rows.count >= bytesPerRow * (count - 1) + width * bytesPerPixel)
    // In bounds by the line above: `count` rows of `width` pixels at most.
    let got = unsafe rows.withUnsafeBufferPointer {
      unsafe vitrine_png_read_rows(reader, $0.baseAddress, bytesPerRow, Int32(count))
    }
    guard got >= 0 else { throw unsafe Self.error(reader, format, row: row, of: height) }
    let warnings = unsafe Int(vitrine_png_warnings(reader))
    if let damage = limits.damage(warnings: warnings, first: "libpng's warnings", format: format) { throw damage }
    return Int(got)
  }

  private static func error(_ reader: OpaquePointer, _ format: ImageFormat, row: Int, of height: Int) -> ImageError {
    if unsafe vitrine_png_truncated(reader) != 0 {
      let place = height == 0 ? "inside its header" : "at row \(row) of \(height)"
      return ImageError(.truncated, format: format, "truncated: the file ends \(place)")
    }
    let message = unsafe String(cString: vitrine_png_message(reader))
    return ImageError(.corrupt, format: format, "corrupt: \(message)")
  }
}

final class PNGRows: RowSource {
  var width: Int { reader.width }
  var height: Int { reader.height }
  var hasAlpha: Bool { reader.hasAlpha }
  private let reader: PNGReader
  private var row = 0

  init(_ reader: PNGReader) {
    self.reader = reader
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    // The reader checks the bounds.
    let rows = unsafe MutableElements(rows)
    let got = try reader.read(into: rows, bytesPerRow: bytesPerRow, count: min(count, height - row), row: row)
    row += got
    return got
  }
}

extension PNGReader {
  /// Returns the rows of an Adam7 file: all seven passes are needed before the first row is final.
  func interlacedRows(_ control: DecodeControl) -> HeldRows {
    HeldRows(width: width, height: height, hasAlpha: hasAlpha, bytesPerPixel: bytesPerPixel) {
      (pixels, wholeRows) throws(ImageError) in
      for pass in 0..<7 {
        var row = 0
        while row < self.height {
          try control.check()
          let count = min(64, self.height - row)
          let length = self.width * self.bytesPerPixel
          let rows = pixels.extracting(row * length..<(row + count) * length)
          row += try self.read(into: rows, bytesPerRow: length, count: count, row: row)
          // Each pass covers the whole picture, from coarse to fine.
          if pass == 0 { wholeRows = row }
        }
      }
    }
  }
}

extension PNGReader {
  /// Returns the inflated text of a keyword that stands before the picture.
  func text(_ keyword: String) -> Data? {
    var length = 0
    // libpng owns the text until the reader is destroyed, so it is copied first.
    guard let text = unsafe vitrine_png_text(reader, keyword, &length), length > 0 else { return nil }
    return unsafe Data(UnsafeBufferPointer(start: text, count: length))
  }
}
