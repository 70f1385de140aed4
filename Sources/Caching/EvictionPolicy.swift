/// Decides which entries leave a full cache in memory.
///
/// A cache numbers the places that it keeps entries in, from 0 on, and reuses numbers. It tells the policy of each
/// change, with its lock held; a policy therefore needs none, and must not call out.
package protocol EvictionPolicy: AnyObject {
  /// An entry was put into a place, which was empty or has just been used by the older entry of the same key.
  func insert(_ place: Int, cost: Int)

  /// The entry in a place was used. This is on the path of each hit: O(1), a few nanoseconds, no allocation.
  func use(_ place: Int)

  /// A place was emptied, for whatever reason.
  func remove(_ place: Int)

  /// Returns places whose entries leave, in the order in which they leave.
  ///
  /// They are emptied one after the other, until at least `cost` bytes and `count` entries are gone; places that are
  /// not needed for that keep their entries.
  ///
  /// `isEvictable` tells whether the entry in a place may leave now.
  func victims(freeing cost: Int, count: Int, where isEvictable: (Int) -> Bool) -> [Int]
}

/// Evicts by ``EvictionScore``.
///
/// A use is two stores. Entries are scored only when the cache is over its limit, all in one pass, and as the cache then
/// shrinks to 95 %, a pass is due once in some 5 % of the insertions: O(1) an insertion, amortised, with a pass of O(n).
package final class ScoredEviction: EvictionPolicy {
  private struct Use {
    var last: UInt32
    var hits: UInt32
    var cost: Int
  }

  private let score: EvictionScore
  // Age counts uses and not seconds, so that a pause makes nothing old, and the outcome is the same in every run.
  private var tick: UInt32 = 0
  private var uses: [Use] = []

  /// Creates a policy.
  ///
  /// - Parameter fixedCost: What a miss costs whatever the size, in bytes; 400 KB by default.
  package init(fixedCost: Int = 400_000) {
    score = EvictionScore(fixedCost: fixedCost)
  }

  package func insert(_ place: Int, cost: Int) {
    while uses.count <= place { uses.append(Use(last: 0, hits: 0, cost: 0)) }
    tick &+= 1
    // What replaces an entry inherits its uses: it is the same picture that is wanted.
    uses[place] = Use(last: tick, hits: uses[place].hits &+ 1, cost: cost)
  }

  package func use(_ place: Int) {
    tick &+= 1
    uses[place].last = tick
    uses[place].hits &+= 1
  }

  package func remove(_ place: Int) {
    uses[place].hits = 0
  }

  package func victims(freeing cost: Int, count: Int, where isEvictable: (Int) -> Bool) -> [Int] {
    var candidates: [(place: Int, score: Float)] = []
    for place in uses.indices where uses[place].hits > 0 && isEvictable(place) {
      let use = uses[place]
      candidates.append((place, score.score(age: tick &- use.last, size: max(use.cost, 1), hits: use.hits)))
    }
    // Only those that will leave, and the few that share the last bucket with them, are worth sorting.
    var costs = ScoreHistogram()
    var counts = ScoreHistogram()
    for candidate in candidates {
      costs.add(candidate.score, size: uses[candidate.place].cost)
      counts.add(candidate.score, size: 1)
    }
    let lowest = min(
      cost > 0 ? costs.bucket(freeing: cost) : Int.max,
      count > 0 ? counts.bucket(freeing: count) : Int.max,
    )
    candidates.removeAll { ScoreHistogram.bucket(of: $0.score) < lowest }
    candidates.sort { ($0.score, $1.place) > ($1.score, $0.place) }
    return candidates.map(\.place)
  }
}
