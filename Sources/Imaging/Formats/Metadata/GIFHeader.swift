import VitrineRuntime

/// The blocks of a GIF file (GIF89a specification), read without decoding.
struct GIFHeader {
  var width = 0
  var height = 0
  var frameCount = 0
  /// The duration of one loop, in seconds.
  var duration = 0.0
  /// The duration of each frame, in seconds; empty unless requested.
  var delays: [Double] = []
  /// The number of loops; 0 for endless.
  var loopCount = 1
  /// True if a pixel can be transparent: by a colour, or because the first frame leaves part of the canvas free.
  var hasAlpha = false

  /// True if a frame is disposed of by restoring the picture before it.
  private(set) var savesPicture = false
  /// True if the rows of the first frame are not stored from the first to the last.
  private(set) var beginsInterlaced = false
  /// True if the first frame is exactly as large as the picture.
  private(set) var beginsWithWholePicture = false

  /// Reads to the end of the data.
  ///
  /// A truncated file counts the frames that begin in it.
  init(_ bytes: ByteReader, collectsDelays: Bool = false) throws(ImageError) {
    guard let width = bytes.littleEndian16(at: 6), let height = bytes.littleEndian16(at: 8),
      let packed = bytes.byte(at: 10)
    else { throw ImageError(.truncated, format: .gif, "truncated: the file ends inside its header") }
    (self.width, self.height) = (Int(width), Int(height))
    var offset = 13 + Self.paletteLength(packed)
    var delay = 0.0
    walk: while let introducer = bytes.byte(at: offset) {
      switch introducer {
      case 0x21:
        if bytes.byte(at: offset + 1) == 0xF9, let flags = bytes.byte(at: offset + 3) {
          delay = Double(bytes.littleEndian16(at: offset + 4) ?? 0) / 100
          if flags & 1 != 0 { hasAlpha = true }
          if flags >> 2 & 7 == 3 { savesPicture = true }
        }
        loopCount = Self.loopCount(bytes, offset) ?? loopCount
        offset = Self.afterSubBlocks(bytes, offset + 2)
      case 0x2C:
        guard var left = bytes.littleEndian16(at: offset + 1), var top = bytes.littleEndian16(at: offset + 3),
          let frameWidth = bytes.littleEndian16(at: offset + 5), let frameHeight = bytes.littleEndian16(at: offset + 7),
          let packed = bytes.byte(at: offset + 9)
        else { break walk }
        // Some writers omit the screen's size.
        if self.width == 0 || self.height == 0 {
          (self.width, self.height) = (Int(left) + Int(frameWidth), Int(top) + Int(frameHeight))
        }
        if frameCount == 0 {
          if Self.exceedsScreen(bytes, Int(frameWidth), Int(frameHeight)) {
            (self.width, self.height, left, top) = (Int(frameWidth), Int(frameHeight), 0, 0)
          }
          let covers = left == 0 && top == 0 && Int(frameWidth) >= self.width && Int(frameHeight) >= self.height
          if !covers { hasAlpha = true }
          beginsInterlaced = packed & 0x40 != 0
          beginsWithWholePicture = covers && Int(frameWidth) == self.width && Int(frameHeight) == self.height
        }
        frameCount += 1
        duration += FrameDelay.shown(delay)
        if collectsDelays { delays.append(FrameDelay.shown(delay)) }
        delay = 0
        offset = Self.afterSubBlocks(bytes, offset + 10 + Self.paletteLength(packed) + 1)
      default: break walk
      }
    }
    if frameCount <= 1 { duration = 0 }
  }

  /// Returns `true` if a first frame is larger than the screen, which then is as large as the frame, as in browsers.
  static func exceedsScreen(_ bytes: ByteReader, _ frameWidth: Int, _ frameHeight: Int) -> Bool {
    guard let width = bytes.littleEndian16(at: 6), let height = bytes.littleEndian16(at: 8), width > 0, height > 0
    else { return false }
    return frameWidth > Int(width) || frameHeight > Int(height)
  }

  /// Returns the loop count of Netscape's extension, which counts the repetitions after the first time.
  private static func loopCount(_ bytes: ByteReader, _ offset: Int) -> Int? {
    guard bytes.byte(at: offset + 1) == 0xFF, bytes.byte(at: offset + 2) == 11,
      bytes.matches("NETSCAPE2.0", at: offset + 3) || bytes.matches("ANIMEXTS1.0", at: offset + 3),
      bytes.byte(at: offset + 14) == 3, bytes.byte(at: offset + 15) == 1,
      let count = bytes.littleEndian16(at: offset + 16)
    else { return nil }
    return count == 0 ? 0 : Int(count) + 1
  }

  static func paletteLength(_ packed: UInt8) -> Int { packed & 0x80 == 0 ? 0 : 3 << (Int(packed & 7) + 1) }

  static func afterSubBlocks(_ bytes: ByteReader, _ start: Int) -> Int {
    var offset = start
    while let length = bytes.byte(at: offset) {
      offset += 1 + Int(length)
      if length == 0 { break }
    }
    return offset
  }
}

extension GIFHeader {
  /// Returns the packet of the application extension "XMP Data" with the code "XMP".
  static func xmp(_ bytes: ByteReader, limit: Int) -> Data? {
    var offset = 13 + paletteLength(bytes.byte(at: 10) ?? 0)
    while let introducer = bytes.byte(at: offset) {
      switch introducer {
      case 0x21:
        let end = afterSubBlocks(bytes, offset + 2)
        if bytes.byte(at: offset + 1) == 0xFF, bytes.matches("XMP DataXMP", at: offset + 3) {
          // The text is not divided into blocks. A reader that takes its letters for block lengths ends up in the 258
          // bytes after it, which lead to their own end from any position.
          let packet = bytes.slice(offset + 14, end - 258 - (offset + 14))
          return packet.count > 0 && packet.count <= limit ? Data(packet.copy()) : nil
        }
        offset = end
      case 0x2C: offset = afterSubBlocks(bytes, offset + 11 + paletteLength(bytes.byte(at: offset + 9) ?? 0))
      default: return nil
      }
    }
    return nil
  }
}
