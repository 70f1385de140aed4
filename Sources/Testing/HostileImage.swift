public import VitrineImaging
public import VitrineRuntime

/// A small file that would take gigabytes or minutes to decode as it asks.
///
/// Use it to test code that decodes files from strangers. Each of ``all`` must be rejected by the limit that it
/// names, or, if it names none, be harmless.
public struct HostileImage: Sendable, CustomStringConvertible {
  /// A file name that describes what the file claims.
  public let name: String
  /// The file, at most 3 MB.
  public let data: Data
  /// The default limit that the file exceeds; `nil` if it decodes like any other, or is too damaged to.
  public let limit: DecodeLimits.Name?

  /// The ``name``.
  public var description: String { name }

  /// One file of every kind, of the formats with built-in decoders.
  ///
  /// Made on first use and kept: 6 MB.
  public static let all = pngs + gifs + jpegs + webps + plain

  /// Animations whose first frame is a pixel, and whose frame 1 needs all of a huge canvas.
  public static let lateFrames = [lateWebP, lateGIF, latePNG]
}

// MARK: - PNG

extension HostileImage {
  private static var pngs: [HostileImage] {
    let pixels = PNG.zeros(count: 3_000_000)
    return [
      HostileImage("50000x50000.png", PNG.file(50_000, 50_000, [("IDAT", pixels)]), .pixelCount),
      HostileImage("interlaced-20000x20000.png", PNG.file(20_000, 20_000, [("IDAT", pixels)], 1), .heldPixelCount),
      HostileImage("interlaced-9500x9500.png", PNG.file(9500, 9500, [("IDAT", pixels)], 1), .memoryByteCount),
      HostileImage("70000x1.png", PNG.file(70_000, 1, [("IDAT", pixels)]), .side),
      HostileImage("4294967295x4294967295.png", PNG.file(0xFFFF_FFFF, 0xFFFF_FFFF, [("IDAT", pixels)]), nil),
      HostileImage("20000-frames.png", PNG.animation(frames: 20_000), .frameCount),
      // 16 MB each, the maximum for a single one.
      HostileImage("20-texts-of-16-MB.png", PNG.texts(count: 20, length: 16_000_000), nil),
      HostileImage("profile-of-16-MB.png", PNG.profile(length: 16_000_000), nil),
    ]
  }

  enum PNG {
    static func file(_ width: Int, _ height: Int, _ chunks: [(String, [UInt8])], _ interlace: UInt8 = 0) -> [UInt8] {
      let header = big(width, 4) + big(height, 4) + [8, 2, 0, 0, interlace]
      return ([("IHDR", header)] + chunks + [("IEND", [])]).reduce(into: text("\u{89}PNG\r\n\u{1A}\n")) {
        $0 += chunk($1.0, $1.1)
      }
    }

    /// All of a picture of 86x1 pixels: the filter's number and 258 components.
    private static let row = ("IDAT", zeros(count: 259))

    static func animation(frames: Int) -> [UInt8] {
      let frame = big(0, 4) + big(86, 4) + big(1, 4) + big(0, 8) + [0, 1, 0, 10, 0, 0]
      let headers = [(String, [UInt8])](repeating: ("fcTL", frame), count: frames)
      return file(86, 1, [("acTL", big(frames, 4) + big(0, 4))] + headers + [row])
    }

    static func texts(count: Int, length: Int) -> [UInt8] {
      let body = text("Comment\0\0") + zeros(count: length)
      return file(86, 1, [(String, [UInt8])](repeating: ("zTXt", body), count: count) + [row])
    }

    static func profile(length: Int) -> [UInt8] {
      file(86, 1, [("iCCP", text("name\0\0") + zeros(count: length)), row])
    }

    private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
      let content = text(type) + body
      return big(body.count, 4) + content + big(Int(checksum(content)), 4)
    }

    private static let table: [UInt32] = (0..<256).map { index in
      (0..<8).reduce(UInt32(index)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
      let table = table
      return ~bytes.reduce(~UInt32(0)) { $0 >> 8 ^ table[Int(($0 ^ UInt32($1)) & 255)] }
    }

    /// A zlib stream (RFC 1950) of at least `count` zeros: runs of 258 in 13 bits each of the fixed code.
    static func zeros(count: Int) -> [UInt8] {
      var bits = BitWriter([0x78, 0x01])
      bits.write(0b011, 3)  // the last block, fixed code
      bits.write(0b0000_1100, 8)  // the literal 0, most significant bit first
      let runs = (count - 1 + 257) / 258
      for _ in 0..<runs { bits.write(0b0_0000_1010_0011, 13) }  // length 258 at distance 1
      bits.write(0, 7)  // end of block
      let sum = (1 + runs * 258) % 65_521
      return bits.bytes + big(sum, 2) + [0, 1]
    }
  }
}

// MARK: - GIF, JPEG, WebP

extension HostileImage {
  private static var gifs: [HostileImage] {
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]
    func file(_ width: Int, _ height: Int, frames: Int) -> [UInt8] {
      let header = text("GIF89a") + little(width, 2) + little(height, 2) + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
      return header + [[UInt8]](repeating: frame, count: frames).joined() + [0x3B]
    }
    return [
      HostileImage("100000-frames.gif", file(1, 1, frames: 100_000), .frameCount),
      HostileImage("65535x65535.gif", file(65_535, 65_535, frames: 1), .pixelCount),
    ]
  }

  private static var jpegs: [HostileImage] {
    [
      HostileImage("progressive-65500x65500-1000-scans.jpg", jpeg(65_500, scans: 1000, 0xC2), .pixelCount),
      HostileImage("65500x65500.jpg", jpeg(65_500, scans: 1, 0xC0), .pixelCount),
      HostileImage("progressive-1000x1000-5000-scans.jpg", jpeg(1000, scans: 5000, 0xC2), .composedPixelCount),
    ]
  }

  /// A grey picture whose scans each say that all blocks are unchanged.
  private static func jpeg(_ side: Int, scans: Int, _ frame: UInt8) -> [UInt8] {
    var file: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    file += [0xFF, frame, 0, 11, 8] + big(side, 2) + big(side, 2) + [1, 1, 0x11, 0]
    // Codes of one bit: no change of DC; the end of 16,384 blocks, of which 14 bits say how many more.
    for (table, symbol) in [(0x00, 0x00), (0x10, 0xE0)] as [(UInt8, UInt8)] {
      file += [0xFF, 0xC4, 0, 20, table, 1] + [UInt8](repeating: 0, count: 15) + [symbol]
    }
    let isProgressive = frame == 0xC2
    file += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, isProgressive ? 0 : 63, 0] + [UInt8](repeating: 0, count: 2500)
    for _ in 1..<max(scans, 1) {
      file += [0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0] + [0, 0, 0, 0]
    }
    return file + [0xFF, 0xD9]
  }

  private static var webps: [HostileImage] {
    // Five codes of one symbol each, so that no pixel takes a bit.
    var bits = BitWriter([0x2F])
    bits.write(16_383 - 1, 14)
    bits.write(16_383 - 1, 14)
    bits.write(0, 4 + 3)
    for _ in 0..<5 { bits.write(0b0001, 4) }
    let lossless = text("VP8L") + little(bits.bytes.count, 4) + bits.bytes + (bits.bytes.count % 2 == 1 ? [0] : [])
    let size = little(16_383, 3)
    let extended = text("VP8X") + little(10, 4) + [2, 0, 0, 0] + size + size
    let animation = extended + text("ANIM") + little(6, 4) + [0, 0, 0, 0, 0, 0]
    return [("16383x16383.webp", lossless), ("animated-16384x16384.webp", animation)].map { name, body in
      HostileImage(name, text("RIFF") + little(body.count + 4, 4) + text("WEBP") + body, .heldPixelCount)
    }
  }
}

// MARK: - BMP, ICO, QOI

extension HostileImage {
  private static var plain: [HostileImage] {
    let rest = [UInt8](repeating: 0, count: 1000)
    func bitmap(_ width: Int, _ height: Int, bits: Int, _ compression: Int = 0) -> [UInt8] {
      let header = little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(bits, 2)
      return header + little(compression, 4) + [UInt8](repeating: 0, count: 20)
    }
    func bmp(_ width: Int, _ height: Int, bits: Int, _ compression: Int = 0) -> [UInt8] {
      text("BM") + little(0, 8) + little(54, 4) + bitmap(width, height, bits: bits, compression) + rest
    }
    func icon(entries: Int, _ picture: [UInt8]) -> [UInt8] {
      let entry = [0, 0, 0, 0, 1, 0, 32, 0] + little(picture.count, 4) + little(6 + 16 * entries, 4)
      return [0, 0, 1, 0] + little(entries, 2) + [[UInt8]](repeating: entry, count: entries).joined() + picture
    }
    func qoi(_ width: Int, _ height: Int) -> [UInt8] {
      text("qoif") + big(width, 4) + big(height, 4) + [4, 0] + [UInt8](repeating: 0xFD, count: 20_000)
    }
    let png = PNG.file(50_000, 50_000, [("IDAT", PNG.zeros(count: 1000))])
    return [
      HostileImage("100000x100000.bmp", bmp(100_000, 100_000, bits: 24), .side),
      HostileImage("60000x60000.bmp", bmp(60_000, 60_000, bits: 1), .pixelCount),
      HostileImage("runs-20000x20000.bmp", bmp(20_000, 20_000, bits: 8, 1), .heldPixelCount),
      HostileImage("runs-9500x9500.bmp", bmp(9500, 9500, bits: 8, 1), .memoryByteCount),
      HostileImage("alpha-31000x31000.bmp", bmp(31_000, 31_000, bits: 32, 6), nil),
      HostileImage("png-of-50000x50000.ico", icon(entries: 1, png), .pixelCount),
      HostileImage(
        "bitmap-of-30000x30000.ico",
        icon(entries: 1, bitmap(30_000, 60_000, bits: 32) + rest),
        .heldPixelCount,
      ),
      HostileImage("65535-pictures.ico", icon(entries: 65_535, png), .frameCount),
      HostileImage("60000x60000.qoi", qoi(60_000, 60_000), .pixelCount),
      HostileImage("4294967295x4294967295.qoi", qoi(0xFFFF_FFFF, 0xFFFF_FFFF), nil),
    ]
  }
}

// MARK: - Bytes

extension HostileImage {
  init(_ name: String, _ bytes: [UInt8], _ limit: DecodeLimits.Name?) {
    self.init(name: name, data: Data(bytes), limit: limit)
  }

  /// Bits, from the lowest of each byte.
  struct BitWriter {
    private(set) var bytes: [UInt8]
    private var count = 0

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
    }

    mutating func write(_ value: Int, _ length: Int) {
      var (value, length) = (value, length)
      while length > 0 {
        if count % 8 == 0 { bytes.append(0) }
        bytes[bytes.count - 1] |= UInt8(truncatingIfNeeded: value << (count % 8))
        let taken = min(length, 8 - count % 8)
        (value, length, count) = (value >> taken, length - taken, count + taken)
      }
    }
  }

  static func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  static func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }

  /// Converts characters below 256, one byte each.
  static func text(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value & 255) } }
}
