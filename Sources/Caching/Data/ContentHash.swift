import VitrineRuntime

/// An incremental 128-bit content hash: XXH64 of the same bytes under two seeds.
///
/// Follows Collet's specification of XXH64 (xxHash fast digest algorithm, version 0.1.1). Both halves share the
/// multiplication of the input, so 128 bits cost 1.5 times as much as 64: about 0.15 ns a byte. The result is the same
/// on every machine. The hash is not cryptographic: collisions can be constructed.
package struct ContentHash: Sendable {
  private static let primes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63, 0x27D4_EB2F_1656_67C5,
  )
  private static let seeds: (low: UInt64, high: UInt64) = (0, 0x5669_7472_696E_6500)
  private static let stripe = 32

  private var low = Lanes(seed: seeds.low)
  private var high = Lanes(seed: seeds.high)
  /// The bytes after the last whole stripe, and their number.
  private var rest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
  private var restCount = 0
  private var count = 0

  /// Creates the hash of no bytes.
  package init() {}

  /// Appends bytes to the hash.
  ///
  /// Complexity: O(count).
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    count += bytes.count
    var start = 0
    if restCount > 0 {
      start = min(Self.stripe - restCount, bytes.count)
      // `start` is at most the count of the buffer.
      unsafe keep(bytes[..<start])
      guard restCount == Self.stripe else { return }
      // `rest` is only read while the closure runs.
      unsafe withUnsafeBytes(of: rest) { unsafe takeStripes($0) }
      restCount = 0
    }
    let end = start + (bytes.count - start) / Self.stripe * Self.stripe
    // Both bounds lie within the buffer.
    unsafe takeStripes(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    unsafe keep(bytes[end...])
  }

  /// Appends bytes to `rest`, which has room for them.
  private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
    // `rest` is only written while the closure runs, and a slice out of bounds traps.
    unsafe withUnsafeMutableBytes(of: &rest) { rest in
      unsafe UnsafeMutableRawBufferPointer(rebasing: rest[restCount...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
    }
    unsafe restCount += bytes.count
  }

  /// Appends bytes to the hash.
  ///
  /// Complexity: O(count).
  package mutating func append(_ data: Data) {
    // The bytes are only read while the closure runs.
    unsafe data.withUnsafeBytes { unsafe append($0) }
  }

  /// The hash of all bytes so far.
  package var value: ContentID {
    ContentID(low: finish(low, Self.seeds.low), high: finish(high, Self.seeds.high))
  }

  // MARK: - XXH64

  private struct Lanes: Sendable {
    var one: UInt64
    var two: UInt64
    var three: UInt64
    var four: UInt64

    init(seed: UInt64) {
      one = seed &+ primes.0 &+ primes.1
      two = seed &+ primes.1
      three = seed
      four = seed &- primes.0
    }

    var merged: UInt64 {
      var hash =
        rotate(one, 1) &+ rotate(two, 7) &+ rotate(three, 12) &+ rotate(four, 18)
      for lane in [one, two, three, four] {
        hash = (hash ^ step(0, lane &* primes.1)) &* primes.0 &+ primes.3
      }
      return hash
    }
  }

  @inline(__always)
  private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 { value &<< bits | value &>> (64 &- bits) }

  /// Runs one round, where `product` is the input times the second prime.
  @inline(__always)
  private static func step(_ lane: UInt64, _ product: UInt64) -> UInt64 {
    rotate(lane &+ product, 31) &* primes.0
  }

  private mutating func takeStripes(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    // Local copies stay in registers.
    var (low, high) = (low, high)
    var offset = 0
    while offset &+ Self.stripe <= bytes.count {
      // The loop condition leaves a whole stripe.
      unsafe (low.one, high.one) = Self.both(low.one, high.one, start, offset)
      unsafe (low.two, high.two) = Self.both(low.two, high.two, start, offset &+ 8)
      unsafe (low.three, high.three) = Self.both(low.three, high.three, start, offset &+ 16)
      unsafe (low.four, high.four) = Self.both(low.four, high.four, start, offset &+ 24)
      offset = offset &+ Self.stripe
    }
    (self.low, self.high) = (low, high)
  }

  @inline(__always)
  private static func both(
    _ low: UInt64,
    _ high: UInt64,
    _ start: UnsafeRawPointer,
    _ offset: Int,
  ) -> (UInt64, UInt64) {
    // The caller has checked that eight bytes lie there.
    let word = unsafe UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    let product = word &* primes.1
    return (step(low, product), step(high, product))
  }

  private func finish(_ lanes: Lanes, _ seed: UInt64) -> UInt64 {
    var hash = count >= Self.stripe ? lanes.merged : seed &+ Self.primes.4
    hash = hash &+ UInt64(count)
    var offset = 0
    while let word: UInt64 = rest(at: &offset) {
      hash = Self.rotate(hash ^ Self.step(0, word &* Self.primes.1), 27) &* Self.primes.0 &+ Self.primes.3
    }
    if let word: UInt32 = rest(at: &offset) {
      hash = Self.rotate(hash ^ UInt64(word) &* Self.primes.0, 23) &* Self.primes.1 &+ Self.primes.2
    }
    while let byte: UInt8 = rest(at: &offset) {
      hash = Self.rotate(hash ^ UInt64(byte) &* Self.primes.4, 11) &* Self.primes.0
    }
    hash = (hash ^ hash >> 33) &* Self.primes.1
    hash = (hash ^ hash >> 29) &* Self.primes.2
    return hash ^ hash >> 32
  }

  /// Reads a number from the rest and advances behind it, or returns `nil` if too few bytes are left.
  private func rest<Number: FixedWidthInteger>(at offset: inout Int) -> Number? {
    let start = offset
    guard start + MemoryLayout<Number>.size <= restCount else { return nil }
    offset += MemoryLayout<Number>.size
    // The guard leaves enough bytes, which are only read while the closure runs.
    return unsafe withUnsafeBytes(of: rest) {
      unsafe Number(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: Number.self))
    }
  }
}
