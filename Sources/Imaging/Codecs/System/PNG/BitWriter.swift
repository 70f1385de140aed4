import VitrineRuntime

/// Bits that do not fill a byte yet.
struct BitAccumulator {
  var bits: UInt64 = 0
  var count = 0
}

/// A writer of bits, the lowest first (RFC 1951, 3.1.1), into memory that has room for all of them and eight bytes more.
@safe
struct BitWriter {
  /// The byte after those that are complete.
  private(set) var next: UnsafeMutablePointer<UInt8>
  private var bits: UInt64
  private var count: Int

  init(_ output: UnsafeMutablePointer<UInt8>, _ rest: BitAccumulator) {
    unsafe next = output
    (bits, count) = (rest.bits, rest.count)
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
    // Eight bytes are there by the contract of the type.
    unsafe UnsafeMutableRawPointer(next).storeBytes(of: bits.littleEndian, as: UInt64.self)
    unsafe next += count &>> 3
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
  mutating func store(_ bytes: UnsafePointer<UInt8>, _ length: Int) {
    put(UInt32(length) | (~UInt32(length) & 0xFFFF) << 16, 32)
    flush()
    // The caller has as much room.
    unsafe next.update(from: bytes, count: length)
    unsafe next += length
  }

  /// Writes bytes and the end of the block.
  mutating func put(_ bytes: UnsafePointer<UInt8>, _ length: Int, _ code: PrefixCode) {
    var writer = self
    unsafe Self.entries(code).withUnsafeBufferPointer { entries in
      var index = 0
      // `length` bytes, each with an entry.
      while index &+ 4 <= length {
        unsafe writer.put(entries[Int(bytes[index])])
        unsafe writer.put(entries[Int(bytes[index &+ 1])])
        unsafe writer.put(entries[Int(bytes[index &+ 2])])
        unsafe writer.put(entries[Int(bytes[index &+ 3])])
        writer.flush()
        index &+= 4
      }
      while index < length {
        unsafe writer.put(entries[Int(bytes[index])])
        writer.flush()
        index &+= 1
      }
      unsafe writer.put(entries[256])
      writer.flush()
    }
    self = writer
  }

  /// Writes bytes and matches, and the end of the block.
  mutating func put(_ tokens: UnsafePointer<UInt32>, _ length: Int, _ literals: PrefixCode, _ distances: PrefixCode) {
    var writer = self
    let entries = Self.entries(literals)
    // A length with its extra bits: 19 bits at most.
    let lengths = (0...258).map { length -> UInt32 in
      guard length >= 3 else { return 0 }
      let entry = entries[257 + DeflateTables.lengthSymbol[length]]
      let bits = entry >> 8 | UInt32(DeflateTables.lengthRest(length)) << (entry & 0xFF)
      return bits << 8 | (entry & 0xFF) + UInt32(DeflateTables.lengthExtra[length])
    }
    let distanceEntries = Self.entries(distances)
    let bases = DeflateTables.distanceBase.map { UInt32($0) }
    let extras = DeflateTables.distanceExtra
    unsafe entries.withUnsafeBufferPointer { entries in
      unsafe lengths.withUnsafeBufferPointer { lengths in
        unsafe distanceEntries.withUnsafeBufferPointer { distanceEntries in
          unsafe DeflateTables.distanceSymbol.withUnsafeBufferPointer { symbols in
            unsafe bases.withUnsafeBufferPointer { bases in
              unsafe extras.withUnsafeBufferPointer { extras in
                for index in 0..<length {
                  // A token is a byte, or a length from 3 to 258 and a distance from 1 to 32,768.
                  let token = unsafe tokens[index]
                  if token < 65_536 {
                    unsafe writer.put(entries[Int(token)])
                  } else {
                    unsafe writer.put(lengths[Int(token &>> 16)])
                    let distance = token & 0xFFFF
                    let symbol = unsafe Int(symbols[DeflateTables.distanceClass(distance)])
                    unsafe writer.put(distanceEntries[symbol])
                    unsafe writer.put(distance &- bases[symbol], extras[symbol])
                  }
                  writer.flush()
                }
                unsafe writer.put(entries[256])
                writer.flush()
              }
            }
          }
        }
      }
    }
    self = writer
  }

  @inline(__always)
  private mutating func put(_ entry: UInt32) { put(entry &>> 8, Int(entry & 0xFF)) }

  /// The bits of each symbol times 256, plus their number.
  private static func entries(_ code: PrefixCode) -> [UInt32] {
    zip(code.codes, code.lengths).map { UInt32($0) << 8 | UInt32($1) }
  }
}
