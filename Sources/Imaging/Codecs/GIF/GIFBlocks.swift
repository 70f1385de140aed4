import VitrineRuntime

/// Writes the blocks of a GIF file (GIF89a specification).
struct GIFBlocks {
  /// What becomes of a frame before the next one is drawn.
  enum Disposal: UInt8 {
    /// It stays.
    case keep = 1
    /// Its rectangle becomes transparent.
    case background = 2
  }

  private var bytes: [UInt8] = Array("GIF89a".utf8)

  /// Begins a file with the colours that frames without a table of their own have.
  init(width: Int, height: Int, _ table: GIFColorTable) {
    append16(width)
    append16(height)
    // 8 bits a component; the index of the background, and no aspect ratio.
    bytes += [0x80 | 0x70 | UInt8(table.bits - 1), 0, 0]
    append(table)
  }

  /// Says how many times an animation plays; 0 for endless.
  ///
  /// Netscape's extension counts the repetitions after the first time, and a file without it plays once.
  mutating func append(loopCount: Int) {
    guard loopCount != 1 else { return }
    bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1]
    append16(min(max(0, loopCount - 1), 0xFFFF))
    bytes.append(0)
  }

  /// Writes an XMP packet (XMP specification, part 3, section 1.1.2).
  ///
  /// It is not divided into blocks. A reader that takes its letters for block lengths ends up in the 258 bytes behind
  /// it, which lead to their own end from any position. A packet with a zero in it cannot be written so, and is left
  /// out: text in UTF-8 has none.
  mutating func append(xmp packet: Data) {
    guard !packet.isEmpty, !packet.contains(0) else { return }
    bytes += [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8)
    bytes += packet
    bytes.append(1)
    bytes += (0...255).reversed()
    bytes.append(0)
  }

  /// Writes a frame.
  ///
  /// Without a `table` it has the colours of the file. The `delay` is in hundredths of a second, `nil` for a still
  /// picture.
  mutating func append(
    _ picture: GIFPicture,
    at area: PixelRegion,
    _ table: GIFColorTable?,
    delay: Int?,
    _ disposal: Disposal,
  ) {
    if delay != nil || picture.transparent != nil {
      let kept = delay == nil ? 0 : disposal.rawValue << 2
      bytes += [0x21, 0xF9, 4, kept | (picture.transparent == nil ? 0 : 1)]
      append16(delay ?? 0)
      bytes += [picture.transparent ?? 0, 0]
    }
    bytes.append(0x2C)
    for number in [area.x, area.y, area.width, area.height] { append16(number) }
    bytes.append(table.map { 0x80 | UInt8($0.bits - 1) } ?? 0)
    if let table { append(table) }
    bytes += picture.data
  }

  /// Ends the file.
  consuming func finish() -> Data {
    bytes.append(0x3B)
    return Data(bytes)
  }

  private mutating func append(_ table: GIFColorTable) {
    for color in table.colors {
      bytes += [
        UInt8(truncatingIfNeeded: color), UInt8(truncatingIfNeeded: color >> 8),
        UInt8(truncatingIfNeeded: color >> 16),
      ]
    }
    bytes += Array(repeating: 0, count: 3 << table.bits - 3 * table.colors.count)
  }

  private mutating func append16(_ number: Int) {
    bytes += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
  }
}

/// The colours of a frame as a file has them: as many as a power of two, the last of them of no meaning.
struct GIFColorTable {
  /// Red, green and blue, red in the lowest byte.
  let colors: [UInt32]
  /// The number of entries is 2 to the power of this.
  let bits: Int

  /// Makes a table of at most 256 colours, with another entry for the transparent one.
  init(_ colors: [UInt32], withTransparent isTransparent: Bool) {
    let count = min(256, colors.count + (isTransparent ? 1 : 0))
    (self.colors, bits) = (colors, max(1, Int.bitWidth - (count - 1).leadingZeroBitCount))
  }
}

/// The pixels of a frame as a file has them.
struct GIFPicture {
  /// The index of pixels that show what is below; `nil` if there are none.
  let transparent: UInt8?
  /// The code size, and the blocks of compressed pixels.
  let data: [UInt8]
}
