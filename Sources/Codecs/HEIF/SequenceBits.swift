import VitrineImaging
import VitrineRuntime

/// The bits of a sequence parameter set (ITU-T H.265, section 7.3.2.2).
struct SequenceBits {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ unit: ByteReader) {
    var bytes: [UInt8] = []
    var zeros = 0
    // The size is at the beginning; behind two zeros, a byte of 3 is not part of the set.
    for offset in 2..<max(2, min(unit.count, 256)) {
      let byte = unit.byte(at: offset) ?? 0
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
    self.bytes = bytes
  }

  /// The size of a coded picture, before cropping.
  var size: (width: Int, height: Int)? {
    var bits = self
    bits.skip(4)
    guard let layers = bits.read(3) else { return nil }
    // The flag of nesting, and the profile, tier and level of all layers.
    bits.skip(1 + 96)
    var extra = 0
    for _ in 0..<layers {
      extra += (bits.read(1) == 1 ? 88 : 0) + (bits.read(1) == 1 ? 8 : 0)
    }
    if layers > 0 { bits.skip(2 * (8 - layers)) }
    bits.skip(extra)
    guard bits.number() != nil, let chroma = bits.number() else { return nil }
    if chroma == 3 { bits.skip(1) }
    guard let width = bits.number(), let height = bits.number(), width > 0, height > 0 else { return nil }
    return (width, height)
  }

  private mutating func skip(_ count: Int) { offset += count }

  private mutating func read(_ count: Int) -> Int? {
    guard count <= 32, offset + count <= bytes.count * 8 else { return nil }
    var value = 0
    for _ in 0..<count {
      value = value << 1 | Int(bytes[offset / 8] >> UInt8(7 - offset % 8) & 1)
      offset += 1
    }
    return value
  }

  /// Reads an Exp-Golomb code (H.265, section 9.2).
  private mutating func number() -> Int? {
    var zeros = 0
    while let bit = read(1), bit == 0 {
      zeros += 1
      guard zeros <= 31 else { return nil }
    }
    return read(zeros).map { (1 << zeros) - 1 + $0 }
  }
}
