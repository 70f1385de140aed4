/// Evicts the entry with the lowest `L + uses * (F + size) / size` (GDSF).
///
/// L is the value of the last evicted entry at the time of this entry's last use. F is the fixed cost of a miss, so F +
/// size is its total cost. After Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching
/// Policy" (HP Laboratories HPL-98-69R1, 1998).
///
/// - Complexity: O(n) when the cache is full. A cache shrinks to 95 %, so that happens once in 5 % of n insertions.
public final class GreedyDualSizeFrequencyEviction: EvictionPolicy {
  private let fixedCost: Double
  private var inflation = 0.0
  // The value of `inflation` at an entry's last use. It changes only in `victims`, which updates these.
  private var bases: [Double] = []
  private var lastCall: UInt32 = 0

  /// Creates the policy.
  ///
  /// - Parameter fixedCost: F, as the number of bytes that could be loaded in that time. Defaults to 400 KB.
  public init(fixedCost: Int = 400_000) {
    self.fixedCost = Double(fixedCost)
  }

  /// Records the current value of L for the entry.
  public func insert(_ entry: EvictionCandidate, into place: Int) {
    while bases.count <= place { bases.append(0) }
    bases[place] = inflation
  }

  /// Does nothing.
  public func remove(_ place: Int) {}

  /// Returns the entries of the lowest value.
  public func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
    let sinceLastCall = candidates.now &- lastCall
    lastCall = candidates.now
    var values = [Double](repeating: 0, count: bases.count)
    var highest = 0.0
    for place in candidates.numbers {
      guard let entry = candidates[place] else { continue }
      if entry.age < sinceLastCall { bases[place] = inflation }
      let size = Double(max(entry.cost, 1))
      values[place] = bases[place] + Double(entry.uses) * (fixedCost + size) / size
      highest = max(highest, values[place])
    }
    let victims = candidates.highest(freeing: cost, count: count) { place, _ in Float(highest - values[place]) }
    inflation = victims.last.map { max(inflation, values[$0]) } ?? inflation
    return victims
  }
}
