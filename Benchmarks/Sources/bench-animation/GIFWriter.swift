import Foundation

/// Writes animated GIFs (GIF89a), compressed as usual, for frames that one thinks of.
struct GIFWriter {
  let width: Int
  let height: Int
  private(set) var data = Data("GIF89a".utf8)

  /// Begins a file that loops for ever, with 256 colours of a gradient, the last of which stands for transparency.
  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    append(width, height)
    data += [0xF7, 0, 0]
    for index in 0..<256 {
      data += [UInt8(index), UInt8((index * 3) & 255), UInt8(255 - index)]
    }
    data += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
  }

  private mutating func append(_ numbers: Int...) {
    for number in numbers { data += [UInt8(number & 255), UInt8(number >> 8)] }
  }

  /// Adds a frame of 0.04 s over those before it; index 255 keeps what is below.
  mutating func add(_ pixel: (_ x: Int, _ y: Int) -> UInt8) {
    data += [0x21, 0xF9, 4, 1 | 1 << 2, 4, 0, 255, 0, 0x2C]
    append(0, 0, width, height)
    data += [0, 8]
    var pixels: [UInt8] = []
    pixels.reserveCapacity(width * height)
    for y in 0..<height {
      for x in 0..<width { pixels.append(pixel(x, y)) }
    }
    let codes = Self.compressed(pixels)
    var start = 0
    while start < codes.count {
      let block = codes[start..<min(start + 255, codes.count)]
      data += [UInt8(block.count)] + block
      start += block.count
    }
    data.append(0)
  }

  /// Ends the file.
  mutating func end() { data.append(0x3B) }

  /// LZW of 8-bit symbols (GIF89a, appendix F).
  private static func compressed(_ pixels: [UInt8]) -> [UInt8] {
    let (clear, end) = (256, 257)
    var output: [UInt8] = []
    var (bits, bitCount) = (0, 0)
    func put(_ code: Int, _ width: Int) {
      bits |= code << bitCount
      bitCount += width
      while bitCount >= 8 {
        output.append(UInt8(bits & 255))
        bits >>= 8
        bitCount -= 8
      }
    }
    var table: [Int: Int] = [:]
    var (next, width) = (258, 9)
    put(clear, width)
    var prefix = Int(pixels[0])
    for pixel in pixels.dropFirst() {
      let key = prefix << 8 | Int(pixel)
      if let known = table[key] {
        prefix = known
        continue
      }
      put(prefix, width)
      if next < 4096 {
        table[key] = next
        if next == 1 << width, width < 12 { width += 1 }
        next += 1
      } else {
        put(clear, width)
        table.removeAll(keepingCapacity: true)
        (next, width) = (258, 9)
      }
      prefix = Int(pixel)
    }
    put(prefix, width)
    put(end, width)
    if bitCount > 0 { output.append(UInt8(bits & 255)) }
    return output
  }
}
