import VitrineImaging
import VitrineRuntime

/// The size of the largest picture that a HEIC file contains, as the codec says it: the container may say anything.
///
/// Boxes are those of ISO/IEC 14496-12 and 23008-12, the parameter sets those of ITU-T H.265, sections 7.3.2.2 and 7.3.3.
struct CodedSize {
  /// In pixels; 0 if no parameter set can be read.
  private(set) var (width, height) = (0, 0)
  /// The number of coded pictures.
  private var count = 0
  /// True if a picture is put together from tiles.
  private var isGrid = false
  /// True if a picture is derived in another way, which may give it any size.
  private var isDerived = false

  /// The maximum number of boxes to look at.
  private static let boxLimit = 10_000

  init(_ file: ByteReader) {
    var boxes = Self.boxLimit
    Self.forEach(in: file, from: 0, &boxes) { name, body, boxes in
      guard name == "meta" else { return }
      // Behind the version and flags.
      Self.forEach(in: body, from: 4, &boxes) { name, body, boxes in
        if name == "iprp" {
          Self.forEach(in: body, from: 0, &boxes) { name, body, boxes in
            guard name == "ipco" else { return }
            Self.forEach(in: body, from: 0, &boxes) { name, body, _ in if name == "hvcC" { add(configuration: body) } }
          }
        } else if name == "iinf" {
          let count = body.byte(at: 0) == 0 ? 2 : 4
          Self.forEach(in: body, from: 4 + count, &boxes) { _, body, _ in
            // The type follows a number of two bytes, or of four, and one of two.
            let type = body.byte(at: 0) == 3 ? 10 : 8
            switch body.ascii(at: type, count: 4) {
            case "hvc1": self.count += 1
            case "grid": isGrid = true
            case "iovl", "iden": isDerived = true
            default: break
            }
          }
        }
      }
    }
  }

  /// Returns true if a picture of this size, upright or not, cannot be in the file.
  func isExceeded(by width: Int, _ height: Int) -> Bool {
    guard self.width > 0, self.height > 0, !isDerived else { return false }
    let pixels = self.width.multipliedSaturating(by: self.height)
    if isGrid { return width.multipliedSaturating(by: height) > pixels.multipliedSaturating(by: count) }
    return max(width, height) > max(self.width, self.height) || min(width, height) > min(self.width, self.height)
  }

  private static func forEach(
    in parent: ByteReader,
    from start: Int,
    _ boxes: inout Int,
    _ body: (String, ByteReader, inout Int) -> Void,
  ) {
    var offset = start
    while boxes > 0, let size = parent.bigEndian32(at: offset).map(Int.init), size >= 8,
      let name = parent.ascii(at: offset + 4, count: 4)
    {
      boxes -= 1
      body(name, parent.slice(offset + 8, size - 8), &boxes)
      offset += size
    }
  }

  /// Reads an `HEVCDecoderConfigurationRecord`.
  private mutating func add(configuration: ByteReader) {
    guard let arrays = configuration.byte(at: 22) else { return }
    var offset = 23
    for _ in 0..<arrays {
      guard let type = configuration.byte(at: offset), let count = configuration.bigEndian16(at: offset + 1) else {
        return
      }
      offset += 3
      for _ in 0..<count {
        guard let length = configuration.bigEndian16(at: offset) else { return }
        // A sequence parameter set.
        if type & 0x3F == 33 { add(set: configuration.slice(offset + 2, Int(length))) }
        offset += 2 + Int(length)
      }
    }
  }

  private mutating func add(set: ByteReader) {
    guard let size = SequenceBits(set).size else { return }
    // A file may have several, in either orientation.
    let (longer, shorter) = (max(size.width, size.height), min(size.width, size.height))
    (width, height) = (max(width, longer), max(height, shorter))
  }
}

/// The bits of a sequence parameter set.
private struct SequenceBits {
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
