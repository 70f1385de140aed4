/// Evicts by age, size and uses: highest `age * size / ((F + size) * uses)` first.
///
/// What was long not used goes first, what was used often stays, and a large entry goes before a small one of the same age.
/// Age counts uses of the whole cache and not seconds, so that a pause makes nothing old. F is what a miss costs whatever
/// the size. The cost and size in it are after Cao and Irani, "Cost-Aware WWW Proxy Caching Algorithms" (USITS 1997), and
/// age over uses is that of LRFU and hyperbolic caching: Blankstein, Sen and Freedman, "Hyperbolic Caching: Flexible
/// Caching for Web Applications" (USENIX ATC 2017).
///
/// - Complexity: O(n) when the cache is full, which with a cache that shrinks to 95 % is once in 5 % of n insertions.
public final class ScoreEviction: EvictionPolicy {
  private let score: EvictionScore

  /// Creates one.
  ///
  /// - Parameter fixedCost: F, in bytes that could be loaded in that time; 400 KB by default.
  public init(fixedCost: Int = 400_000) {
    score = EvictionScore(fixedCost: fixedCost)
  }

  /// Does nothing.
  public func insert(_ entry: EvictionCandidate, into place: Int) {}

  /// Does nothing.
  public func remove(_ place: Int) {}

  /// Returns those of the highest score.
  public func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
    candidates.highest(freeing: cost, count: count) { _, entry in
      score.score(age: entry.age, size: max(entry.cost, 1), hits: entry.uses)
    }
  }
}
