/// Evicts, in the order in which they came, those that were not used since a hand last passed them.
///
/// Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is Simpler than LRU: an Efficient Turn-Key Eviction Algorithm for Web
/// Caches" (NSDI 2024). Sizes do not count.
///
/// - Complexity: O(1) for each entry that leaves, amortised.
public final class SIEVEEviction: EvictionPolicy {
  // From the oldest to the newest.
  private var queue = PlaceList()
  private var hand = -1
  // How often an entry had been used when the hand passed it, or it came.
  private var seen: [UInt32] = []

  /// Creates one.
  public init() {}

  /// Puts the entry behind all others; one that replaces another stays where that was, and counts as used.
  public func insert(_ entry: EvictionCandidate, into place: Int) {
    guard !queue.contains(place) else { return }
    while seen.count <= place { seen.append(0) }
    seen[place] = entry.uses
    queue.append(place)
  }

  /// Takes the place out.
  public func remove(_ place: Int) {
    guard queue.contains(place) else { return }
    if hand == place { hand = queue.next(place) }
    queue.remove(place)
  }

  /// Returns what the hand finds not used.
  public func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
    var victims: [Int] = []
    var freed = 0
    // Twice around, it has seen everything, and found nothing used the second time.
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
