import VitrineRuntime

/// The codes of one Huffman table (ITU-T T.81, annex C), with look-up tables over the next 12 bits, each built on
/// first use.
///
/// Codes of more than 12 bits, rare by construction, are found by comparing lengths.
final class HuffmanTable {
  static let lookupBits = 12
  /// The reach of a look-up that does not apply.
  static let noReach = 64
  /// The reach of the end of a block: it counts as a coefficient, so that none follows the last one.
  static let endOfBlock = 129

  private let symbols: [UInt8]
  /// For each length the first 16 bits that do not begin with a code of that length or a shorter one.
  private let ends: [Int]
  /// For each length the offset from a code to the index of its symbol.
  private let offsets: [Int]

  /// Makes a table from the number of codes of each length from 1 to 16; returns `nil` if they do not form one.
  init?(counts: [UInt8], symbols: [UInt8]) {
    guard counts.count == 16, symbols.count == counts.reduce(0, { $0 + Int($1) }), symbols.count <= 256 else {
      return nil
    }
    self.symbols = symbols
    var ends = [Int](repeating: 0, count: 17)
    var offsets = ends
    var code = 0
    var index = 0
    for length in 1...16 {
      let count = Int(counts[length - 1])
      offsets[length] = index - code
      code += count
      index += count
      // A code of only ones is forbidden.
      guard count == 0 || code < 1 << length else { return nil }
      ends[length] = code << (16 - length)
      code <<= 1
    }
    (self.ends, self.offsets) = (ends, offsets)
  }

  /// True if every symbol is a valid number of bits for a difference of DC coefficients.
  var isOfDifferences: Bool { symbols.allSatisfy { $0 <= 15 } }

  /// Returns the code at the start of the 16 bits `window`: its length plus its symbol times 256; 0 if there is none.
  @inline(never)
  func code(at window: Int) -> Int {
    for length in 1...16 where window < ends[length] {
      return length | Int(symbols[(window >> (16 - length)) + offsets[length]]) << 8
    }
    return 0
  }

  /// As ``code(at:)``, for codes of up to 12 bits; 0 for longer ones.
  private(set) lazy var codes: Lookup<WindowIndex, UInt16> = {
    // Codes are consecutive numbers within a length, and from one length to the next.
    var entries: [UInt16] = []
    entries.reserveCapacity(1 << Self.lookupBits)
    var index = 0
    for length in 1...Self.lookupBits {
      while index < symbols.count, index < ends[length] >> (16 - length) + offsets[length] {
        let entry = UInt16(length) | UInt16(symbols[index]) << 8
        entries.append(contentsOf: repeatElement(entry, count: 1 << (Self.lookupBits - length)))
        index += 1
      }
    }
    return Lookup { window in window < entries.count ? entries[window] : 0 }
  }()

  /// Differences of DC coefficients with their code: total bits plus the difference times 16; 0 if that is more than
  /// 12 bits.
  private(set) lazy var differences: Lookup<WindowIndex, Int16> = {
    let codes = codes
    return Lookup { window in
      let code = Int(codes[window])
      let (length, size) = (code & 255, code >> 8)
      guard length > 0, length + size <= Self.lookupBits else { return 0 }
      // At most 11 bits are left for the difference.
      return Int16(length + size | Self.value(window, after: length, size: size) << 4)
    }
  }()

  /// AC coefficients with their code: total bits, plus 64 times the reach, plus the coefficient times 65,536.
  ///
  /// The reach is the distance from the previous coefficient, with ``endOfBlock`` more if the block ends after it;
  /// ``noReach`` if that is more than 12 bits. For indices of at most 62, a sum with a reach has the bit ``noReach`` if
  /// and only if it goes beyond the block.
  private(set) lazy var coefficients = coefficients(runsOfBlocks: false, none: Self.noReach << 6) { symbol in
    symbol.length | (symbol.distance + (symbol.isEnd ? Self.endOfBlock : 0)) << 6 | symbol.value << 16
  }

  /// AC coefficients of progressive scans: total bits, plus 32 times the distance from the previous coefficient, plus
  /// 0x8000 if the block ends after it, plus the coefficient times 65,536; 0 if that is more than 12 bits.
  ///
  /// Only a single end of block is decoded here, not runs of them.
  private(set) lazy var progressiveCoefficients = coefficients(runsOfBlocks: true, none: 0) { symbol in
    symbol.length | symbol.distance << 5 | (symbol.isEnd ? 0x8000 : 0) | symbol.value << 16
  }

  /// The AC coefficients that begin within 12 bits, to skip: total bits, plus 64 times their reach, as in
  /// ``coefficients``.
  private(set) lazy var skips: Lookup<WindowIndex, UInt16> = {
    let codes = codes
    return Lookup { window in
      var (used, advance, end) = (0, 0, 0)
      while used < Self.lookupBits {
        let code = Int(codes[window << used])
        let (length, run, size) = (code & 255, code >> 12, code >> 8 & 15)
        guard length > 0, used + length <= Self.lookupBits else { break }
        if size == 0, run != 15 {
          used += length
          end = Self.endOfBlock
          break
        }
        guard advance + run + 1 <= 62 else { break }
        used += length + size
        advance += run + 1
      }
      return UInt16(used == 0 ? Self.noReach << 6 : used | (advance + end) << 6)
    }
  }()

  /// A coefficient, or none, and whether the block ends after it.
  private struct Symbol {
    var length: Int
    var distance = 0
    var value = 0
    var isEnd = false
  }

  private func coefficients(runsOfBlocks: Bool, none: Int, _ entry: (Symbol) -> Int) -> Lookup<WindowIndex, Int32> {
    let codes = codes
    return Lookup { window in
      let code = Int(codes[window])
      let (length, run, size) = (code & 255, code >> 12, code >> 8 & 15)
      var symbol = Symbol(length: length + size)
      guard length > 0, symbol.length <= Self.lookupBits else { return Int32(none) }
      guard size > 0 else {
        if run != 15, runsOfBlocks, run > 0 { return Int32(none) }
        (symbol.distance, symbol.isEnd) = run == 15 ? (16, false) : (0, true)
        return Int32(entry(symbol))
      }
      (symbol.distance, symbol.value) = (run + 1, Self.value(window, after: length, size: size))
      let next = Int(codes[window << symbol.length])
      let isEnd = next >> 8 == 0 || (!runsOfBlocks && next >> 8 & 15 == 0 && next >> 12 != 15)
      if next & 255 > 0, symbol.length + next & 255 <= Self.lookupBits, isEnd {
        symbol.length += next & 255
        symbol.isEnd = true
      }
      return Int32(entry(symbol))
    }
  }

  private static func value(_ window: Int, after length: Int, size: Int) -> Int {
    guard size > 0 else { return 0 }
    return extended(window >> (lookupBits - length - size) & (1 << size - 1), size: size)
  }

  /// Converts `size` bits to a signed number (T.81, F.2.2.1): a number that begins with 0 is negative.
  @inline(__always)
  static func extended(_ bits: Int, size: Int) -> Int {
    bits < 1 &<< (size &- 1) ? bits &- (1 &<< size) &+ 1 : bits
  }
}
