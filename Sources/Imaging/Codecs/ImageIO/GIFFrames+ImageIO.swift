extension GIFFrames {
  /// Returns a frame as a GIF of its own, which a decoder can trust: it has all its pixels.
  func file(of number: Int) throws(ImageError) -> [UInt8] {
    guard frames.indices.contains(number) else { throw ending }
    let frame = frames[number]
    guard frame.isWhole else { throw Self.truncated(number) }
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
}

/// The frames of a GIF, of which ImageIO sees each as a still GIF of its own.
struct GIFPictures: StoredFrames {
  let frames: GIFFrames
  var places: [FramePlace] { frames.places }
  var ending: ImageError { frames.ending }

  /// `bytes` must stay in place for the life of the pictures.
  init(_ bytes: ByteReader, through last: Int) {
    frames = GIFFrames(bytes, through: last)
  }

  func draw(_ frame: Int, onto canvas: inout FrameCanvas, _ request: RowRequest) throws(ImageError) {
    try canvas.draw(places[frame], from: open(frame, request.unscaled), format: .gif, request.control)
  }

  /// Opens a frame's own pixels.
  func open(_ frame: Int, _ request: RowRequest) throws(ImageError) -> HeldRows {
    // The rows do not refer to the file, which is copied.
    try unsafe frames.file(of: frame).withImageBytes { (bytes) throws(ImageError) in
      let place = frames.frames[frame].place
      return try unsafe ImageIORows.open(bytes, request, width: place.width, height: place.height)
    }
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
