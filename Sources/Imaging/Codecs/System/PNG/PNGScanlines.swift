import VitrineRuntime

/// The rows of a bitmap in a layout, each behind the number of its filter (W3C PNG, third edition, chapters 7 and 9).
///
/// Rows are filtered in place, and written piece by piece: no row is copied, however long it is.
struct PNGScanlines {
  /// The number of pixels of a piece, a multiple of eight.
  static let piece = 4096
  /// The number of bytes behind those of a compressor's room that may be overwritten.
  static let spare = 32

  let bitmap: Bitmap
  let layout: PNGLayout
  /// A Boolean value that indicates whether a filter is chosen for each row.
  var isFiltered: Bool
  let kernels: PixelKernels
  let input: EncoderInput

  /// The number of bytes of all rows.
  var byteCount: Int { layout.bytesPerRow(width: bitmap.width) * bitmap.height }

  /// Writes rows to a compressor.
  func write(_ rows: some Sequence<Int>, to compressor: some PNGCompressor) throws(ImageError) {
    // The row above the first one; it has a pixel before it.
    let zeros = [UInt8](repeating: 0, count: 4 * Self.piece + 4)
    try zeros.withElements { (zeros) throws(ImageError) in
      try bitmap.withElements { (pixels) throws(ImageError) in
        var pixelsToCheck = 0
        for y in rows {
          pixelsToCheck -= bitmap.width
          if pixelsToCheck <= 0 {
            try input.checkCancellation()
            pixelsToCheck = 1 << 16
          }
          let row = pixels.rows(from: y, count: 1, width: bitmap.width)
          let above = y == 0 ? zeros : pixels.rows(from: y - 1, count: 1, width: bitmap.width)
          try write(Row(pixels: row, above: above, isFirst: y == 0), to: compressor)
        }
      }
    }
  }

  /// A row, and the one above it.
  private struct Row {
    let pixels: Elements<UInt8>
    let above: Elements<UInt8>
    /// A Boolean value that indicates whether `above` is a piece of zeros.
    let isFirst: Bool

    /// Returns a piece and the pixel before it, and those above.
    func piece(_ x: Int, _ count: Int) -> (pixels: Elements<UInt8>, above: Elements<UInt8>) {
      let range = 4 * (x - 1)..<4 * (x + count)
      return (pixels.extracting(range), above.extracting(isFirst ? 0..<range.count : range))
    }
  }

  private func write(_ row: Row, to compressor: some PNGCompressor) throws(ImageError) {
    switch layout {
    case .direct(let components): try write(row, components, to: compressor)
    case .shallow(let bits):
      try pack(row, bits: bits, to: compressor) { UInt8(truncatingIfNeeded: $0 & 0xFF) >> (8 - UInt8(bits)) }
    case .indexed(let palette):
      // The fourth byte of an opaque bitmap has no meaning.
      let ignored: UInt32 = bitmap.alpha == .opaque ? 0xFF00_0000 : 0
      try pack(row, bits: palette.bits, to: compressor) { palette.index(of: $0 | ignored) }
    }
  }

  private func write(_ row: Row, _ components: Int, to compressor: some PNGCompressor) throws(ImageError) {
    let filter = isFiltered ? try bestFilter(row, components) : 0
    // The filter and the first pixel, which has nothing to its left.
    let output = try compressor.room(8)
    output[0] = UInt8(filter)
    let first = PixelKernels.firstPixel(row.pixels.four(at: 0), above: row.above.four(at: 0), filter: filter)
    PixelKernels.store(first, components, output, at: 1)
    compressor.advance(1 + components)
    var x = 1
    while x < bitmap.width {
      let room = try compressor.room(components)
      let count = min(Self.piece, bitmap.width - x, (room.count - Self.spare) / components)
      let (pixels, above) = row.piece(x, count)
      kernels.filter(pixels, above: above, filter: filter, components: components, into: room)
      compressor.advance(count * components)
      x += count
      if bitmap.width > 1 << 20 { try input.checkCancellation() }
    }
  }

  /// Returns the filter that leaves the least, as the specification proposes (chapter 12).
  private func bestFilter(_ row: Row, _ components: Int) throws(ImageError) -> Int {
    var sums = [UInt64](repeating: 0, count: 5)
    for filter in 0..<5 {
      let first = PixelKernels.firstPixel(row.pixels.four(at: 0), above: row.above.four(at: 0), filter: filter)
      sums[filter] = PixelKernels.size(first, components)
    }
    for x in stride(from: 1, to: bitmap.width, by: Self.piece) {
      let (pixels, above) = row.piece(x, min(Self.piece, bitmap.width - x))
      kernels.addFilterSums(pixels, above: above, components: components, to: &sums)
      if bitmap.width > 1 << 20 { try input.checkCancellation() }
    }
    var best = 0
    for filter in 1..<5 where sums[filter] < sums[best] { best = filter }
    return best
  }

  /// Writes numbers of a few bits, the first one highest, without a filter: neighbours in a palette need not be alike.
  private func pack(
    _ row: Row,
    bits: Int,
    to compressor: some PNGCompressor,
    _ number: (UInt32) -> UInt8,
  ) throws(ImageError) {
    try compressor.room(1)[0] = 0
    compressor.advance(1)
    let perByte = 8 / bits
    // Four bytes that no pixel has, as the first number that is asked for.
    var (last, lastNumber) = (~row.pixels.load(at: 0, as: UInt32.self), UInt8(0))
    var x = 0
    while x < bitmap.width {
      let room = try compressor.room(1)
      let end = min(bitmap.width, x + (room.count - Self.spare) * perByte, x + Self.piece)
      var written = 0
      while x < end {
        var byte: UInt8 = 0
        for index in 0..<perByte {
          byte <<= UInt8(bits & 7)
          guard x + index < bitmap.width else { continue }
          let pixel = UInt32(littleEndian: row.pixels.load(at: 4 * (x + index), as: UInt32.self))
          if pixel != last { (last, lastNumber) = (pixel, number(pixel)) }
          byte |= lastNumber
        }
        room[written] = byte
        written += 1
        x += perByte
      }
      compressor.advance(written)
      if bitmap.width > 1 << 20 { try input.checkCancellation() }
    }
  }
}
