import VitrineRuntime

/// The cost and the number of entries that may stay.
struct EvictionGoal: Sendable {
  var cost: Int
  var count: Int

  static let none = EvictionGoal(cost: 0, count: 0)
}

extension MemoryStore.Totals {
  /// Returns the cost and count in excess of a goal if `need` is added.
  func excess(over goal: EvictionGoal, with need: EvictionGoal = .none) -> EvictionGoal {
    EvictionGoal(
      cost: max(0, statistics.cost + need.cost - goal.cost),
      count: max(0, statistics.count + need.count - goal.count),
    )
  }

  func exceeds(_ goal: EvictionGoal, with need: EvictionGoal = .none) -> Bool {
    let excess = excess(over: goal, with: need)
    return excess.cost > 0 || excess.count > 0
  }

  /// Returns the goal for adding `need`, 5 % below each limit that would be exceeded, or `nil` if none would.
  ///
  /// Ignores a limit that is not exceeded, so that keeping the other one evicts no more than it must.
  func ampleGoal(for need: EvictionGoal) -> EvictionGoal? {
    let (limit, excess) = (limits.goal, excess(over: limits.goal, with: need))
    guard excess.cost > 0 || excess.count > 0 else { return nil }
    return EvictionGoal(
      cost: excess.cost > 0 ? max(0, limit.cost - limit.cost / 20 - need.cost) : .max,
      count: excess.count > 0 ? max(0, limit.count - limit.count / 20 - need.count) : .max,
    )
  }
}

/// Evicts from all shards in one order.
///
/// Ages of different shards can be compared, see ``UseClock``. Shards are looked at one after the other, so hits and
/// stores that fit go on meanwhile.
extension MemoryStore {
  private typealias Candidate = (shard: Int, entry: MemoryTable.Candidate, rank: Float, age: UInt32)

  func setLimits(_ change: (inout Limits) -> Void) {
    let goal = totals.withLock { totals in
      change(&totals.limits)
      return totals.ampleGoal(for: .none)
    }
    guard let goal else { return }
    evict(to: goal, .limit, includingHeld: false)
    evict(to: limits.goal, .limit, includingHeld: true)
  }

  /// Evicts until `need` fits, sparing held entries and the entry to be replaced.
  ///
  /// - Returns: `false` if there is nothing to evict.
  func makeRoom(for need: EvictionGoal, replacing key: CacheKey) -> Bool {
    let left = evicting.withLock { _ -> [Entry]? in
      guard let goal = totals.withLock({ $0.ampleGoal(for: need) }) else { return [] }
      let left = choose(to: goal, .limit, includingHeld: false, sparing: key)
      return left.isEmpty ? nil : left
    }
    left?.forEach(unlist)
    return left != nil
  }

  func trim(to goal: EvictionGoal, _ reason: Reason) {
    evict(to: goal, reason, includingHeld: false)
    evict(to: goal, reason, includingHeld: true)
  }

  /// Evicts half of the total cost, or all entries that are not held.
  func trim(under pressure: MemoryPressure) {
    switch pressure {
    case .low: trim(to: EvictionGoal(cost: statistics.cost / 2, count: .max), .pressure)
    case .critical: removeAll(includingHeld: false, .pressure)
    }
  }

  private func evict(to goal: EvictionGoal, _ reason: Reason, includingHeld: Bool) {
    let left = evicting.withLock { _ in choose(to: goal, reason, includingHeld: includingHeld, sparing: nil) }
    left.forEach(unlist)
  }

  /// Evicts the entries of the highest rank until the goal is reached, and returns them.
  ///
  /// Call it with ``evicting`` held. Complexity: O(n). The cache shrinks to 95 %, so that happens once in 5 % of n
  /// insertions.
  private func choose(
    to goal: EvictionGoal,
    _ reason: Reason,
    includingHeld: Bool,
    sparing key: CacheKey?,
  ) -> [Entry] {
    let excess = totals.withLock { $0.excess(over: goal) }
    guard excess.cost > 0 || excess.count > 0 else { return [] }
    var left: [Entry] = []
    for victim in victims(freeing: excess, includingHeld, sparing: key) {
      guard totals.withLock({ $0.exceeds(goal) }) else { break }
      let entry = shards.withLock(victim.shard) { shard -> Entry? in
        let place = victim.entry.place
        // The entry may have been replaced, removed or held meanwhile.
        guard shard.table.id(place) == victim.entry.id, includingHeld || !shard.table.isHeld(place) else { return nil }
        return shard.table.remove(place)
      }
      guard let entry else { continue }
      account([entry], reason)
      left.append(entry)
    }
    return left
  }

  /// Returns the fewest entries that free enough, by descending rank.
  ///
  /// Among equal ranks, the entry unused for longer comes first.
  private func victims(freeing excess: EvictionGoal, _ includingHeld: Bool, sparing key: CacheKey?) -> [Candidate] {
    var candidates = candidates(includingHeld, sparing: key)
    var costs = ScoreHistogram()
    var counts = ScoreHistogram()
    for candidate in candidates {
      if excess.cost > 0 { costs.add(candidate.rank, size: candidate.entry.cost) }
      if excess.count > 0 { counts.add(candidate.rank, size: 1) }
    }
    // Sort only the entries that will leave, and the few that share the last bucket with them.
    let lowest = min(
      excess.cost > 0 ? costs.bucket(freeing: excess.cost) : Int.max,
      excess.count > 0 ? counts.bucket(freeing: excess.count) : Int.max,
    )
    candidates.removeAll { ScoreHistogram.bucket(of: $0.rank) < lowest }
    candidates.sort { ($0.rank, $0.age, $1.entry.place) > ($1.rank, $1.age, $0.entry.place) }
    return candidates
  }

  private func candidates(_ includingHeld: Bool, sparing key: CacheKey?) -> [Candidate] {
    let now = shards.each { $0.time }.max() ?? 0
    var candidates: [Candidate] = []
    candidates.reserveCapacity(totals.withLock { $0.statistics.count })
    let spared = key.map { MemoryShards.number(of: $0) }
    for number in 0..<MemoryShards.count {
      let (entries, time, sparedPlace) = shards.withLock(number) { shard in
        (
          shard.table.candidates(includingHeld: includingHeld), shard.time,
          number == spared ? key.flatMap { shard.table.place(of: $0) } : nil,
        )
      }
      // Uses continue meanwhile, and none may be later than now.
      let latest = UInt32(truncatingIfNeeded: max(now, time))
      for entry in entries where entry.place != sparedPlace {
        let age = latest &- entry.lastUse
        let rank = eviction.rank(age: age, cost: entry.cost, uses: entry.uses)
        candidates.append((number, entry, rank, age))
      }
    }
    return candidates
  }
}
