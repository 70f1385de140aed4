/// Evicts, in order of insertion, entries that were not used since a moving hand last passed them (SIEVE).
///
/// After Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is Simpler than LRU: an Efficient Turn-Key Eviction Algorithm
/// for Web Caches" (NSDI 2024). Ignores sizes.
///
/// - Complexity: O(1) for each evicted entry, amortised.
public final class SIEVEEviction: EvictionPolicy {
  // Ordered from the oldest to the newest.
  private var queue = PlaceList()
  private var hand = -1
  // The number of uses of an entry when it was inserted or the hand last passed it.
  private var seen: [UInt32] = []

  /// Creates the policy.
  public init() {}

  /// Appends the entry; one that replaces another keeps its position and counts as used.
  public func insert(_ entry: EvictionCandidate, into place: Int) {
    guard !queue.contains(place) else { return }
    while seen.count <= place { seen.append(0) }
    seen[place] = entry.uses
    queue.append(place)
  }

  /// Removes the place from the queue.
  public func remove(_ place: Int) {
    guard queue.contains(place) else { return }
    if hand == place { hand = queue.next(place) }
    queue.remove(place)
  }

  /// Returns the entries that the hand finds unused.
  public func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
    var victims: [Int] = []
    var freed = 0
    // After two rounds the hand has seen every entry, and found none used in the second.
    var patience = 2 * queue.count
    while freed < cost || victims.count < count, patience > 0 {
      patience -= 1
      if hand < 0 { hand = queue.first }
      let place = hand
      guard place >= 0, let entry = candidates[place] else { break }
      hand = queue.next(place)
      if entry.uses != seen[place] {
        seen[place] = entry.uses
      } else if entry.isEvictable {
        queue.remove(place)
        victims.append(place)
        freed += entry.cost
      }
    }
    return victims
  }
}
