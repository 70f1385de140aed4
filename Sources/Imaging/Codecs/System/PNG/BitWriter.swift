import VitrineRuntime

/// Bits that do not fill a byte yet.
struct BitAccumulator {
  var bits: UInt64 = 0
  var count = 0
}

/// A writer of bits, the lowest first (RFC 1951, 3.1.1), into memory that has room for all of them and eight bytes more.
struct BitWriter {
  private let output: MutableElements<UInt8>
  /// The number of complete bytes, which is never negative: the check of a store is one comparison.
  private var next: UInt32 = 0
  private var bits: UInt64
  private var count: Int

  init(_ output: MutableElements<UInt8>, _ rest: BitAccumulator) {
    (self.output, bits, count) = (output, rest.bits, rest.count)
  }

  /// The number of complete bytes.
  var byteCount: Int { Int(next) }

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
    checkRoom(1)
    flushWithinRoom()
  }

  /// Checks the room for `count` calls of ``flushWithinRoom()``, each of which writes seven bytes at most, and one more.
  private func checkRoom(_ count: Int) {
    precondition(byteCount <= output.count - 8 * count, "no room for the bits")
  }

  /// Writes the complete bytes, for which ``checkRoom(_:)`` has been called.
  @inline(__always)
  private mutating func flushWithinRoom() {
    // In bounds by the line above: a check for each symbol costs PNG 3 % of its time.
    unsafe output.withUnsafeBytes {
      unsafe $0.baseAddress.unsafelyUnwrapped.storeBytes(
        of: bits.littleEndian,
        toByteOffset: byteCount,
        as: UInt64.self,
      )
    }
    next &+= UInt32(truncatingIfNeeded: count &>> 3)
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
    next += UInt32(bytes.count)
  }

  /// Writes bytes and the end of the block.
  mutating func put(_ bytes: Elements<UInt8>, _ code: PrefixCode) {
    let list = Self.entries(code)
    let entries = list.span
    // One for each byte and for the end, so that no look-up needs a check.
    precondition(entries.count == 512)
    var writer = self
    var index = 0
    while index &+ 256 <= bytes.count {
      let part = bytes.extracting(index..<index &+ 256)
      writer.checkRoom(64)
      for place in stride(from: 0, to: 256, by: 4) {
        let four = UInt32(littleEndian: part.load(at: place, as: UInt32.self))
        writer.put(entries[Int(four & 255)])
        writer.put(entries[Int(four &>> 8 & 255)])
        writer.put(entries[Int(four &>> 16 & 255)])
        writer.put(entries[Int(four &>> 24)])
        writer.flushWithinRoom()
      }
      index &+= 256
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
    let lengthList = (0..<512).map { length -> UInt32 in
      guard (3...258).contains(length) else { return 0 }
      let entry = literalList[257 + DeflateTables.lengthSymbol[length]]
      let bits = entry >> 8 | UInt32(DeflateTables.lengthRest(length)) << (entry & 0xFF)
      return bits << 8 | (entry & 0xFF) + UInt32(DeflateTables.lengthExtra[length])
    }
    let distanceList = zip(Self.entries(distances), DeflateTables.distances).map { (entry: $0, distance: $1) }
    let symbolList = DeflateTables.distanceSymbol
    let list = literalList + lengthList
    let (entries, distances, symbols) = (list.span, distanceList.span, symbolList.span)
    // One for each index below, so that no look-up needs a check.
    precondition(entries.count == 1024 && distances.count == 32 && symbols.count == 1024)
    var writer = self
    for start in stride(from: 0, to: tokens.count, by: 64) {
      let part = tokens.extracting(start..<min(start + 64, tokens.count))
      writer.checkRoom(64)
      // Only what the buffer has is read.
      unsafe part.withUnsafeBufferPointer { part in
        for index in 0..<part.count {
          // A token is a byte, or a length from 3 to 258 and a distance from 1 to 32,768.
          let token = unsafe part[index]
          if token < 65_536 {
            writer.put(entries[Int(token & 511)])
          } else {
            writer.put(entries[Int(512 | token &>> 16 & 511)])
            let distance = token & 0xFFFF
            let symbol = distances[Int(symbols[DeflateTables.distanceClass(distance) & 1023] & 31)]
            writer.put(symbol.entry)
            writer.put(distance &- symbol.distance.base, symbol.distance.extra)
          }
          writer.flushWithinRoom()
        }
      }
    }
    writer.put(entries[256])
    writer.flush()
    self = writer
  }

  @inline(__always)
  private mutating func put(_ entry: UInt32) { put(entry &>> 8, Int(entry & 0xFF)) }

  /// The bits of each symbol times 256, plus their number; 512 of them, so that nine bits need no check.
  private static func entries(_ code: PrefixCode) -> [UInt32] {
    let entries = zip(code.codes, code.lengths).map { UInt32($0) << 8 | UInt32($1) }
    return entries + [UInt32](repeating: 0, count: 512 - entries.count)
  }
}
