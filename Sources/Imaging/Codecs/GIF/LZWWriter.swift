/// Compresses indices as GIF has it (GIF89a specification, appendix F).
struct LZWWriter: ~Copyable {
  private static let longest = 12
  private static let slotCount = 1 << 14

  private let minimumSize: Int
  private var size: Int
  /// The code of the next string.
  private var next: Int
  /// The code of what was read and not yet written; -1 for nothing.
  private var prefix = -1
  private var bits: UInt64 = 0
  private var bitCount = 0
  /// The bytes in the block that is not yet full, with its length in front.
  private var block: [UInt8] = [0]
  private var blocks: [UInt8] = []

  // An entry is a prefix, the index behind it and the code of both: 12, 8 and 12 bits. 0 is free, because no string has
  // code 0.
  private let table = OwnedElements<UInt32>(repeating: 0, count: slotCount)

  /// Begins with indices below 2^`bits`, 1 to 8 of them.
  init(bits: Int) {
    precondition((1...8).contains(bits))
    // The specification wants at least 2, since codes of two colours would be too short.
    minimumSize = max(2, bits)
    size = minimumSize + 1
    next = (1 << minimumSize) + 2
    blocks.append(UInt8(minimumSize))
    write(clear)
  }

  private var clear: Int { 1 << minimumSize }

  /// Compresses indices, each below 2^`bits`.
  mutating func append(_ indices: Elements<UInt8>) {
    guard indices.count > 0 else { return }
    let table = table.elements
    // As many as the mask below leaves, so that no look-up needs a check.
    precondition(table.count == Self.slotCount)
    var (prefix, start) = prefix < 0 ? (Int(indices[0]), 1) : (prefix, 0)
    while start < indices.count {
      let index = Int(indices[start])
      start &+= 1
      let key = UInt32(truncatingIfNeeded: prefix << 8 | index)
      var slot = Int((key &* 0x9E37_79B1) >> 18)
      var entry: UInt32
      // Three quarters of the table are free.
      while true {
        entry = table[slot]
        if entry == 0 || entry >> 12 == key { break }
        slot = (slot &+ 1) & (Self.slotCount &- 1)
      }
      if entry != 0 {
        prefix = Int(entry & 4095)
        continue
      }
      write(prefix)
      prefix = index
      table[slot] = key << 12 | UInt32(truncatingIfNeeded: next)
      add()
    }
    self.prefix = prefix
  }

  /// Counts the string that was added; the reader knows it one code later.
  @inline(__always)
  private mutating func add() {
    if next == 1 << size { size += 1 }
    next += 1
    guard next > 4095 else { return }
    write(clear)
    table.elements.update(repeating: 0)
    size = minimumSize + 1
    next = clear + 2
  }

  @inline(__always)
  private mutating func write(_ code: Int) {
    bits |= UInt64(truncatingIfNeeded: code) << UInt64(bitCount)
    bitCount &+= size
    while bitCount >= 8 {
      put(UInt8(truncatingIfNeeded: bits))
      bits >>= 8
      bitCount &-= 8
    }
  }

  @inline(__always)
  private mutating func put(_ byte: UInt8) {
    block.append(byte)
    if block.count == 256 { flush() }
  }

  private mutating func flush() {
    guard block.count > 1 else { return }
    block[0] = UInt8(block.count - 1)
    blocks += block
    block.removeSubrange(1...)
  }

  /// Ends the picture, and returns the code size and the blocks, with the empty one that ends them.
  mutating func finish() -> [UInt8] {
    if prefix >= 0 { write(prefix) }
    // The reader adds a string for the last code, too.
    if next == 1 << size, size < Self.longest { size += 1 }
    write(1 << minimumSize + 1)
    if bitCount > 0 { put(UInt8(truncatingIfNeeded: bits)) }
    flush()
    blocks.append(0)
    return blocks
  }
}
