/// The tables in force at a position of a JPEG file (T.81, B.2.4).
struct JPEGTables {
  /// The steps of each quantisation table in zigzag order; empty if the table is not defined.
  private(set) var quantization = [[Int]](repeating: [], count: 4)
  private(set) var differences = [HuffmanTable?](repeating: nil, count: 4)
  private(set) var coefficients = [HuffmanTable?](repeating: nil, count: 4)
  private(set) var restartInterval = 0

  /// Reads a segment that may define tables.
  ///
  /// - Returns: `true` if the segment is understood, or does not affect pixels.
  mutating func read(_ marker: UInt8, _ segment: ByteReader) -> Bool {
    switch marker {
    case 0xDB: return readQuantization(segment)
    case 0xC4: return readHuffman(segment)
    case 0xDD:
      guard segment.count == 2, let interval = segment.bigEndian16(at: 0) else { return false }
      restartInterval = Int(interval)
      return true
    case 0xE0...0xEF, 0xFE: return true
    default: return false
    }
  }

  private mutating func readQuantization(_ segment: ByteReader) -> Bool {
    var offset = 0
    while offset < segment.count {
      guard let head = segment.byte(at: offset), head & 15 < 4, head >> 4 < 2 else { return false }
      let width = Int(head >> 4) + 1
      let steps = (0..<64).compactMap { index in
        width == 1
          ? segment.byte(at: offset + 1 + index).map { Int($0) }
          : segment.bigEndian16(at: offset + 1 + 2 * index).map { Int($0) }
      }
      guard steps.count == 64 else { return false }
      quantization[Int(head & 15)] = steps
      offset += 1 + 64 * width
    }
    return true
  }

  private mutating func readHuffman(_ segment: ByteReader) -> Bool {
    var offset = 0
    while offset < segment.count {
      guard let head = segment.byte(at: offset), head & 15 < 4, head >> 4 < 2 else { return false }
      let counts = segment.slice(offset + 1, 16).copy()
      let total = counts.reduce(0) { $0 + Int($1) }
      guard let table = HuffmanTable(counts: counts, symbols: segment.slice(offset + 17, total).copy()) else {
        return false
      }
      if head >> 4 == 0 {
        guard table.isOfDifferences else { return false }
        differences[Int(head & 15)] = table
      } else {
        coefficients[Int(head & 15)] = table
      }
      offset += 17 + total
    }
    return true
  }
}
