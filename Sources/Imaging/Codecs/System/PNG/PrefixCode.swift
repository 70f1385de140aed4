/// A canonical prefix code of the fewest bits, with codes of bounded length (RFC 1951, 3.2.2).
struct PrefixCode {
  /// The number of bits of each symbol; 0 for a symbol that does not occur.
  private(set) var lengths: [UInt8]
  /// The bits of each symbol, the first one lowest.
  private(set) var codes: [UInt16]

  /// Makes the code for frequencies, which add up to less than 2^22.
  init(_ frequencies: [UInt32], limit: Int) {
    lengths = Self.lengths(frequencies, limit: limit)
    codes = [UInt16](repeating: 0, count: lengths.count)
    var counts = [Int](repeating: 0, count: 16)
    for length in lengths where length > 0 { counts[Int(length)] += 1 }
    var next = [UInt16](repeating: 0, count: 16)
    for length in 1..<16 { next[length] = (next[length - 1] + UInt16(counts[length - 1])) << 1 }
    for (symbol, length) in lengths.enumerated() where length > 0 {
      codes[symbol] = Self.reversed(next[Int(length)], Int(length))
      next[Int(length)] += 1
    }
  }

  /// Returns the number of bits of symbols with these frequencies.
  func cost(of frequencies: [UInt32]) -> Int {
    zip(frequencies, lengths).reduce(0) { $0 + Int($1.0) * Int($1.1) }
  }

  /// Returns the code with its bits in the opposite order.
  private static func reversed(_ code: UInt16, _ length: Int) -> UInt16 {
    var bits = code
    bits = (bits & 0x5555) << 1 | (bits & 0xAAAA) >> 1
    bits = (bits & 0x3333) << 2 | (bits & 0xCCCC) >> 2
    bits = (bits & 0x0F0F) << 4 | (bits & 0xF0F0) >> 4
    return bits.byteSwapped >> (16 - UInt16(length))
  }

  /// Lengths by Moffat and Katajainen, "In-Place Calculation of Minimum-Redundancy Codes", 1995; then those beyond
  /// the limit are shortened, for which others grow.
  private static func lengths(_ frequencies: [UInt32], limit: Int) -> [UInt8] {
    var lengths = [UInt8](repeating: 0, count: frequencies.count)
    // The frequency above the symbol, so that one number is sorted.
    var sorted = frequencies.indices.filter { frequencies[$0] > 0 }.map { frequencies[$0] << 10 | UInt32($0) }
    sorted.sort()
    guard sorted.count > 1 else {
      // One symbol still needs a bit.
      for entry in sorted { lengths[Int(entry & 1023)] = 1 }
      return lengths
    }
    var counts = lengthCounts(sorted.map { Int($0 >> 10) })
    shorten(&counts, limit: limit)
    var index = sorted.count
    for length in 1...limit {
      for _ in 0..<counts[length] {
        index -= 1
        lengths[Int(sorted[index] & 1023)] = UInt8(length)
      }
    }
    return lengths
  }

  /// Returns how many codes have each length, for weights in ascending order.
  private static func lengthCounts(_ weights: [Int]) -> [Int] {
    // First the weights of the inner nodes, which leave only their parents' places behind.
    var nodes = weights
    let count = nodes.count
    var (leaf, root) = (2, 0)
    nodes[0] += nodes[1]
    for next in 1..<count - 1 {
      var sum = 0
      for _ in 0..<2 {
        if leaf >= count || (root < next && nodes[root] < nodes[leaf]) {
          sum += nodes[root]
          nodes[root] = next
          root += 1
        } else {
          sum += nodes[leaf]
          leaf += 1
        }
      }
      nodes[next] = sum
    }
    // Then their depths.
    nodes[count - 2] = 0
    for node in stride(from: count - 3, through: 0, by: -1) { nodes[node] = nodes[nodes[node]] + 1 }
    // Then the leaves, as many at each depth as the inner nodes leave places for.
    var counts = [Int](repeating: 0, count: count + 1)
    var (places, depth, node) = (1, 0, count - 2)
    while places > 0 {
      var used = 0
      while node >= 0, nodes[node] == depth {
        used += 1
        node -= 1
      }
      counts[depth] = places - used
      places = 2 * used
      depth += 1
    }
    return counts
  }

  /// Moves codes beyond the limit to it, and makes up for that with the longest ones below it.
  private static func shorten(_ counts: inout [Int], limit: Int) {
    guard counts.count > limit + 1 else {
      counts += [Int](repeating: 0, count: limit + 1 - counts.count)
      return
    }
    counts[limit] += counts[(limit + 1)...].reduce(0, +)
    var space = (1...limit).reduce(0) { $0 + counts[$1] << (limit - $1) }
    while space > 1 << limit {
      guard let length = (1..<limit).last(where: { counts[$0] > 0 }) else { return }
      counts[limit] -= 1
      counts[length] -= 1
      counts[length + 1] += 2
      space -= 1
    }
  }
}

/// The header of a block with codes of its own (RFC 1951, 3.2.7).
struct BlockHeader {
  /// Bits and their number, in order.
  private(set) var fields: [(bits: UInt32, count: Int)] = []

  /// Makes the header that describes the codes.
  init(_ literals: PrefixCode, _ distances: PrefixCode, isLast: Bool) {
    let literalCount = max(257, (literals.lengths.lastIndex { $0 > 0 } ?? 0) + 1)
    let distanceCount = max(1, (distances.lengths.lastIndex { $0 > 0 } ?? 0) + 1)
    let runs = Self.runs(literals.lengths[..<literalCount] + distances.lengths[..<distanceCount])
    var frequencies = [UInt32](repeating: 0, count: 19)
    for run in runs { frequencies[run.symbol] += 1 }
    let code = PrefixCode(frequencies, limit: 7)
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    let codeCount = max(4, (order.lastIndex { code.lengths[$0] > 0 } ?? 0) + 1)
    fields = [(isLast ? 1 : 0, 1), (2, 2)]
    fields += [(UInt32(literalCount - 257), 5), (UInt32(distanceCount - 1), 5), (UInt32(codeCount - 4), 4)]
    fields += order[..<codeCount].map { (UInt32(code.lengths[$0]), 3) }
    for run in runs {
      fields.append((UInt32(code.codes[run.symbol]), Int(code.lengths[run.symbol])))
      if run.symbol >= 16 { fields.append((UInt32(run.extra), [2, 3, 7][run.symbol - 16])) }
    }
  }

  var bitCount: Int { fields.reduce(0) { $0 + $1.count } }

  /// Lengths with their repetitions: 16 repeats the last length 3 to 6 times, 17 and 18 are 3 to 138 zeros.
  private static func runs(_ lengths: some Collection<UInt8>) -> [(symbol: Int, extra: Int)] {
    var runs: [(symbol: Int, extra: Int)] = []
    var rest = lengths[...]
    while let length = rest.first {
      var count = rest.prefix { $0 == length }.count
      rest = rest.dropFirst(count)
      if length == 0 {
        while count >= 11 {
          let taken = min(count, 138)
          runs.append((18, taken - 11))
          count -= taken
        }
        if count >= 3 {
          runs.append((17, count - 3))
          count = 0
        }
      } else {
        runs.append((Int(length), 0))
        count -= 1
        while count >= 3 {
          let taken = min(count, 6)
          runs.append((16, taken - 3))
          count -= taken
        }
      }
      for _ in 0..<count { runs.append((Int(length), 0)) }
    }
    return runs
  }
}
