/// Evicts the least recently used entry.
///
/// After Mattson, Gecsei, Slutz and Traiger, "Evaluation Techniques for Storage Hierarchies" (IBM Systems Journal 9,
/// 1970).
///
/// - Complexity: O(n) when the cache is full. A cache shrinks to 95 %, so that happens once in 5 % of n insertions.
public final class LeastRecentlyUsedEviction: EvictionPolicy {
  /// Creates the policy.
  public init() {}

  /// Does nothing.
  public func insert(_ entry: EvictionCandidate, into place: Int) {}

  /// Does nothing.
  public func remove(_ place: Int) {}

  /// Returns the least recently used entries.
  public func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
    candidates.highest(freeing: cost, count: count) { _, entry in Float(entry.age) }
  }
}
