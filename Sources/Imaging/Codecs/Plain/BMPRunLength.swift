extension BMPHeader {
  /// Returns the rows of a run-length picture.
  ///
  /// It begins with its last row and may skip pixels, so it is decoded as a whole.
  func runLengthRows(_ bytes: ByteReader, _ control: DecodeControl) throws(ImageError) -> HeldRows {
    guard bytes.count > pixelOffset else {
      throw ImageError(.truncated, format: .bmp, "truncated: the file ends before its first row")
    }
    let damage = try runLengthDamage(bytes, control)
    return HeldRows(width: width, height: height, hasAlpha: true, damage: damage) {
      (pixels, wholeRows) throws(ImageError) in
      // Pixels that were not drawn are transparent, at the top of a truncated picture.
      wholeRows = height
      var decoder = RunLengthDecoder(self, bytes, control)
      try decoder.run { x, row, color in
        pixels.store(color, at: (row * width + x) * 4)
      }
    }
  }

  /// Checks the runs for damage first: a few bytes may promise hundreds of megabytes, which must not be allocated for
  /// nothing.
  private func runLengthDamage(_ bytes: ByteReader, _ control: DecodeControl) throws(ImageError) -> ImageError? {
    var rehearsal = RunLengthDecoder(self, bytes, control)
    do throws(ImageError) {
      try rehearsal.run { _, _, _ in }
      return nil
    } catch {
      guard error.code == .truncated || error.code == .corrupt else { throw error }
      return error
    }
  }
}

/// The commands of RLE8, RLE4 and OS/2's RLE24.
private struct RunLengthDecoder {
  private let header: BMPHeader
  private let bytes: ByteReader
  private let control: DecodeControl
  private var offset: Int
  private var x = 0
  /// The row, in the order of the file.
  private var line = 0

  init(_ header: BMPHeader, _ bytes: ByteReader, _ control: DecodeControl) {
    (self.header, self.bytes, self.control) = (header, bytes, control)
    offset = header.pixelOffset
  }

  /// Draws to the end of the picture, or of the file if no code ends the picture.
  mutating func run(_ draw: (_ x: Int, _ row: Int, _ color: UInt32) -> Void) throws(ImageError) {
    var commands = 0
    while line < header.height {
      commands += 1
      if commands % 4096 == 0 { try control.check() }
      let (count, value) = try (next(), next())
      if count > 0 {
        try repeated(Int(count), value, draw)
        continue
      }
      switch value {
      case 0: (x, line) = (0, line + 1)
      case 1: return
      case 2: (x, line) = try (x + Int(next()), line + Int(next()))
      default: try literal(Int(value), draw)
      }
    }
  }

  private mutating func repeated(_ count: Int, _ value: UInt8, _ draw: (Int, Int, UInt32) -> Void) throws(ImageError) {
    switch header.compression {
    case .rle4:
      for index in 0..<count { put(header.palette[Int(index % 2 == 0 ? value >> 4 : value & 15)], draw) }
    case .rle24:
      let (green, red) = try (next(), next())
      for _ in 0..<count { put(Pixel.rgba(red, green, value), draw) }
    default:
      for _ in 0..<count { put(header.palette[Int(value)], draw) }
    }
  }

  /// Draws literal pixels, which are padded to an even number of bytes.
  private mutating func literal(_ count: Int, _ draw: (Int, Int, UInt32) -> Void) throws(ImageError) {
    let start = offset
    switch header.compression {
    case .rle4:
      var pair: UInt8 = 0
      for index in 0..<count {
        if index % 2 == 0 { pair = try next() }
        put(header.palette[Int(index % 2 == 0 ? pair >> 4 : pair & 15)], draw)
      }
    case .rle24:
      for _ in 0..<count {
        let (blue, green, red) = try (next(), next(), next())
        put(Pixel.rgba(red, green, blue), draw)
      }
    default:
      for _ in 0..<count { put(try header.palette[Int(next())], draw) }
    }
    offset += (offset - start) & 1
  }

  /// Draws a pixel.
  ///
  /// Pixels past the end of a row are dropped, as in other readers.
  private mutating func put(_ color: UInt32, _ draw: (Int, Int, UInt32) -> Void) {
    if x < header.width, line < header.height {
      draw(x, header.isTopDown ? line : header.height - 1 - line, color)
    }
    x += 1
  }

  private mutating func next() throws(ImageError) -> UInt8 {
    guard let byte = bytes.byte(at: offset) else {
      throw ImageError(
        .truncated,
        format: .bmp,
        "truncated: the file ends at row \(line) of \(header.height), counted up",
      )
    }
    offset += 1
    return byte
  }
}
