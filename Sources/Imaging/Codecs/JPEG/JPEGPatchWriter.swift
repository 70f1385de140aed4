/// Writes a part of a baseline file as a file of its own, with the same coefficients in other codes, so that it
/// decodes to the same samples.
///
/// All files share one set of codes with room for every symbol. That makes the file slightly larger, but it is never
/// stored, and saves a pass.
struct JPEGPatchWriter {
  private(set) var bytes: [UInt8] = []
  private var predictions: [Int]
  private var bits: UInt64 = 0
  private var bitCount = 0

  /// Starts a file of `width` x `height` pixels with the components of `script`.
  init(_ script: JPEGScript, width: Int, height: Int) {
    let components = script.frame.components
    predictions = [Int](repeating: 0, count: components.count)
    bytes = [0xFF, 0xD8]
    switch script.color {
    case .grey: break
    case .ycc: segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
    case .rgb: segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])
    }
    for (index, component) in components.enumerated() {
      segment(0xDB, [0x10 | UInt8(index)] + component.quantization.flatMap { Self.two($0) })
    }
    var frame: [UInt8] = [8] + Self.two(height) + Self.two(width) + [UInt8(components.count)]
    for (index, component) in components.enumerated() {
      frame += [UInt8(index + 1), UInt8(component.columns << 4 | component.rows), UInt8(index)]
    }
    segment(0xC0, frame)
    // Differences: 16 codes of 5 bits. Coefficients: 2 bits for the end of a block, 9 for all others.
    segment(0xC4, [0x00] + Self.counts([5: 16]) + Array(0...15))
    segment(0xC4, [0x10] + Self.counts([2: 1, 9: 255]) + Array(0...255))
    let choices = components.indices.flatMap { [UInt8($0 + 1), UInt8(0)] }
    segment(0xDA, [UInt8(components.count)] + choices + [0, 63, 0])
  }

  /// Appends a block of 64 coefficients in zigzag order.
  ///
  /// Returns `false` if its difference has no code.
  mutating func append(_ block: ArraySlice<Int16>, component: Int) -> Bool {
    let start = block.startIndex
    let difference = Int(block[start]) - predictions[component]
    predictions[component] = Int(block[start])
    let size = Self.size(difference)
    guard size <= 15 else { return false }
    put(size, 5)
    put(difference, extra: size)
    var zeros = 0
    for index in 1..<64 {
      let value = Int(block[start + index])
      guard value != 0 else {
        zeros += 1
        continue
      }
      while zeros > 15 {
        put(symbol: 0xF0)
        zeros -= 16
      }
      let size = Self.size(value)
      put(symbol: zeros << 4 | size)
      put(value, extra: size)
      zeros = 0
    }
    if zeros > 0 { put(symbol: 0) }
    return true
  }

  /// Ends the file.
  mutating func finish() {
    if bitCount > 0 { put(0x7F, 7) }
    bytes += [0xFF, 0xD9]
  }

  private mutating func put(symbol: Int) {
    if symbol == 0 { put(0, 2) } else { put(127 + symbol, 9) }
  }

  private mutating func put(_ value: Int, extra size: Int) {
    guard size > 0 else { return }
    put(value < 0 ? value - 1 : value, size)
  }

  /// Appends the lowest `count` bits, at most 16.
  private mutating func put(_ value: Int, _ count: Int) {
    bits = bits << UInt64(count) | UInt64(truncatingIfNeeded: value & (1 << count - 1))
    bitCount += count
    while bitCount >= 8 {
      let byte = UInt8(truncatingIfNeeded: bits >> UInt64(bitCount - 8))
      bytes.append(byte)
      if byte == 0xFF { bytes.append(0) }
      bitCount -= 8
    }
  }

  private mutating func segment(_ marker: UInt8, _ body: [UInt8]) {
    bytes += [0xFF, marker] + Self.two(body.count + 2) + body
  }

  private static func size(_ value: Int) -> Int { Int.bitWidth - value.magnitude.leadingZeroBitCount }

  private static func two(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }

  private static func counts(_ counts: [Int: UInt8]) -> [UInt8] { (1...16).map { counts[$0] ?? 0 } }
}
