/// A hash of 128 bits under a secret, which speeds up comparing keys but never replaces it.
package struct KeyHash: Hashable, Sendable {
  package var low: UInt64
  package var high: UInt64

  /// Feeds the lower half, which is as good as random already; equality compares both.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(low)
  }

  /// Replaces the hashing of dictionaries, which would hash once more, at ten times the cost.
  package func _rawHashValue(seed: Int) -> Int {
    // Another seed must give another order, or copying one table into another would cluster the entries.
    let (high, low) = (low ^ UInt64(bitPattern: Int64(seed))).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return Int(truncatingIfNeeded: high ^ low)
  }
}
