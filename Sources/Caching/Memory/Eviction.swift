/// The policy by which a full ``MemoryCache`` chooses the entries to evict.
public enum Eviction: Hashable, Sendable {
  /// Evicts by age, size and uses: the highest `age * size / ((F + size) * uses)` first.
  ///
  /// Entries unused for long leave first, entries used often stay, and a large entry leaves before a small one of the
  /// same age. Age counts uses of the whole cache and not seconds, so a pause ages nothing. F is the fixed cost of a
  /// miss, 400 KB. Cost and size are weighed after Cao and Irani, "Cost-Aware WWW Proxy Caching Algorithms" (USITS
  /// 1997). Age divided by uses comes from LRFU and hyperbolic caching: Blankstein, Sen and Freedman, "Hyperbolic
  /// Caching: Flexible Caching for Web Applications" (USENIX ATC 2017).
  case score
  /// Evicts the least recently used entry, by age alone.
  case leastRecentlyUsed

  private static let scoring = EvictionScore(fixedCost: 400_000)

  /// Returns the rank of an entry, 0 or more.
  ///
  /// The highest rank leaves first.
  func rank(age: UInt32, cost: Int, uses: UInt32) -> Float {
    switch self {
    case .score: Self.scoring.score(age: age, size: max(cost, 1), hits: uses)
    case .leastRecentlyUsed: Float(age)
    }
  }
}
