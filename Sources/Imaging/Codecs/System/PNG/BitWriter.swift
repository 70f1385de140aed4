import VitrineRuntime

/// Bits that do not fill a byte yet.
struct BitAccumulator {
  var bits: UInt64 = 0
  var count = 0
}

/// A writer of bits, the lowest first (RFC 1951, 3.1.1), into memory that has room for all of them and eight bytes more.
struct BitWriter {
  private let output: MutableElements<UInt8>
  /// The number of complete bytes.
  private(set) var byteCount = 0
  private var bits: UInt64
  private var count: Int

  init(_ output: MutableElements<UInt8>, _ rest: BitAccumulator) {
    (self.output, bits, count) = (output, rest.bits, rest.count)
  }

  /// What is left after ``flush()``: fewer than eight bits.
  var rest: BitAccumulator { BitAccumulator(bits: bits, count: count) }

  /// Adds bits; 56 at most fit between two calls of ``flush()``.
  @inline(__always)
  mutating func put(_ value: UInt32, _ length: Int) {
    bits |= UInt64(value) &<< UInt64(truncatingIfNeeded: count)
    count &+= length
  }

  /// Writes the complete bytes.
  @inline(__always)
  mutating func flush() {
    output.store(bits.littleEndian, at: byteCount)
    byteCount &+= count &>> 3
    bits &>>= UInt64(truncatingIfNeeded: count & 56)
    count &= 7
  }

  /// Fills the last byte with zeros.
  mutating func pad() {
    flush()
    if count > 0 { count = 8 }
    flush()
  }

  mutating func put(_ header: BlockHeader) {
    for field in header.fields {
      put(field.bits, field.count)
      flush()
    }
  }

  /// Writes the length and the bytes of a stored block (RFC 1951, 3.2.4).
  mutating func store(_ bytes: Elements<UInt8>) {
    put(UInt32(bytes.count) | (~UInt32(bytes.count) & 0xFFFF) << 16, 32)
    flush()
    output.extracting(byteCount..<output.count).update(from: bytes)
    byteCount += bytes.count
  }

  /// Writes bytes and the end of the block.
  mutating func put(_ bytes: Elements<UInt8>, _ code: PrefixCode) {
    let list = Self.entries(code)
    let entries = list.span
    // One for each byte and for the end, so that no look-up needs a check.
    precondition(entries.count > 256)
    var writer = self
    var index = 0
    while index &+ 4 <= bytes.count {
      let four = bytes.four(at: index)
      writer.put(entries[Int(four.x)])
      writer.put(entries[Int(four.y)])
      writer.put(entries[Int(four.z)])
      writer.put(entries[Int(four.w)])
      writer.flush()
      index &+= 4
    }
    while index < bytes.count {
      writer.put(entries[Int(bytes[index])])
      writer.flush()
      index &+= 1
    }
    writer.put(entries[256])
    writer.flush()
    self = writer
  }

  /// Writes bytes and matches, and the end of the block.
  mutating func put(_ tokens: Elements<UInt32>, _ literals: PrefixCode, _ distances: PrefixCode) {
    let literalList = Self.entries(literals)
    // A length with its extra bits: 19 bits at most.
    let lengthList = (0...258).map { length -> UInt32 in
      guard length >= 3 else { return 0 }
      let entry = literalList[257 + DeflateTables.lengthSymbol[length]]
      let bits = entry >> 8 | UInt32(DeflateTables.lengthRest(length)) << (entry & 0xFF)
      return bits << 8 | (entry & 0xFF) + UInt32(DeflateTables.lengthExtra[length])
    }
    let distanceList = zip(Self.entries(distances), DeflateTables.distances).map { (entry: $0, distance: $1) }
    let symbolList = DeflateTables.distanceSymbol
    let (entries, lengths, distances, symbols) = (
      literalList.span, lengthList.span, distanceList.span, symbolList.span,
    )
    var writer = self
    for index in tokens.indices {
      // A token is a byte, or a length from 3 to 258 and a distance from 1 to 32,768.
      let token = tokens[index]
      if token < 65_536 {
        writer.put(entries[Int(token)])
      } else {
        writer.put(lengths[Int(token &>> 16)])
        let distance = token & 0xFFFF
        let symbol = distances[Int(symbols[DeflateTables.distanceClass(distance)])]
        writer.put(symbol.entry)
        writer.put(distance &- symbol.distance.base, symbol.distance.extra)
      }
      writer.flush()
    }
    writer.put(entries[256])
    writer.flush()
    self = writer
  }

  @inline(__always)
  private mutating func put(_ entry: UInt32) { put(entry &>> 8, Int(entry & 0xFF)) }

  /// The bits of each symbol times 256, plus their number.
  private static func entries(_ code: PrefixCode) -> [UInt32] {
    zip(code.codes, code.lengths).map { UInt32($0) << 8 | UInt32($1) }
  }
}
