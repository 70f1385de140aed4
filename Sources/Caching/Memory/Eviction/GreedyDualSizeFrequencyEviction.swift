/// Evicts the lowest `L + uses * (F + size) / size`, where L is the value of what left last when the entry was last used.
///
/// Greedy-Dual-Size-Frequency: Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching
/// Policy" (HP Laboratories HPL-98-69R1, 1998). F is what a miss costs whatever the size, so that F + size is its whole
/// cost.
///
/// - Complexity: O(n) when the cache is full, which with a cache that shrinks to 95 % is once in 5 % of n insertions.
public final class GreedyDualSizeFrequencyEviction: EvictionPolicy {
  private let fixedCost: Double
  private var inflation = 0.0
  // The value of `inflation` at an entry's last use. It only changes in `victims`, so there it is made up for.
  private var bases: [Double] = []
  private var lastCall: UInt32 = 0

  /// Creates one.
  ///
  /// - Parameter fixedCost: F, in bytes that could be loaded in that time; 400 KB by default.
  public init(fixedCost: Int = 400_000) {
    self.fixedCost = Double(fixedCost)
  }

  /// Notes where the entry begins.
  public func insert(_ entry: EvictionCandidate, into place: Int) {
    while bases.count <= place { bases.append(0) }
    bases[place] = inflation
  }

  /// Does nothing.
  public func remove(_ place: Int) {}

  /// Returns those of the lowest value.
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
