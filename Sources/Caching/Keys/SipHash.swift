/// SipHash-2-4 with a result of 128 bits: a hash that cannot be steered without knowing its secret.
///
/// URLs are untrusted input. With an unkeyed hash, an attacker could make many keys collide. After Aumasson and
/// Bernstein, "SipHash: a fast short-input PRF" (2012), and the authors' reference for the 128-bit variant.
package struct SipHash {
  /// The secret that a hash depends on.
  package struct Secret: Hashable, Sendable {
    package var low: UInt64
    package var high: UInt64

    /// Creates a secret from the system's random numbers.
    package static func random() -> Secret {
      Secret(low: .random(in: 0...UInt64.max), high: .random(in: 0...UInt64.max))
    }
  }

  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64

  /// Returns the hash of `bytes` under a secret.
  ///
  /// Complexity: O(count), about 1 ns a byte.
  package static func hash(_ bytes: UnsafeRawBufferPointer, secret: Secret) -> KeyHash {
    var state = SipHash(secret)
    let whole = bytes.count & ~7
    var offset = 0
    while offset < whole {
      // `offset` is at least eight below the count.
      state.absorb(unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
      offset += 8
    }
    var last = UInt64(truncatingIfNeeded: bytes.count) << 56
    for index in whole..<bytes.count {
      // `index` is below the count.
      last |= unsafe UInt64(bytes[index]) << UInt64(8 * (index - whole))
    }
    state.absorb(last)
    return state.finish()
  }

  private init(_ secret: Secret) {
    v0 = 0x736F_6D65_7073_6575 ^ secret.low
    v1 = 0x646F_7261_6E64_6F6D ^ secret.high ^ 0xEE
    v2 = 0x6C79_6765_6E65_7261 ^ secret.low
    v3 = 0x7465_6462_7974_6573 ^ secret.high
  }

  @inline(__always)
  private mutating func round() {
    v0 &+= v1
    v1 = v1 << 13 | v1 >> 51
    v1 ^= v0
    v0 = v0 << 32 | v0 >> 32
    v2 &+= v3
    v3 = v3 << 16 | v3 >> 48
    v3 ^= v2
    v0 &+= v3
    v3 = v3 << 21 | v3 >> 43
    v3 ^= v0
    v2 &+= v1
    v1 = v1 << 17 | v1 >> 47
    v1 ^= v2
    v2 = v2 << 32 | v2 >> 32
  }

  @inline(__always)
  private mutating func absorb(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  private mutating func finish() -> KeyHash {
    v2 ^= 0xEE
    for _ in 0..<4 { round() }
    let low = v0 ^ v1 ^ v2 ^ v3
    v1 ^= 0xDD
    for _ in 0..<4 { round() }
    return KeyHash(low: low, high: v0 ^ v1 ^ v2 ^ v3)
  }
}
