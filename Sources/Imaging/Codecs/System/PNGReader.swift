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
    let reader = try PNGReader(bytes, format: request.info.format, isWide: colors != nil)
    guard reader.width == width, reader.height == height else {
      throw ImageError(.corrupt, format: request.info.format, "corrupt: two headers disagree")
    }
    let rows: any RowSource = reader.isInterlaced ? reader.interlacedRows(request.control) : PNGRows(reader)
    return colors.map { HighRangeRows(rows, $0, to: request.colorSpace) } ?? rows
  }

  /// Returns the profile, which is compressed behind a name, up to the limit of metadata (PNG, third edition, 11.3.2.3).
  static func profile(
    of bytes: ByteReader,
    _ format: ImageFormat,
    _ limits: DecodeLimits,
  ) throws(ImageError) -> ColorProfile? {
    var isColored = true
    for chunk in PNGHeader.chunks(bytes) where chunk.type != PNGHeader.Chunk.IDAT {
      let body = chunk.body
      if chunk.type == PNGHeader.Chunk.IHDR { isColored = body.byte(at: 9).map { $0 & 2 != 0 } ?? true }
      guard chunk.type == PNGHeader.Chunk.iCCP else { continue }
      guard chunk.isWhole else {
        throw ImageError(.truncated, format: format, "truncated: the file ends inside its header")
      }
      guard chunk.isIntact, let end = (0..<min(80, body.count)).first(where: { body.byte(at: $0) == 0 }) else {
        continue
      }
      let (profile, ending) = inflated(body.slice(end + 2, body.count), limits)
      // A profile of colours does not fit grey pixels, and a profile of grey fits no others.
      let isFitting = profile.reading { $0.matches(isColored ? "RGB " : "GRAY", at: 16) }
      return ending == .whole && isFitting ? ColorProfile(data: Data(profile)) : nil
    }
    return nil
  }

  /// Returns the text of a chunk, which is compressed behind its keyword, language and translated keyword (11.3.3.4).
  static func inflated(_ chunk: PNGHeader.Chunk, _ limits: DecodeLimits) -> Data? {
    let body = chunk.body
    var start = 0
    for field in 0..<3 {
      while let byte = body.byte(at: start), byte != 0 { start += 1 }
      // Two bytes behind the keyword say that the text is compressed, and how.
      start += field == 0 ? 3 : 1
    }
    let (text, end) = inflated(body.slice(start, body.count), limits)
    return end == .whole && !text.isEmpty ? Data(text) : nil
  }

  private static func inflated(_ stream: ByteReader, _ limits: DecodeLimits) -> (bytes: [UInt8], end: Gzip.End) {
    Gzip.inflate(stream, limit: limits.metadataByteCount) { Zlib.inflate($0, room: $1) }
  }
}

extension PNGHeader.Chunk {
  /// Returns whether all of it is there, with the right checksum.
  fileprivate var isIntact: Bool { isWhole && typeAndBody.checksum(0) == checksum }
}

extension ByteReader {
  /// Returns the checksum of PNG's chunks of `start` and these bytes.
  fileprivate func checksum(_ start: UInt32) -> UInt32 {
    unsafe bytes.withUnsafeBufferPointer { unsafe vitrine_crc32(start, $0.baseAddress, $0.count) }
  }
}

/// The pixels of one file, in the chunks `IDAT`.
@safe
final class PNGReader {
  /// The most bytes that are inflated at once, so that they are still in the processor's cache after their checksum.
  private static let pieceByteCount = 1 << 16

  let width: Int
  let height: Int
  let isInterlaced: Bool
  let hasAlpha: Bool
  /// The bytes of a pixel of the rows: RGBA with 8 or 16 bits a component.
  let bytesPerPixel: Int
  private let format: ImageFormat
  // Owned: made in init, destroyed in deinit, used by one thread at a time.
  private let reader: OpaquePointer
  /// The chunks behind the current one.
  private var chunks: PNGHeader.Chunks
  private var chunk: PNGHeader.Chunk
  /// The bytes of the current chunk that were given to the reader, and their checksum.
  private var given = 0
  private var checksum: UInt32
  /// The rest of these bytes, which the reader has not yet consumed.
  private var piece: ByteReader

  /// Reads the chunks before the pixels; `bytes` must stay in place for the life of the reader.
  ///
  /// The rows have 16 bits a component if `isWide` is set.
  init(_ bytes: ByteReader, format: ImageFormat, isWide: Bool = false) throws(ImageError) {
    var chunks = PNGHeader.chunks(bytes)
    let head = try PNGHead(&chunks, format, isWide: isWide)
    (self.chunks, chunk, self.format) = (chunks, head.pixels, format)
    (width, height, isInterlaced, hasAlpha) = (head.width, head.height, head.isInterlaced, head.hasAlpha)
    bytesPerPixel = isWide ? 8 : 4
    checksum = head.pixels.typeAndBody.slice(0, 4).checksum(0)
    piece = bytes.slice(0, 0)
    var layout = head.layout
    // The palette has 256 colours, or there is none. Both are copied.
    let reader = unsafe head.palette.withUnsafeBufferPointer {
      unsafe vitrine_png_create(&layout, $0.isEmpty ? nil : $0.baseAddress)
    }
    guard let reader = unsafe reader else {
      throw ImageError(.overLimit, format: format, "not enough memory for the PNG decoder")
    }
    unsafe self.reader = reader
  }

  deinit { unsafe vitrine_png_destroy(reader) }

  /// Begins the next of the passes of an interlaced file.
  func beginPass() { unsafe vitrine_png_begin_pass(reader) }

  /// Reads up to `count` rows of `width` pixels.
  ///
  /// `row` says in an error where the file ends.
  func read(
    into rows: MutableElements<UInt8>,
    bytesPerRow: Int,
    width: Int,
    count: Int,
    row: Int,
  ) throws(ImageError) -> Int {
    precondition(width <= self.width && rows.count >= bytesPerRow * (count - 1) + width * bytesPerPixel)
    while true {
      let status = unsafe consume { piece, left in
        // In bounds by the precondition: `count` rows of `width` pixels at most.
        unsafe rows.withUnsafeBufferPointer {
          unsafe vitrine_png_read_rows(reader, UInt32(width), piece, &left, $0.baseAddress, bytesPerRow, Int32(count))
        }
      }
      switch status {
      case ...0: return Int(-status)
      case Int32(VITRINE_PNG_HUNGRY): try feed(row)
      case Int32(VITRINE_PNG_ENDED): throw corrupt("the compressed pixels end at row \(row) of \(height)")
      case Int32(VITRINE_PNG_FILTER): throw corrupt("row \(row) of \(height) has a filter that does not exist")
      default: throw corrupt("the compressed pixels are damaged at row \(row) of \(height)")
      }
    }
  }

  /// Returns the damage behind the last row, of a checksum or of the file.
  ///
  /// A wrong checksum of the compressed stream is no damage if the chunk's own is right.
  func finish() -> ImageError? {
    do throws(ImageError) {
      while unsafe consume({ unsafe vitrine_png_finish(reader, $0, &$1) }) == Int32(VITRINE_PNG_HUNGRY) {
        try feed(height)
      }
      while given < chunk.body.count { try feed(height) }
      try checkChunk(height)
      return nil
    } catch {
      return error
    }
  }

  /// Calls `body` with the current piece, and keeps the bytes that it leaves.
  private func consume(_ body: (UnsafePointer<UInt8>?, inout Int) -> Int32) -> Int32 {
    var left = piece.count
    let status = unsafe piece.bytes.withUnsafeBufferPointer { unsafe body($0.baseAddress, &left) }
    piece = piece.slice(piece.count - left, left)
    return status
  }

  /// Takes the next piece of compressed data.
  private func feed(_ row: Int) throws(ImageError) {
    while given == chunk.body.count {
      try checkChunk(row)
      guard let next = chunks.next() else { throw truncated(row) }
      guard next.type == PNGHeader.Chunk.IDAT else { throw corrupt("the pixels end at row \(row) of \(height)") }
      (chunk, given, checksum) = (next, 0, next.typeAndBody.slice(0, 4).checksum(0))
    }
    piece = chunk.body.slice(given, Self.pieceByteCount)
    checksum = piece.checksum(checksum)
    given += piece.count
  }

  /// Checks the current chunk, once all of it was given to the reader.
  private func checkChunk(_ row: Int) throws(ImageError) {
    guard chunk.isWhole else { throw truncated(row) }
    guard checksum == chunk.checksum else {
      throw corrupt("the checksum of the pixels is wrong at row \(row) of \(height)")
    }
  }

  private func truncated(_ row: Int) -> ImageError {
    ImageError(.truncated, format: format, "truncated: the file ends at row \(row) of \(height)")
  }

  private func corrupt(_ reason: String) -> ImageError { ImageError(.corrupt, format: format, "corrupt: \(reason)") }
}

/// The chunks before the pixels: the size, and the meaning of a pixel's samples.
private struct PNGHead {
  private(set) var width = 0
  private(set) var height = 0
  private(set) var isInterlaced = false
  private(set) var layout = vitrine_png_layout()
  /// The first chunk of pixels.
  private(set) var pixels: PNGHeader.Chunk
  private let format: ImageFormat
  /// RGBA; empty unless pixels are places in it.
  private(set) var palette: [UInt8] = []
  private var colorCount = 0
  private var hasTransparentColors = false

  var hasAlpha: Bool { layout.color_type & 4 != 0 || layout.has_key != 0 || hasTransparentColors }

  init(_ chunks: inout PNGHeader.Chunks, _ format: ImageFormat, isWide: Bool) throws(ImageError) {
    typealias Chunk = PNGHeader.Chunk
    let truncated = ImageError(.truncated, format: format, "truncated: the file ends inside its header")
    guard let first = chunks.next() else { throw truncated }
    (pixels, self.format) = (first, format)
    layout.is_wide = isWide ? 1 : 0
    try check(first)
    try readSize(first)
    while true {
      guard let chunk = chunks.next() else { throw truncated }
      switch chunk.type {
      case Chunk.IDAT:
        guard layout.color_type != 3 || colorCount > 0 else { throw corrupt("it has no palette") }
        pixels = chunk
        return
      case Chunk.PLTE where layout.color_type == 3:
        try check(chunk)
        try readPalette(chunk.body)
      // Only a suggestion, where pixels are no places in it.
      case Chunk.PLTE: break
      case Chunk.tRNS where chunk.isIntact: readTransparency(chunk.body)
      // A decoder must not go on behind a chunk that it does not know and that changes the meaning (5.4).
      case let type where type & 1 << 29 == 0: throw corrupt("it has a chunk that no decoder knows before its pixels")
      default: if !chunk.isWhole { throw truncated }
      }
    }
  }

  private func corrupt(_ reason: String) -> ImageError { ImageError(.corrupt, format: format, "corrupt: \(reason)") }

  private func check(_ chunk: PNGHeader.Chunk) throws(ImageError) {
    guard chunk.isWhole else {
      throw ImageError(.truncated, format: format, "truncated: the file ends inside its header")
    }
    guard chunk.isIntact else { throw corrupt("the checksum of its header is wrong") }
  }

  private mutating func readSize(_ chunk: PNGHeader.Chunk) throws(ImageError) {
    let body = chunk.body
    guard chunk.type == PNGHeader.Chunk.IHDR, body.count == 13, let width = body.bigEndian32(at: 0),
      let height = body.bigEndian32(at: 4), let depth = body.byte(at: 8), let type = body.byte(at: 9),
      let compression = body.byte(at: 10), let filter = body.byte(at: 11), let interlace = body.byte(at: 12)
    else { throw corrupt("the first chunk is not IHDR") }
    // The sums of the depths of each type, which are powers of two (11.2.1, table 12).
    let depths: UInt8 =
      switch type {
      case 0: 1 + 2 + 4 + 8 + 16
      case 3: 1 + 2 + 4 + 8
      case 2, 4, 6: 8 + 16
      default: 0
      }
    guard depth.nonzeroBitCount == 1, depths & depth != 0, (1...UInt32(Int32.max)).contains(width),
      (1...UInt32(Int32.max)).contains(height), compression == 0, filter == 0, interlace < 2
    else { throw corrupt("its header is invalid") }
    (self.width, self.height, isInterlaced) = (Int(width), Int(height), interlace == 1)
    (layout.width, layout.color_type, layout.bit_depth) = (width, Int32(type), Int32(depth))
  }

  private mutating func readPalette(_ body: ByteReader) throws(ImageError) {
    guard colorCount == 0, body.count % 3 == 0, (3...768).contains(body.count) else {
      throw corrupt("its palette is invalid")
    }
    colorCount = min(body.count / 3, 1 << layout.bit_depth)
    // A colour that the file lacks is black.
    palette = (0..<1024).map { $0 % 4 == 3 ? 255 : 0 }
    for color in 0..<colorCount {
      for component in 0..<3 { palette[4 * color + component] = body.byte(at: 3 * color + component) ?? 0 }
    }
  }

  /// 11.3.1.1; a chunk of a wrong length is ignored.
  private mutating func readTransparency(_ body: ByteReader) {
    switch layout.color_type {
    case 3 where colorCount > 0 && (1...colorCount).contains(body.count):
      hasTransparentColors = true
      for color in 0..<body.count { palette[4 * color + 3] = body.byte(at: color) ?? 255 }
    case 0 where body.count == 2, 2 where body.count == 6:
      layout.has_key = 1
      let mask = UInt16(truncatingIfNeeded: 1 << layout.bit_depth - 1)
      let key = (0..<3).map { (body.bigEndian16(at: 2 * $0) ?? 0) & mask }
      layout.key = (key[0], key[1], key[2])
    default: break
    }
  }
}

private final class PNGRows: RowSource {
  var width: Int { reader.width }
  var height: Int { reader.height }
  var hasAlpha: Bool { reader.hasAlpha }
  private(set) var damage: ImageError?
  private let reader: PNGReader
  private var row = 0

  init(_ reader: PNGReader) {
    self.reader = reader
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    // The reader checks the bounds.
    let rows = unsafe MutableElements(rows)
    let count = min(count, height - row)
    let got = try reader.read(into: rows, bytesPerRow: bytesPerRow, width: width, count: count, row: row)
    row += got
    if row == height { damage = reader.finish() }
    return got
  }
}

extension PNGReader {
  /// The seven passes of Adam7 (PNG, third edition, 8.1): the first pixel, the distance between pixels, and the block that
  /// a pixel stands for until later passes are there.
  private static let passes: [vitrine_png_pass] = [
    vitrine_png_pass(x: 0, y: 0, across: 8, down: 8, block_width: 8, block_height: 8),
    vitrine_png_pass(x: 4, y: 0, across: 8, down: 8, block_width: 4, block_height: 8),
    vitrine_png_pass(x: 0, y: 4, across: 4, down: 8, block_width: 4, block_height: 4),
    vitrine_png_pass(x: 2, y: 0, across: 4, down: 4, block_width: 2, block_height: 4),
    vitrine_png_pass(x: 0, y: 2, across: 2, down: 4, block_width: 2, block_height: 2),
    vitrine_png_pass(x: 1, y: 0, across: 2, down: 2, block_width: 1, block_height: 2),
    vitrine_png_pass(x: 0, y: 1, across: 1, down: 2, block_width: 1, block_height: 1),
  ]

  /// Returns the rows of an interlaced file: all seven passes are needed before the first row is final.
  fileprivate func interlacedRows(_ control: DecodeControl) -> HeldRows {
    HeldRows(width: width, height: height, hasAlpha: hasAlpha, bytesPerPixel: bytesPerPixel) {
      (pixels, wholeRows) throws(ImageError) in
      let length = self.width * self.bytesPerPixel
      let line = OwnedElements<UInt8>(repeating: 0, count: length)
      for pass in Self.passes {
        let (first, across, down) = (Int(pass.y), Int(pass.across), Int(pass.down))
        let width = (self.width - Int(pass.x) + across - 1) / across
        guard width > 0 else { continue }
        self.beginPass()
        for row in stride(from: first, to: self.height, by: down) {
          if row % 64 == first { try control.check() }
          _ = try self.read(into: line.elements, bytesPerRow: length, width: width, count: 1, row: row)
          let block = min(Int(pass.block_height), self.height - row)
          let rows = pixels.extracting(row * length..<(row + block) * length)
          // The line has `width` pixels, and the block's rows are whole ones, within which the pixels are kept.
          unsafe line.elements.withUnsafeBufferPointer { line in
            unsafe rows.withUnsafeBufferPointer {
              unsafe vitrine_png_spread(
                line.baseAddress,
                pass,
                $0.baseAddress,
                UInt32(self.width),
                Int32(block),
                self.bytesPerPixel,
              )
            }
          }
          // Each pass covers the whole picture, from coarse to fine.
          if down == 8, pass.x == 0, first == 0 { wholeRows = row + block }
        }
      }
      if let damage = self.finish() { throw damage }
    }
  }
}
