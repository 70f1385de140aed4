package import VitrineRuntime

/// A generator of random numbers that are the same in every run (Vigna's SplitMix64).
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }

  /// Returns a number from 0 to `limit - 1`.
  package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  /// Returns `true` with a probability of `one` in `many`.
  package mutating func chance(_ one: Int, in many: Int) -> Bool { below(many) < one }
}

/// Returns random bytes that are the same in every run; fewer of the same seed are the beginning of more.
package func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
  var generator = SplitMix64(seed: seed)
  var data = Data(capacity: count + 8)
  while data.count < count {
    // The copied bytes do not outlive the closure.
    unsafe withUnsafeBytes(of: generator.next().littleEndian) { unsafe data.append(contentsOf: $0) }
  }
  return data.prefix(count)
}
