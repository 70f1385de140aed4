/// Evicts by age, size and uses: the highest `age * size / ((F + size) * uses)` first.
///
/// Entries unused for long leave first, entries used often stay, and a large entry leaves before a small one of the
/// same age. Age counts uses of the whole cache and not seconds, so a pause ages nothing. F is the fixed cost of a
/// miss. The weighing of cost and size is after Cao and Irani, "Cost-Aware WWW Proxy Caching Algorithms" (USITS 1997).
/// Age divided by uses is that of LRFU and hyperbolic caching: Blankstein, Sen and Freedman, "Hyperbolic Caching:
/// Flexible Caching for Web Applications" (USENIX ATC 2017).
///
/// - Complexity: O(n) when the cache is full. A cache shrinks to 95 %, so that happens once in 5 % of n insertions.
public final class ScoreEviction: EvictionPolicy {
  private let score: EvictionScore

  /// Creates the policy.
  ///
  /// - Parameter fixedCost: F, as the number of bytes that could be loaded in that time. Defaults to 400 KB.
  public init(fixedCost: Int = 400_000) {
    score = EvictionScore(fixedCost: fixedCost)
  }

  /// Does nothing.
  public func insert(_ entry: EvictionCandidate, into place: Int) {}

  /// Does nothing.
  public func remove(_ place: Int) {}

  /// Returns the entries of the highest score.
  public func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
    candidates.highest(freeing: cost, count: count) { _, entry in
      score.score(age: entry.age, size: max(entry.cost, 1), hits: entry.uses)
    }
  }
}
