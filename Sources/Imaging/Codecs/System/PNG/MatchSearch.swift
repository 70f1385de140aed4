import VitrineRuntime

/// The numbers of bits that symbols are expected to take, in sixteenths of a bit.
struct DeflateCosts {
  /// By byte.
  var literals = [UInt32](repeating: 0, count: 256)
  /// By length, with the extra bits; 512, so that nine bits need no check.
  var lengths: [UInt32]
  /// By ``DeflateTables/distanceClass(_:)``, with the extra bits; no distance costs too much.
  var distances: [UInt32]

  /// What a block of a photograph takes before any block has been measured.
  init() {
    lengths = (0..<512).map { length -> UInt32 in
      guard (3...258).contains(length) else { return 0 }
      let bits = 2 + 2 * DeflateTables.lengthExtra[length] + DeflateTables.lengthSymbol[length]
      return UInt32(8 * bits)
    }
    distances = [UInt32](repeating: 0, count: DeflateTables.distanceClassCount)
    setDistances((0..<30).map { UInt32(32 + 16 * DeflateTables.distanceExtra[$0]) })
  }

  private mutating func setDistances(_ costs: [UInt32]) {
    for index in distances.indices { distances[index] = costs[Int(DeflateTables.distanceSymbol[index])] }
    distances[0] = 1 << 24
  }

  /// Takes the bytes' frequencies as their costs, and as much of those of the block before.
  mutating func setLiterals(_ frequencies: [UInt32], count: Int, before: PrefixCode?) {
    let whole = Self.logarithm(UInt32(count))
    for byte in 0..<256 {
      let cost = frequencies[byte] == 0 ? 192 : min(whole - Self.logarithm(frequencies[byte]), 224)
      guard let before else {
        literals[byte] = cost
        continue
      }
      let old = before.lengths[byte]
      literals[byte] = (cost + (old == 0 ? 224 : 16 * UInt32(old))) / 2
    }
  }

  /// Moves the costs of matches halfway to the costs of a measured block.
  mutating func learn(_ literals: PrefixCode, _ distances: PrefixCode) {
    for length in 3...258 {
      let symbol = 257 + DeflateTables.lengthSymbol[length]
      let bits = Int(literals.lengths[symbol])
      lengths[length] =
        (lengths[length] + UInt32(16 * ((bits == 0 ? 13 : bits) + DeflateTables.lengthExtra[length]))) / 2
    }
    let old = (0..<30).map { self.distances[DeflateTables.distanceClass(UInt32(DeflateTables.distanceBase[$0]))] }
    setDistances(
      (0..<30).map { symbol in
        let bits = Int(distances.lengths[symbol])
        return (old[symbol] + UInt32(16 * ((bits == 0 ? 9 : bits) + DeflateTables.distanceExtra[symbol]))) / 2
      }
    )
  }

  /// Returns the logarithm to the base 2 in sixteenths, in integers so that every processor has the same.
  static func logarithm(_ number: UInt32) -> UInt32 {
    guard number > 1 else { return 0 }
    let whole = UInt32(31 - number.leadingZeroBitCount)
    // From 2^31 to 2^32; each square doubles the logarithm, whose next bit is the overflow.
    var mantissa = UInt64(number) << UInt64(31 - whole)
    var bits = whole
    for _ in 0..<4 {
      mantissa = (mantissa * mantissa) >> 31
      bits <<= 1
      if mantissa >> 32 != 0 {
        bits |= 1
        mantissa >>= 1
      }
    }
    return bits
  }
}

/// The symbols of lengths and distances (RFC 1951, 3.2.5).
enum DeflateTables {
  private static let lengthBase = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  /// The symbol of each length, from 0 up.
  static let lengthSymbol: [Int] = (0...258).map { length in
    lengthBase.lastIndex { $0 <= length } ?? 0
  }
  /// The number of extra bits of each length.
  static let lengthExtra: [Int] = lengthSymbol.map { $0 < 8 || $0 == 28 ? 0 : $0 / 4 - 1 }
  /// What the extra bits of a length say.
  static func lengthRest(_ length: Int) -> Int { length - lengthBase[lengthSymbol[length]] }

  /// The number of extra bits of each distance symbol.
  static let distanceExtra: [Int] = (0..<30).map { max(0, $0 / 2 - 1) }
  /// The smallest distance of each symbol.
  static let distanceBase: [Int] = distanceExtra.indices.map { symbol in
    symbol < 2 ? symbol + 1 : (2 + symbol % 2) << distanceExtra[symbol] + 1
  }

  /// The base and the number of extra bits of each distance symbol; 32, so that five bits need no check.
  static let distances = (0..<32).map { symbol in
    symbol < 30 ? (base: UInt32(distanceBase[symbol]), extra: distanceExtra[symbol]) : (base: 0, extra: 0)
  }

  /// The number of classes: those of up to 256 by themselves, the others by 128, and 0; a power of two, so that a class
  /// needs no check.
  static let distanceClassCount = 1024

  /// Returns the class of a distance of 16 bits, all of which have the same symbol.
  @inline(__always)
  static func distanceClass(_ distance: UInt32) -> Int {
    let far = 257 &+ (distance &- 1) &>> 7
    return Int(truncatingIfNeeded: distance <= 256 ? distance : far)
  }

  /// The symbol of each class.
  static let distanceSymbol: [UInt8] = (0..<distanceClassCount).map { index in
    let distance = index <= 256 ? max(index, 1) : (index - 257) << 7 + 1
    return UInt8(distanceBase.lastIndex { $0 <= distance } ?? 0)
  }
}

/// A search for repetitions that take fewer bits than their bytes.
///
/// A photograph's filtered bytes repeat by chance, three or four at a time, and anywhere in the window. Such a match
/// saves a bit or two, so that most of them do not pay. Therefore the search is broad and shallow, without a branch
/// that depends on chance: for each byte one or two places that look the same, and then the cheapest way through, from
/// the end to the start.
final class MatchSearch {
  /// How many matches are looked for.
  enum Depth {
    /// The last place with the same four bytes: few matches, each of which saves several bits.
    case shallow
    /// The last two places with the same three bytes: for pictures in which even those pay.
    case deep
  }

  private static let tableBits: UInt32 = 16
  /// The part of a block that is searched at once, so that its candidates stay in the cache.
  private static let chunk = 8192

  /// For each hash of three or four bytes the last two positions, modulo 65,536.
  private let table = OwnedElements<UInt32>(repeating: 0, count: 1 << Int(tableBits))
  /// For each byte of a chunk a distance, plus 65,536 times a length; 0 for none.
  private let nearest = OwnedElements<UInt32>(repeating: 0, count: chunk)
  private let second = OwnedElements<UInt32>(repeating: 0, count: chunk)
  /// The cost from each byte to the end of a chunk, with as many more as nine bits of a length can reach.
  private let costs = OwnedElements<UInt32>(repeating: 0, count: chunk + 512)
  private let memory: OwnedElements<UInt32>
  private var tokenCount = 0
  /// The block's symbols: bytes, and matches as above.
  var tokens: Elements<UInt32> { memory.elements.elements.extracting(0..<tokenCount) }
  /// The numbers of literals and lengths, and of distances, among the symbols.
  private(set) var literalFrequencies: [UInt32] = []
  private(set) var distanceFrequencies: [UInt32] = []

  /// Makes a search over blocks of up to `block` bytes.
  init(block: Int) { memory = OwnedElements(repeating: 0, count: block) }

  /// Finds the symbols of a block in a window, whose first byte is at a position in the stream.
  ///
  /// Matches may begin anywhere before it in the window, which has eight bytes more behind it.
  func search(
    _ window: Elements<UInt8>,
    _ block: Range<Int>,
    position: Int,
    costs expected: DeflateCosts,
    depth: Depth,
  ) {
    tokenCount = 0
    literalFrequencies = [UInt32](repeating: 0, count: 286)
    distanceFrequencies = [UInt32](repeating: 0, count: 30)
    for start in stride(from: block.lowerBound, to: block.upperBound, by: Self.chunk) {
      let count = min(Self.chunk, block.upperBound - start)
      let position = UInt32(truncatingIfNeeded: position + start - block.lowerBound)
      let bytes = window.extracting(start..<start + count)
      // Constants, so that each has loops of its own.
      switch depth {
      case .shallow:
        find(window.extracting(0..<start + count), from: start, position: position, isDeep: false)
        choose(bytes, expected, isDeep: false)
      case .deep:
        find(window.extracting(0..<start + count), from: start, position: position, isDeep: true)
        choose(bytes, expected, isDeep: true)
      }
      collect(bytes)
    }
  }

  /// Notes, for each byte of a chunk, the candidates of matches that begin there.
  ///
  /// `bytes` are the chunk, which begins at `start`, and all before it.
  @inline(__always)
  private func find(_ bytes: Elements<UInt8>, from start: Int, position: UInt32, isDeep: Bool) {
    let count = bytes.count - start
    // The last eight bytes begin no match, so that all eight bytes of a comparison are the chunk's.
    let limit = max(0, count - 8)
    nearest.elements.extracting(limit..<count).update(repeating: 0)
    second.elements.extracting(limit..<count).update(repeating: 0)
    var (run, otherRun) = (UInt32(0), UInt32(0))
    precondition(start >= 0 && table.elements.count == 1 << 16)
    // In bounds: `limit` elements are left in both by the lines above, a hash has 16 bits, and eight bytes follow.
    unsafe withPointers(to: bytes) { bytes, nearest, second in
      unsafe table.elements.withUnsafeBufferPointer { table in
        for index in 0..<limit {
          let here = unsafe bytes + (start &+ index)
          let value = unsafe UInt64(littleEndian: here.loadUnaligned(as: UInt64.self))
          let key = UInt32(truncatingIfNeeded: value) & (isDeep ? 0xFF_FFFF : 0xFFFF_FFFF)
          let hash = Int((key &* 0x9E37_79B1) &>> (32 &- Self.tableBits))
          let place = position &+ UInt32(truncatingIfNeeded: index)
          let places = unsafe table[hash]
          unsafe table[hash] = places &<< 16 | place & 0xFFFF
          let reach = UInt32(truncatingIfNeeded: min(start &+ index, 32_768))
          let first = unsafe Self.match(here, value, (place &- places) & 0xFFFF, reach, count &- index, &run)
          unsafe nearest[index] = first
          if isDeep {
            let wanted = (place &- places &>> 16) & 0xFFFF
            let other = unsafe Self.match(here, value, wanted, reach, count &- index, &otherRun)
            // Only a longer one can be better than one that is nearer.
            unsafe second[index] = other &>> 16 > first &>> 16 ? other : 0
          }
        }
      }
    }
  }

  /// Calls `body` with the bytes, and with the matches of a chunk.
  @inline(__always)
  private func withPointers(
    to bytes: Elements<UInt8>,
    _ body: (UnsafeRawPointer, UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<UInt32>) -> Void,
  ) {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe nearest.elements.withUnsafeBufferPointer { nearest in
        unsafe second.elements.withUnsafeBufferPointer { second in
          guard let bytes = bytes.baseAddress, let nearest = nearest.baseAddress, let second = second.baseAddress else {
            return
          }
          unsafe body(UnsafeRawPointer(bytes), nearest, second)
        }
      }
    }
  }

  /// Calls `body` with the costs of the ways, and with those of lengths and distances.
  @inline(__always)
  private func withPointers(
    to expected: DeflateCosts,
    _ body: (UnsafeMutablePointer<UInt32>, UnsafePointer<UInt32>, UnsafePointer<UInt32>) -> Void,
  ) {
    unsafe costs.elements.withUnsafeBufferPointer { costs in
      unsafe expected.lengths.withUnsafeBufferPointer { lengths in
        unsafe expected.distances.withUnsafeBufferPointer { distances in
          guard let costs = costs.baseAddress, let lengths = lengths.baseAddress,
            let distances = distances.baseAddress
          else { return }
          unsafe body(costs, lengths, distances)
        }
      }
    }
  }

  /// Returns the match at a distance, as a distance plus 65,536 times its length; 0 if it has fewer than three bytes.
  ///
  /// `reach` bytes are before `here`, and `count` from there on, at least eight.
  @inline(__always)
  private static func match(
    _ here: UnsafeRawPointer,
    _ value: UInt64,
    _ wanted: UInt32,
    _ reach: UInt32,
    _ count: Int,
    _ run: inout UInt32,
  ) -> UInt32 {
    // A place may be older than what is left of the stream; 0 is the byte itself, and no match. Chance decides here
    // and below, so there are masks and no branches, which would take twice as long: all ones if the number is
    // negative.
    let isReached = (Int64(wanted &- 1) &- Int64(reach)) &>> 63
    let distance = wanted & UInt32(truncatingIfNeeded: isReached)
    // In bounds: 0 if it is not within the reach.
    let there = unsafe here - Int(distance)
    let other = unsafe UInt64(littleEndian: there.loadUnaligned(as: UInt64.self))
    let difference = (value ^ other) | UInt64(bitPattern: ~isReached & 1)
    var length = UInt32(truncatingIfNeeded: (difference | 1 &<< 63).trailingZeroBitCount) &>> 3
    if difference == 0 {
      // Eight bytes and more; the byte before may know how many.
      let known = run &>> 16
      length =
        run & 0xFFFF == distance && known > 9 && known < 258
        ? known &- 1 : unsafe extended(here, there, limit: min(count, 258))
    }
    let isMatch = (2 &- Int32(bitPattern: length)) &>> 31
    // Nine bits of length, whatever came before.
    run = (distance | length &<< 16) & UInt32(bitPattern: isMatch) & 0x01FF_FFFF
    return run
  }

  /// Returns the number of equal bytes, of which eight are known.
  @inline(never)
  private static func extended(_ here: UnsafeRawPointer, _ there: UnsafeRawPointer, limit: Int) -> UInt32 {
    var length = 8
    // Below the limit, which is within the chunk.
    while length &+ 8 <= limit {
      let one = unsafe here.loadUnaligned(fromByteOffset: length, as: UInt64.self)
      guard unsafe one == there.loadUnaligned(fromByteOffset: length, as: UInt64.self) else { break }
      length &+= 8
    }
    while length < limit,
      unsafe here.load(fromByteOffset: length, as: UInt8.self) == there.load(fromByteOffset: length, as: UInt8.self)
    {
      length &+= 1
    }
    return UInt32(truncatingIfNeeded: length)
  }

  /// Leaves, for each byte, the match that begins the cheapest way from there to the end of the chunk; 0 for none.
  @inline(__always)
  private func choose(_ bytes: Elements<UInt8>, _ expected: DeflateCosts, isDeep: Bool) {
    let literals = expected.literals.span
    // One for each value, so that no look-up needs a check.
    precondition(literals.count == 256 && expected.lengths.count == 512 && expected.distances.count == 1024)
    precondition(
      bytes.count <= Self.chunk && nearest.elements.count == Self.chunk && second.elements.count == Self.chunk
    )
    precondition(costs.elements.count == Self.chunk + 512)
    // In bounds by the lines above: a match has nine bits of length, and the class of 16 bits is at most 768.
    unsafe withPointers(to: bytes) { pointer, nearest, second in
      unsafe withPointers(to: expected) { costs, lengths, distances in
        unsafe costs[bytes.count] = 0
        var next: UInt32 = 0
        var index = bytes.count &- 1
        while index >= 0 {
          var cost = unsafe next &+ literals[Int(pointer.load(fromByteOffset: index, as: UInt8.self))]
          let first = unsafe nearest[index]
          let length = Int(first &>> 16)
          var way = unsafe costs[index &+ length] &+ lengths[length]
          unsafe way &+= distances[DeflateTables.distanceClass(first & 0xFFFF)]
          var best = way < cost ? first : 0
          cost = min(way, cost)
          if isDeep {
            let other = unsafe second[index]
            let length = Int(other &>> 16)
            unsafe way = costs[index &+ length] &+ lengths[length]
            unsafe way &+= distances[DeflateTables.distanceClass(other & 0xFFFF)]
            best = way < cost ? other : best
            cost = min(way, cost)
          }
          unsafe costs[index] = cost
          next = cost
          unsafe nearest[index] = best
          index &-= 1
        }
      }
    }
  }

  /// Appends the symbols of the way through a chunk.
  private func collect(_ bytes: Elements<UInt8>) {
    let (lengthList, symbolList) = (DeflateTables.lengthSymbol, DeflateTables.distanceSymbol)
    let (lengthSymbols, distanceSymbols) = (lengthList.span, symbolList.span)
    var literals = literalFrequencies.mutableSpan
    var distances = distanceFrequencies.mutableSpan
    let tokens = memory.elements.extracting(tokenCount..<tokenCount + bytes.count)
    precondition(literals.count >= 256 && bytes.count <= Self.chunk && nearest.elements.count == Self.chunk)
    var written = 0
    // In bounds by the lines above: there is at most one symbol a byte.
    unsafe withPointers(to: bytes) { pointer, nearest, _ in
      unsafe tokens.withUnsafeBufferPointer { tokens in
        var index = 0
        while index < bytes.count {
          let match = unsafe nearest[index]
          var token = match
          if match == 0 {
            let byte = unsafe pointer.load(fromByteOffset: index, as: UInt8.self)
            literals[Int(byte)] &+= 1
            token = UInt32(byte)
            index &+= 1
          } else {
            let length = Int(match &>> 16)
            literals[257 &+ lengthSymbols[length]] &+= 1
            distances[Int(distanceSymbols[DeflateTables.distanceClass(match & 0xFFFF)])] &+= 1
            index &+= length
          }
          unsafe tokens[written] = token
          written &+= 1
        }
      }
    }
    tokenCount += written
  }
}
