/// Evicts from two queues in the order in which they came: newcomers, and what was used while it was new.
///
/// Yang, Zhang, Qiu, Yue and Vinayak, "FIFO queues are all you need for cache eviction" (SOSP 2023). Newcomers get a tenth of
/// the bytes, and the keys of as many that left are remembered as there are in the other queue.
///
/// - Complexity: O(1) for each entry that leaves, amortised.
public final class S3FIFOEviction: EvictionPolicy {
  private var small = PlaceList()
  private var main = PlaceList()
  private var smallCost = 0
  private var mainCost = 0
  private var costs: [Int] = []
  // The uses that count, at most 3, and how many had been made when they were last counted.
  private var frequencies: [UInt32] = []
  private var seen: [UInt32] = []
  private var ghosts = GhostList()

  /// Creates one.
  public init() {}

  /// Puts the entry among the newcomers, or the others if it left not long ago.
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

  /// Takes the place out.
  public func remove(_ place: Int) {
    if small.contains(place) {
      small.remove(place)
      smallCost -= costs[place]
    } else if main.contains(place) {
      main.remove(place)
      mainCost -= costs[place]
    }
  }

  /// Returns the oldest of the newcomers that were used once at most, or of the others that were not used lately.
  public func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
    var victims: [Int] = []
    var freed = 0
    // An entry is met once as a newcomer and four times among the others, until none of its uses counts.
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

/// The keys that left last, in order.
private struct GhostList {
  private var order: [UInt64] = []
  private var begin = 0
  // How often each stands in `order`: one that came back and left again does so twice, and only the last counts.
  private var alive: [UInt64: Int] = [:]

  mutating func append(_ id: UInt64, limit: Int) {
    order.append(id)
    alive[id] = order.count - 1 - begin + base
    while alive.count > max(limit, 1), begin < order.count {
      if alive[order[begin]] == base { alive[order[begin]] = nil }
      begin += 1
      base += 1
    }
    // What was passed is dropped now and then.
    if begin > 64, begin > order.count / 2 {
      order.removeFirst(begin)
      begin = 0
    }
  }

  // The number of the key at `begin`, counted since the beginning.
  private var base = 0

  mutating func remove(_ id: UInt64) -> Bool { alive.removeValue(forKey: id) != nil }
}
