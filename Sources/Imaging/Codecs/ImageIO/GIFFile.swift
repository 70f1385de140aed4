/// The frames of a GIF (GIF89a specification), up to one of them, for a decoder that is given one at a time.
struct GIFFile {
  struct Frame {
    let place: FramePlace
    /// True if the frame's pixels are in the file as a whole.
    let isWhole: Bool
    fileprivate let isInterlaced: Bool
    fileprivate let transparent: UInt8?
    /// The colours, three bytes each: 2 to 256 of them, a power of two.
    fileprivate let palette: ByteReader
    /// The code size and the blocks of compressed pixels, with the empty one that ends them.
    fileprivate let data: ByteReader
  }

  private(set) var frames: [Frame] = []

  /// Reads up to and including the frame `last`.
  init(_ bytes: ByteReader, through last: Int) throws(ImageError) {
    let screen = bytes.byte(at: 10) ?? 0
    let shared = bytes.slice(13, GIFHeader.paletteLength(screen))
    var offset = 13 + GIFHeader.paletteLength(screen)
    var control: (transparent: UInt8?, disposal: FramePlace.Disposal) = (nil, .none)
    while frames.count <= last, let introducer = bytes.byte(at: offset) {
      switch introducer {
      case 0x21:
        if bytes.byte(at: offset + 1) == 0xF9, let flags = bytes.byte(at: offset + 3) {
          let disposals: [UInt8: FramePlace.Disposal] = [2: .background, 3: .previous]
          control.transparent = flags & 1 != 0 ? bytes.byte(at: offset + 6) : nil
          control.disposal = disposals[flags >> 2 & 7] ?? .none
        }
        offset = GIFHeader.afterSubBlocks(bytes, offset + 2)
      case 0x2C:
        guard let left = bytes.littleEndian16(at: offset + 1), let top = bytes.littleEndian16(at: offset + 3),
          let width = bytes.littleEndian16(at: offset + 5), let height = bytes.littleEndian16(at: offset + 7),
          let packed = bytes.byte(at: offset + 9)
        else { throw Self.truncated(frames.count) }
        guard width > 0, height > 0 else { throw Self.corrupt("a frame has \(width)x\(height) pixels") }
        let ownLength = GIFHeader.paletteLength(packed)
        let palette = ownLength > 0 ? bytes.slice(offset + 10, ownLength) : shared
        let start = offset + 10 + ownLength
        offset = GIFHeader.afterSubBlocks(bytes, start + 1)
        guard palette.count >= 6 else { throw Self.corrupt("a frame has no palette") }
        frames.append(
          Frame(
            place: FramePlace(
              left: Int(left),
              top: Int(top),
              width: Int(width),
              height: Int(height),
              disposal: control.disposal,
              blend: .over,
            ),
            // The last block is the empty one.
            isWhole: offset <= bytes.count && bytes.byte(at: offset - 1) == 0,
            isInterlaced: packed & 0x40 != 0,
            transparent: control.transparent,
            palette: palette,
            data: bytes.slice(start, offset - start),
          )
        )
        control = (nil, .none)
      case 0x3B:
        throw Self.corrupt("the file ends before the requested frame")
      default:
        throw Self.corrupt("an unknown block follows frame \(frames.count)")
      }
    }
    guard frames.count > last else { throw Self.truncated(frames.count) }
  }

  /// Returns a frame as a GIF of its own, which a decoder can trust: it has all its pixels.
  func file(of frame: Frame) throws(ImageError) -> [UInt8] {
    guard frame.isWhole else { throw Self.truncated(frames.count - 1) }
    let count = GIFCodes.pixelCount(frame.data, through: frame.place.width * frame.place.height)
    guard count >= frame.place.width * frame.place.height else {
      throw Self.corrupt("a frame has \(count) of its \(frame.place.width)x\(frame.place.height) pixels")
    }
    let size = [UInt8].little(frame.place.width, count: 2) + .little(frame.place.height, count: 2)
    // All 256 colours, so that none is undefined, whatever the codes say.
    let palette = frame.palette.copy() + [UInt8](repeating: 0, count: 3 * 256 - frame.palette.count)
    var file = Array("GIF89a".utf8) + size + [0x87, 0, 0] + palette
    if let transparent = frame.transparent { file += [0x21, 0xF9, 4, 1, 0, 0, transparent, 0] }
    file += [0x2C, 0, 0, 0, 0] + size + [frame.isInterlaced ? 0x40 : 0]
    return file + frame.data.copy() + [0x3B]
  }

  private static func truncated(_ frame: Int) -> ImageError {
    ImageError(.truncated, format: .gif, "truncated: the file ends inside frame \(frame)")
  }

  private static func corrupt(_ reason: String) -> ImageError {
    ImageError(.corrupt, format: .gif, "corrupt: \(reason)")
  }
}

/// The codes of a GIF's compressed pixels (GIF89a specification, appendix F: LZW with variable length).
enum GIFCodes {
  /// Counts the pixels that codes stand for, without making any; stops at `limit`.
  ///
  /// A decoder that trusts the size in a frame's header reads beyond the pixels that it has.
  ///
  /// - Returns: 0 for a code size that is not allowed; the pixels before the first code that has no meaning.
  static func pixelCount(_ data: ByteReader, through limit: Int) -> Int {
    guard let codeSize = data.byte(at: 0), (2...8).contains(codeSize) else { return 0 }
    let (clear, end) = (1 << Int(codeSize), 1 << Int(codeSize) + 1)
    // The number of pixels of each code; the codes of the palette have one.
    var lengths = [Int](repeating: 1, count: 4096)
    var (next, width, previous) = (end + 1, Int(codeSize) + 1, -1)
    var (bits, bitCount, count) = (0, 0, 0)
    var offset = 1
    while let blockLength = data.byte(at: offset), blockLength > 0 {
      for place in offset + 1..<offset + 1 + Int(blockLength) {
        guard let byte = data.byte(at: place) else { return count }
        bits |= Int(byte) << bitCount
        bitCount += 8
        while bitCount >= width {
          let code = bits & (1 << width - 1)
          bits >>= width
          bitCount -= width
          if code == end { return count }
          if code == clear {
            (next, width, previous) = (end + 1, Int(codeSize) + 1, -1)
            continue
          }
          // The first code after a reset is one of the palette, and none may be ahead of the table.
          guard previous >= 0 ? code <= next : code < clear else { return count }
          if previous >= 0, next < 4096 {
            lengths[next] = lengths[previous] + 1
            next += 1
            if next == 1 << width, width < 12 { width += 1 }
          }
          guard code < next else { return count }
          count += lengths[code]
          if count >= limit { return limit }
          previous = code
        }
      }
      offset += 1 + Int(blockLength)
    }
    return count
  }
}
