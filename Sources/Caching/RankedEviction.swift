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

/// Evicts what was not used for longest.
///
/// Mattson, Gecsei, Slutz and Traiger, "Evaluation Techniques for Storage Hierarchies" (IBM Systems Journal 9, 1970).
///
/// - Complexity: O(n) when the cache is full, which with a cache that shrinks to 95 % is once in 5 % of n insertions.
public final class LeastRecentlyUsedEviction: EvictionPolicy {
  /// Creates one.
  public init() {}

  /// Does nothing.
  public func insert(_ entry: EvictionCandidate, into place: Int) {}

  /// Does nothing.
  public func remove(_ place: Int) {}

  /// Returns the oldest.
  public func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
    candidates.highest(freeing: cost, count: count) { _, entry in Float(entry.age) }
  }
}

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

extension EvictionCandidates {
  /// Returns as few as free enough, those of the highest rank first, and of equal rank the one not used for longer.
  ///
  /// `rank` is asked once for each entry, and is 0 or more.
  func highest(
    freeing cost: Int,
    count: Int,
    rank: (_ place: Int, _ entry: EvictionCandidate) -> Float,
  ) -> [Int] {
    var ranked: [(place: Int, rank: Float, cost: Int, age: UInt32)] = []
    ranked.reserveCapacity(numbers.count)
    var costs = ScoreHistogram()
    var counts = ScoreHistogram()
    for place in numbers {
      guard let entry = self[place], entry.isEvictable else { continue }
      let rank = rank(place, entry)
      ranked.append((place, rank, entry.cost, entry.age))
      if cost > 0 { costs.add(rank, size: entry.cost) }
      if count > 0 { counts.add(rank, size: 1) }
    }
    // Only those that will leave, and the few that share the last bucket with them, are worth sorting.
    let lowest = min(
      cost > 0 ? costs.bucket(freeing: cost) : Int.max,
      count > 0 ? counts.bucket(freeing: count) : Int.max,
    )
    ranked.removeAll { ScoreHistogram.bucket(of: $0.rank) < lowest }
    ranked.sort { ($0.rank, $0.age, $1.place) > ($1.rank, $1.age, $0.place) }
    var (freed, taken) = (0, 0)
    let victims = ranked.prefix { candidate in
      guard freed < cost || taken < count else { return false }
      freed += candidate.cost
      taken += 1
      return true
    }
    return victims.map(\.place)
  }
}
