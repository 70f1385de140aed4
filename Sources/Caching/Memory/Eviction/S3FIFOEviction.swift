/// Evicts from two FIFO queues: one of new entries, and one of entries that were used while new (S3-FIFO).
///
/// After Yang, Zhang, Qiu, Yue and Vinayak, "FIFO queues are all you need for cache eviction" (SOSP 2023). New entries
/// get a tenth of the bytes. The policy remembers as many evicted keys as there are entries in the main queue.
///
/// - Complexity: O(1) for each evicted entry, amortised.
public final class S3FIFOEviction: EvictionPolicy {
  private var small = PlaceList()
  private var main = PlaceList()
  private var smallCost = 0
  private var mainCost = 0
  private var costs: [Int] = []
  // The uses that count, at most 3, and the total number of uses when they were last counted.
  private var frequencies: [UInt32] = []
  private var seen: [UInt32] = []
  private var ghosts = GhostList()

  /// Creates the policy.
  public init() {}

  /// Puts the entry into the queue of new entries, or into the main queue if it was evicted recently.
  public func insert(_ entry: EvictionCandidate, into place: Int) {
    while seen.count <= place {
      seen.append(0)
      frequencies.append(0)
      costs.append(0)
    }
    if small.contains(place) {
      smallCost += entry.cost - costs[place]
    } else if main.contains(place) {
      mainCost += entry.cost - costs[place]
    } else {
      (seen[place], frequencies[place]) = (entry.uses, 0)
      if ghosts.remove(entry.id) {
        main.append(place)
        mainCost += entry.cost
      } else {
        small.append(place)
        smallCost += entry.cost
      }
    }
    costs[place] = entry.cost
  }

  /// Removes the place from its queue.
  public func remove(_ place: Int) {
    if small.contains(place) {
      small.remove(place)
      smallCost -= costs[place]
    } else if main.contains(place) {
      main.remove(place)
      mainCost -= costs[place]
    }
  }

  /// Returns the oldest new entries with at most one use, or main entries with no recent use.
  public func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
    var victims: [Int] = []
    var freed = 0
    // An entry is visited once in the small queue and four times in the main queue, until none of its uses counts.
    var patience = 6 * (small.count + main.count)
    while freed < cost || victims.count < count, patience > 0 {
      patience -= 1
      let isSmall = main.first < 0 || (small.first >= 0 && smallCost >= (smallCost + mainCost) / 10)
      let place = isSmall ? small.first : main.first
      guard place >= 0, let entry = candidates[place] else { break }
      let frequency = min(3, frequencies[place] &+ (entry.uses &- seen[place]))
      (seen[place], frequencies[place]) = (entry.uses, frequency)
      if isSmall, frequency > 1 {
        remove(place)
        frequencies[place] = 0
        main.append(place)
        mainCost += costs[place]
      } else if !entry.isEvictable || (!isSmall && frequency > 0) {
        if !isSmall, frequency > 0 { frequencies[place] = frequency - 1 }
        moveBack(place, isSmall: isSmall)
      } else {
        remove(place)
        if isSmall { ghosts.append(entry.id, limit: main.count) }
        victims.append(place)
        freed += entry.cost
      }
    }
    return victims
  }

  private func moveBack(_ place: Int, isSmall: Bool) {
    if isSmall {
      small.remove(place)
      small.append(place)
    } else {
      main.remove(place)
      main.append(place)
    }
  }
}

/// The keys of the last evicted entries, in order.
private struct GhostList {
  private var order: [UInt64] = []
  private var begin = 0
  // The latest position of each key. A key that came back and left again is in `order` twice, and only the last counts.
  private var alive: [UInt64: Int] = [:]

  mutating func append(_ id: UInt64, limit: Int) {
    order.append(id)
    alive[id] = order.count - 1 - begin + base
    while alive.count > max(limit, 1), begin < order.count {
      if alive[order[begin]] == base { alive[order[begin]] = nil }
      begin += 1
      base += 1
    }
    // Drop the consumed part now and then.
    if begin > 64, begin > order.count / 2 {
      order.removeFirst(begin)
      begin = 0
    }
  }

  // The position of the key at `begin`, counted from the start of time.
  private var base = 0

  mutating func remove(_ id: UInt64) -> Bool { alive.removeValue(forKey: id) != nil }
}
