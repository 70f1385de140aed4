/// A hash of 128 bits under a secret: the short cut to a key, never its substitute.
package struct KeyHash: Hashable, Sendable {
  package var low: UInt64
  package var high: UInt64

  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Half of it is as good as random already; the other half is compared.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(low)
  }

  /// What dictionaries use in place of ``hash(into:)``, at a tenth of its cost; theirs would hash once more, under a secret.
  package func _rawHashValue(seed: Int) -> Int {
    // Another seed must make another order, or copying one table into another would pile entries up.
    let (high, low) = (low ^ UInt64(bitPattern: Int64(seed))).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return Int(truncatingIfNeeded: high ^ low)
  }
}
