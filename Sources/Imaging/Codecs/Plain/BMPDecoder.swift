import VitrineRuntime

/// Decodes Windows and OS/2 bitmaps: 1 to 32 bits, palettes, masks and run lengths.
///
/// Uncompressed bitmaps are decoded row by row.
///
/// JPEG or PNG files inside a bitmap and OS/2's Huffman compression are reported as unsupported.
public struct BMPDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// BMP.
  public let formats: [ImageFormat] = [.bmp]

  /// Reads the headers.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let header = try unsafe BMPHeader(ByteReader(bytes), metadataLimit: limits.metadataByteCount)
    var info = ImageInfo(format: .bmp, storedWidth: header.width, storedHeight: header.height)
    info.hasAlpha = header.hasAlpha
    info.bitsPerComponent = header.bitCount == 16 ? header.masks.map(\.bits).max() ?? 8 : 8
    info.colorProfile = header.profile
    info.streamsRows = !header.isRunLength
    return info
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    DecodeMemory(rows: request.info.streamsRows ? 0 : 4 * request.info.storedWidth * request.info.storedHeight)
  }

  /// Opens the picture for reading rows.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: request.info) }
    let reader = unsafe ByteReader(bytes)
    var header = try BMPHeader(reader, metadataLimit: 0)
    if header.isRunLength { return try header.runLengthRows(reader, request.control) }
    // Some writers leave all alpha at 0. Taken literally, such a bitmap would be invisible.
    if header.hasAlpha, !header.showsAnything(reader) { header.ignoreAlpha() }
    return header.plainRows(reader)
  }
}

extension BMPHeader {
  /// Returns the rows of an uncompressed bitmap, which are usually stored from the last to the first.
  func plainRows(_ bytes: ByteReader) -> LineRows {
    let available = max(0, bytes.count - pixelOffset) / max(1, bytesPerRow)
    // Many writers omit the padding of the last row.
    let lastNeeds = (width * bitCount + 7) / 8
    let isWhole = available >= height || bytes.count - pixelOffset >= bytesPerRow * (height - 1) + lastNeeds
    let damage = ImageError(
      .truncated,
      format: .bmp,
      "truncated: the file ends at row \(available) of \(height), counted \(isTopDown ? "down" : "up")",
    )
    return LineRows(width: width, height: height, hasAlpha: hasAlpha || !isWhole, damage: isWhole ? nil : damage) {
      (row, line) throws(ImageError) in
      if available == 0, !isWhole { throw damage }
      let stored = isTopDown ? row : height - 1 - row
      guard isWhole || stored < available else {
        // A bitmap stored from the bottom lacks its top rows.
        for x in line.indices { line[x] = 0 }
        return
      }
      unpack(bytes.slice(pixelOffset + stored * bytesPerRow, bytesPerRow), into: &line)
    }
  }

  /// Returns `true` if alpha is above 0 anywhere.
  func showsAnything(_ bytes: ByteReader) -> Bool {
    var line = [UInt32](repeating: 0, count: width)
    // The file's end bounds the rows, however many the header promises.
    let count = min(height, max(0, bytes.count - pixelOffset + bytesPerRow - 1) / max(1, bytesPerRow))
    return (0..<count).contains { row in
      unpack(bytes.slice(pixelOffset + row * bytesPerRow, bytesPerRow), into: &line)
      return line.contains { $0 & Pixel.opaqueBlack != 0 }
    }
  }

  /// Converts one row to pixels; missing bytes are 0.
  func unpack(_ stored: ByteReader, into line: inout [UInt32]) {
    let bytes = stored.copy() + [UInt8](repeating: 0, count: max(0, bytesPerRow - stored.count))
    switch bitCount {
    case 8:
      for x in 0..<width { line[x] = palette[Int(bytes[x])] }
    case 1, 2, 4:
      let (perByte, mask) = (8 / bitCount, UInt8(1 << bitCount - 1))
      for x in 0..<width {
        let shift = 8 - bitCount * (x % perByte + 1)
        line[x] = palette[Int(bytes[x / perByte] >> UInt8(shift) & mask)]
      }
    case 24:
      for x in 0..<width { line[x] = Pixel.rgba(bytes[x * 3 + 2], bytes[x * 3 + 1], bytes[x * 3]) }
    case 16:
      for x in 0..<width { line[x] = color(UInt32(bytes[x * 2]) | UInt32(bytes[x * 2 + 1]) << 8) }
    default:
      let isPlain = compression == .none && masks[3].bits == 0
      for x in 0..<width {
        let at = x * 4
        if isPlain {
          line[x] = Pixel.rgba(bytes[at + 2], bytes[at + 1], bytes[at])
        } else {
          let low = UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8
          line[x] = color(low | UInt32(bytes[at + 2]) << 16 | UInt32(bytes[at + 3]) << 24)
        }
      }
    }
  }

  private func color(_ pixel: UInt32) -> UInt32 {
    Pixel.rgba(
      masks[0].level(pixel, none: 0),
      masks[1].level(pixel, none: 0),
      masks[2].level(pixel, none: 0),
      masks.count > 3 ? masks[3].level(pixel, none: 255) : 255,
    )
  }
}
