import Contest
import VitrineCaching

/// The hit ratio by requests, by bytes, and by the cost of loading, which is a fixed amount plus the bytes.
struct Ratios {
  var hits = 0.0
  var bytes = 0.0
  var cost = 0.0
}

/// The fixed cost of a miss, as the number of bytes that could be loaded in that time.
let fixedCost = 400_000.0

/// A contestant: one way to keep a part of the data.
struct Contender: Sendable {
  let name: String
  /// Replays a trace with a cache of this size.
  let replay: @Sendable (Trace, Int) -> Ratios

  /// A cache of ours with this eviction.
  static func cache(_ name: String, _ eviction: Eviction) -> Contender {
    Contender(name: name) { trace, limit in
      let cache = MemoryCache<Int>(costLimit: limit, eviction: eviction)
      var keys: [Int: CacheKey] = [:]
      return Ratios(of: trace) { id, size in
        let key = keys[id] ?? CacheKey { $0.append(id) }
        keys[id] = key
        if cache.value(for: key) != nil { return true }
        cache.store(id, for: key, cost: size)
        return false
      }
    }
  }

  /// Textbook LRU, which evicts no more than it must.
  static let textbook = Contender(name: "textbook LRU") { trace, limit in
    // A list over slots, from the oldest to the newest. Slot 0 is both ends.
    var (next, previous, slots) = ([0], [0], [Int: Int]())
    var (ids, sizes, used) = ([-1], [0], 0)
    func unlink(_ slot: Int) { (next[previous[slot]], previous[next[slot]]) = (next[slot], previous[slot]) }
    func append(_ slot: Int) {
      (previous[slot], next[slot]) = (previous[0], 0)
      (next[previous[0]], previous[0]) = (slot, slot)
    }
    return Ratios(of: trace) { id, size in
      if let slot = slots[id] {
        unlink(slot)
        append(slot)
        return true
      }
      guard size <= limit else { return false }
      used += size
      while used > limit {
        let oldest = next[0]
        unlink(oldest)
        slots[ids[oldest]] = nil
        used -= sizes[oldest]
      }
      next.append(0)
      previous.append(0)
      ids.append(id)
      sizes.append(size)
      slots[id] = ids.count - 1
      append(ids.count - 1)
      return false
    }
  }

  static let all = [
    textbook,
    cache("LRU", .leastRecentlyUsed),
    cache("score", .score),
  ]
}

extension Ratios {
  /// Requests all entries of a trace.
  init(of trace: Trace, _ ask: (_ id: Int, _ size: Int) -> Bool) {
    var all = Ratios()
    for (id, size) in trace.requests {
      let cost = fixedCost + Double(size)
      all.hits += 1
      all.bytes += Double(size)
      all.cost += cost
      guard ask(id, size) else { continue }
      hits += 1
      bytes += Double(size)
      self.cost += cost
    }
    (hits, bytes, cost) = (100 * hits / all.hits, 100 * bytes / all.bytes, 100 * self.cost / all.cost)
  }
}
