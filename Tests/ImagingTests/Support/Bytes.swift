import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

extension [UInt8] {
  static func big16(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
  static func big32(_ value: Int) -> [UInt8] { big16(value >> 16) + big16(value & 0xFFFF) }
  static func little16(_ value: Int) -> [UInt8] { big16(value).reversed() }
  static func little32(_ value: Int) -> [UInt8] { big32(value).reversed() }
  static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
}

/// EXIF with nothing but an orientation (CIPA DC-008).
enum TIFFBlock {
  static func orientation(_ orientation: Int, littleEndian: Bool) -> [UInt8] {
    func two(_ value: Int) -> [UInt8] { littleEndian ? .little16(value) : .big16(value) }
    func four(_ value: Int) -> [UInt8] { littleEndian ? .little32(value) : .big32(value) }
    // Another tag first, and no directory behind this one.
    let other = two(0x0100) + two(3) + four(1) + two(7) + two(0)
    let entry = two(0x0112) + two(3) + four(1) + two(orientation) + two(0)
    return .text(littleEndian ? "II" : "MM") + two(42) + four(8) + two(2) + other + entry + four(0)
  }
}

extension Data {
  /// This JPEG file with a segment put behind its first two bytes.
  func withJPEGSegment(_ marker: UInt8, _ body: [UInt8]) -> Data {
    prefix(2) + Data([0xFF, marker] + .big16(body.count + 2) + body) + dropFirst(2)
  }

  /// This JPEG file with EXIF that says how it is stored.
  func withEXIF(_ orientation: Orientation, littleEndian: Bool = false) -> Data {
    withJPEGSegment(
      0xE1,
      .text("Exif\0\0") + TIFFBlock.orientation(orientation.rawValue, littleEndian: littleEndian),
    )
  }

  /// This PNG file with a chunk put behind its header.
  func withPNGChunk(_ type: String, _ body: [UInt8]) -> Data {
    let headerEnd = 8 + 12 + 13
    return prefix(headerEnd) + Data(PNGFile.chunk(type, body)) + dropFirst(headerEnd)
  }

  /// This file with one byte changed.
  func replacing(_ offset: Int, with byte: UInt8) -> Data {
    var copy = self
    copy[copy.startIndex + offset] = byte
    return copy
  }
}

/// A PNG file made by hand, of any colour type and depth, not compressed.
struct PNGFile {
  enum ColorType: Int { case grey = 0, rgb = 2, palette = 3, greyAlpha = 4, rgba = 6 }

  var width: Int
  var height: Int
  var depth = 8
  var colorType: ColorType
  var palette: [SIMD4<UInt8>] = []
  /// The body of a `tRNS` chunk.
  var transparency: [UInt8] = []
  var isInterlaced = false
  /// The filters of the rows, from 0 to 4, over and over.
  var filters = [0]
  /// The components of one pixel, 0 to 2^depth - 1.
  var samples: (_ x: Int, _ y: Int) -> [Int]

  var data: Data {
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    bytes += Self.chunk(
      "IHDR",
      .big32(width) + .big32(height) + [UInt8(depth), UInt8(colorType.rawValue), 0, 0, isInterlaced ? 1 : 0],
    )
    if !palette.isEmpty { bytes += Self.chunk("PLTE", palette.flatMap { [$0.x, $0.y, $0.z] }) }
    if !transparency.isEmpty { bytes += Self.chunk("tRNS", transparency) }
    bytes += Self.chunk("IDAT", Self.zlib(scanlines)) + Self.chunk("IEND", [])
    return Data(bytes)
  }

  private var scanlines: [UInt8] {
    // x and y of the first pixel, and the steps: Adam7, or all at once.
    let passes =
      isInterlaced
      ? [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
      : [(0, 0, 1, 1)]
    var (bytes, count): ([UInt8], Int) = ([], 0)
    for (startX, startY, stepX, stepY) in passes where startX < width {
      var above: [UInt8] = []
      for y in stride(from: startY, to: height, by: stepY) {
        let line = packed(stride(from: startX, to: width, by: stepX).flatMap { samples($0, y) })
        let filter = filters[count % filters.count]
        bytes += [UInt8(filter)] + filtered(line, above, filter)
        (above, count) = (line, count + 1)
      }
    }
    return bytes
  }

  /// PNG, third edition, 9.2.
  private func filtered(_ line: [UInt8], _ above: [UInt8], _ filter: Int) -> [UInt8] {
    let size = max(1, samples(0, 0).count * depth / 8)
    return line.indices.map { index in
      let up = above.isEmpty ? 0 : Int(above[index])
      let left = index >= size ? Int(line[index - size]) : 0
      let corner = above.isEmpty || index < size ? 0 : Int(above[index - size])
      let guess = left + up - corner
      let nearest = [left, up, corner].min { abs($0 - guess) < abs($1 - guess) }
      return line[index] &- UInt8([0, left, up, (left + up) / 2, nearest ?? 0][filter])
    }
  }

  private func packed(_ line: [Int]) -> [UInt8] {
    if depth == 16 { return line.flatMap { [UInt8].big16($0) } }
    if depth == 8 { return line.map { UInt8($0) } }
    let perByte = 8 / depth
    return stride(from: 0, to: line.count, by: perByte).map { start in
      (0..<perByte).reduce(UInt8(0)) { byte, index in
        let value = start + index < line.count ? line[start + index] : 0
        return byte | UInt8(value) << (8 - depth * (index + 1))
      }
    }
  }

  static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
    let content = .text(type) + body
    return .big32(body.count) + content + .big32(Int(crc(content)))
  }

  /// A zlib stream of stored blocks.
  static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      result += [rest.isEmpty ? 1 : 0] + .little16(block.count) + .little16(~block.count & 0xFFFF) + block
    } while !rest.isEmpty
    var (a, b) = (1, 0)
    for byte in bytes {
      a = (a + Int(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return result + .big16(b) + .big16(a)
  }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
  }
}

/// A GIF file made by hand.
struct GIFFile {
  enum Disposal: Int { case none = 0, keep, background, previous }

  struct Frame {
    var left = 0
    var top = 0
    var width: Int
    var height: Int
    var disposal = Disposal.none
    var transparent: Int?
    /// Hundredths of a second.
    var delay = 10
    var isInterlaced = false
    /// The palette's index of each pixel.
    var index: (_ x: Int, _ y: Int) -> Int
  }

  var width: Int
  var height: Int
  /// Up to eight colours, for all frames.
  var palette: [SIMD4<UInt8>]
  var frames: [Frame]

  var data: Data {
    var bytes: [UInt8] = .text("GIF89a") + .little16(width) + .little16(height) + [0x80 | 2, 0, 0]
    for index in 0..<8 {
      let color = index < palette.count ? palette[index] : SIMD4()
      bytes += [color.x, color.y, color.z]
    }
    for frame in frames {
      let flags = UInt8(frame.disposal.rawValue << 2 | (frame.transparent == nil ? 0 : 1))
      bytes += [0x21, 0xF9, 4, flags] + .little16(frame.delay) + [UInt8(frame.transparent ?? 0), 0]
      bytes += [0x2C] + .little16(frame.left) + .little16(frame.top) + .little16(frame.width) + .little16(frame.height)
      bytes += [frame.isInterlaced ? 0x40 : 0, 3] + Self.subBlocks(Self.codes(frame)) + [0]
    }
    return Data(bytes + [0x3B])
  }

  /// LZW that never uses its table: a clear code comes before codes would become longer than four bits.
  private static func codes(_ frame: Frame) -> [UInt8] {
    let rows =
      frame.isInterlaced
      ? [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: frame.height, by: $1)) }
      : Array(0..<frame.height)
    let indices = rows.flatMap { y in (0..<frame.width).map { frame.index($0, y) } }
    let (clear, end) = (8, 9)
    var codes: [Int] = []
    for (count, index) in indices.enumerated() {
      if count % 4 == 0 { codes.append(clear) }
      codes.append(index)
    }
    codes.append(end)
    if codes.count % 2 == 1 { codes.append(0) }
    return stride(from: 0, to: codes.count, by: 2).map { UInt8(codes[$0] | codes[$0 + 1] << 4) }
  }

  private static func subBlocks(_ bytes: [UInt8]) -> [UInt8] {
    stride(from: 0, to: bytes.count, by: 255).flatMap { start -> [UInt8] in
      let block = bytes[start..<min(start + 255, bytes.count)]
      return [UInt8(block.count)] + block
    }
  }
}

/// An ICC profile with nothing but a description.
enum ICCProfile {
  static func version2(_ name: String) -> [UInt8] {
    profile(.text("desc") + .big32(0) + .big32(name.utf8.count + 1) + .text(name) + [0])
  }

  /// In German first and English second.
  static func version4(german: String, english: String) -> [UInt8] {
    let (first, second) = (utf16(german), utf16(english))
    var tag: [UInt8] = .text("mluc") + .big32(0) + .big32(2) + .big32(12)
    tag += .text("deDE") + .big32(first.count) + .big32(40)
    tag += .text("enUS") + .big32(second.count) + .big32(40 + first.count)
    return profile(tag + first + second)
  }

  private static func utf16(_ text: String) -> [UInt8] { text.utf16.flatMap { [UInt8].big16(Int($0)) } }

  private static func profile(_ description: [UInt8]) -> [UInt8] {
    let size = 128 + 4 + 12 + description.count
    var header = [UInt8](repeating: 0, count: 128)
    header.replaceSubrange(0..<4, with: [UInt8].big32(size))
    header.replaceSubrange(12..<24, with: [UInt8].text("mntrRGB XYZ "))
    header.replaceSubrange(36..<40, with: [UInt8].text("acsp"))
    return header + .big32(1) + .text("desc") + .big32(144) + .big32(description.count) + description
  }
}

extension Bitmap {
  /// Something of every kind: gradients, edges, noise, coverage.
  static func busy(width: Int, height: Int, alpha: Bool) -> Bitmap {
    var generator = SplitMix64(seed: 5)
    return .pixels(width: width, height: height, alpha: alpha ? .straight : .opaque) { x, y in
      let noise = UInt8.random(in: 0...60, using: &generator)
      let edge: UInt8 = (x / 9 + y / 7).isMultiple(of: 2) ? 190 : 10
      let coverage = alpha ? UInt8(min(255, (x * 11 + y * 5) % 400)) : 255
      return SIMD4(edge &+ noise, UInt8(x * 255 / width), UInt8(y * 255 / height), coverage)
    }
  }
}
