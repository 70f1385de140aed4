import Synchronization
import VitrineRuntime

/// The part of a ``MemoryCache`` without the type of its values, compiled once and called directly.
///
/// Entries lie in the shard of their key. A hit takes the lock of that shard and no other. Stores and removals also
/// take ``totals``, since the limits hold over all shards. A store reserves its cost there before it inserts, and a
/// removal gives its cost back after it, so the totals are never below the contents of the shards and never above the
/// limits.
@usableFromInline
final class MemoryStore: Sendable {
  struct Limits: Sendable {
    /// The maximum value of a cost, so that no sum of costs overflows.
    static let ceiling = Int.max / 4

    var cost: Int
    var count: Int
    var entryCost: Int

    var goal: EvictionGoal { EvictionGoal(cost: min(cost, Self.ceiling), count: count) }
  }

  /// The fields of an entry that a look-up does not need.
  struct ColdFields: Sendable {
    var key: CacheKey
    var group: CacheKey?
    /// Seconds since the reference date, infinite for never.
    var expires = Double.infinity
    /// The number of the entry in the list of its group, see ``MemoryGroups``.
    var member = -1
  }

  struct Entry: Sendable {
    var cold: ColdFields
    var value: any AnyObject & Sendable
    var cost: Int

    var key: CacheKey { cold.key }
    var group: CacheKey? { cold.group }
    var expires: Double { cold.expires }
  }

  struct Totals: Sendable {
    var limits: Limits
    /// The counts except for hits and misses, which the shards count.
    var statistics = MemoryCacheStatistics()
  }

  let shards = MemoryShards()
  let uses = UseClock()
  /// The totals over all shards.
  ///
  /// The lock is taken for a few instructions, also with a shard held, but not the other way around.
  let totals: Lock<Totals>
  /// The lock of the evicting thread, which takes one shard after the other.
  ///
  /// It is never taken with a shard held.
  let evicting = Lock(())
  let eviction: Eviction
  let clock: any TimeSource
  /// Set once an entry with an expiry was stored.
  private let mayExpire = Atomic(false)

  init(limits: Limits, clock: any TimeSource, eviction: Eviction) {
    (self.clock, self.eviction) = (clock, eviction)
    totals = Lock(Totals(limits: limits))
  }

  /// Takes the shard of a key, or of a group.
  @inline(__always)
  func withShard<Answer>(of key: CacheKey, _ body: (inout MemoryShard) -> Answer) -> Answer {
    shards.withLock(MemoryShards.number(of: key), body)
  }

  var statistics: MemoryCacheStatistics {
    var statistics = totals.withLock { $0.statistics }
    for (hits, misses) in shards.each({ ($0.hits, $0.misses) }) {
      statistics.hits += hits
      statistics.misses += misses
    }
    return statistics
  }

  var limits: Limits { totals.withLock { $0.limits } }

  // MARK: - Look-up

  @usableFromInline
  func value(for key: CacheKey) -> (any AnyObject & Sendable)? {
    enum Finding {
      case found(any AnyObject & Sendable)
      case none, expired, undated
    }
    // A custom clock may run any code, so it is read without a lock, and only if an entry can expire.
    var now = mayExpire.load(ordering: .relaxed) ? clock.now.timeIntervalSinceReferenceDate : -.infinity
    while true {
      let finding = withShard(of: key) { shard -> Finding in
        guard let place = shard.table.place(of: key), let value = shard.table.value(place) else {
          shard.misses += 1
          return .none
        }
        if shard.table.canExpire(place), shard.table.expires(place) <= now || now == -.infinity {
          guard now > -.infinity else { return .undated }
          shard.misses += 1
          return .expired
        }
        shard.hits += 1
        shard.time = uses.tick(after: shard.time)
        shard.table.use(place, at: shard.time)
        return .found(value)
      }
      switch finding {
      case .found(let value): return value
      case .none: return nil
      case .expired:
        removeExpired(key, now)
        return nil
      case .undated:
        // The first entry with an expiry was stored in between.
        now = clock.now.timeIntervalSinceReferenceDate
      }
    }
  }

  private func removeExpired(_ key: CacheKey, _ now: Double) {
    finish(
      withShard(of: key) { shard in
        // The entry may have been replaced meanwhile.
        guard let place = shard.table.place(of: key), shard.table.expires(place) <= now else { return nil }
        return shard.table.remove(place)
      },
      .expiry,
    )
  }

  func contains(_ key: CacheKey) -> Bool {
    let now = clock.now.timeIntervalSinceReferenceDate
    return withShard(of: key) { $0.table.place(of: key, freshAt: now) != nil }
  }

  /// Returns the value for a key without counting it as used.
  func peek(_ key: CacheKey) -> (any AnyObject & Sendable)? {
    let now = clock.now.timeIntervalSinceReferenceDate
    return withShard(of: key) { shard in shard.table.place(of: key, freshAt: now).flatMap { shard.table.value($0) } }
  }

  /// Returns all entries with their ids and numbers of uses, for the caller to choose among without a lock.
  func entries() -> [(entry: Entry, id: UInt64, uses: Int)] { shards.each { $0.table.entries }.flatMap(\.self) }

  func variants(of group: CacheKey) -> [(entry: Entry, id: UInt64)] {
    let now = clock.now.timeIntervalSinceReferenceDate
    return withShard(of: group) { $0.groups.members(of: group) }.compactMap { key, number in
      withShard(of: key) { shard in
        guard let place = shard.table.place(of: key, freshAt: now), let entry = shard.table.entry(place),
          entry.group == group, entry.cold.member == number
        else { return nil }
        return (entry, shard.table.id(place))
      }
    }
  }

  // MARK: - Changes

  func store(_ entry: Entry) -> Bool {
    let date = entry.expires == .infinity ? 0 : clock.now.timeIntervalSinceReferenceDate
    if entry.expires != .infinity { mayExpire.store(true, ordering: .relaxed) }
    let limits = limits
    guard
      entry.cost <= min(limits.goal.cost, limits.entryCost), limits.cost > 0, limits.count > 0, entry.expires > date
    else {
      refuse(entry.key)
      return false
    }
    var entry = entry
    if let group = entry.group { entry.cold.member = withShard(of: group) { $0.groups.add(entry.key, to: group) } }
    while true {
      switch insert(entry) {
      case .stored(let older):
        unlist(older)
        return true
      case .full(let need):
        guard !makeRoom(for: need, replacing: entry.key) else { continue }
        // All remaining entries are held.
        unlist(entry)
        refuse(entry.key)
        return false
      }
    }
  }

  private enum Insertion {
    case stored(older: Entry?)
    /// The cost and count by which the totals would grow.
    case full(EvictionGoal)
  }

  private func insert(_ entry: Entry) -> Insertion {
    withShard(of: entry.key) { shard in
      let olderCost = shard.table.place(of: entry.key).map { shard.table.cost($0) }
      let need = EvictionGoal(cost: entry.cost - (olderCost ?? 0), count: olderCost == nil ? 1 : 0)
      let isReserved = totals.withLock { totals in
        guard !totals.exceeds(totals.limits.goal, with: need) else { return false }
        totals.statistics.cost += need.cost
        totals.statistics.count += need.count
        totals.statistics.insertions += 1
        return true
      }
      guard isReserved else { return .full(need) }
      shard.time = uses.tick(after: shard.time)
      return .stored(older: shard.table.store(entry, at: shard.time))
    }
  }

  /// Counts a refusal and removes the older entry, which must not be served in place of the refused one.
  private func refuse(_ key: CacheKey) {
    totals.withLock { $0.statistics.refusals += 1 }
    _ = remove(key)
  }

  func remove(_ key: CacheKey) -> (any AnyObject & Sendable)? {
    let entry = withShard(of: key) { shard in shard.table.place(of: key).flatMap { shard.table.remove($0) } }
    finish(entry, .removal)
    return entry?.value
  }

  func removeAll(includingHeld: Bool = true, _ reason: Reason = .removal) {
    for entries in shards.each({ $0.table.removeAll(includingHeld: includingHeld) }) { finish(entries, reason) }
  }

  func remove(_ chosen: [(key: CacheKey, id: UInt64)]) { replace(chosen.map { ($0.key, $0.id, nil) }) }

  /// Replaces or removes the values of entries that are still the same.
  func replace(_ chosen: [(key: CacheKey, id: UInt64, value: (any AnyObject & Sendable)?)]) {
    for (key, id, value) in chosen {
      // The older value is moved out of the lock before it is released.
      let (removed, older) = withShard(of: key) { shard -> (Entry?, (any AnyObject & Sendable)?) in
        guard let place = shard.table.place(of: key, id: id) else { return (nil, nil) }
        guard let value else { return (shard.table.remove(place), nil) }
        return (nil, shard.table.replaceValue(place, with: value))
      }
      _ = consume older
      finish(removed, .removal)
    }
  }

  /// Marks an entry as held and returns the token.
  func hold(_ key: CacheKey) -> MemoryCacheHold? {
    let now = clock.now.timeIntervalSinceReferenceDate
    let held = withShard(of: key) { shard -> (place: Int, id: UInt64)? in
      guard let place = shard.table.place(of: key, freshAt: now) else { return nil }
      let id = shard.table.id(place)
      shard.table.hold(place, id: id, 1)
      return (place, id)
    }
    return held.map { MemoryCacheHold(store: self, shard: MemoryShards.number(of: key), place: $0.place, id: $0.id) }
  }

  /// Ends a hold, unless the entry has been replaced or removed.
  func release(shard number: Int, _ place: Int, id: UInt64) {
    shards.withLock(number) { $0.table.hold(place, id: id, -1) }
  }

  // MARK: - After entries have left

  // Entries are moved out of the lock before they are released, since that may run any `deinit`.

  func finish(_ entry: Entry?, _ reason: Reason) {
    if let entry { finish([entry], reason) }
  }

  /// Gives back the costs of entries that have left their shards, and removes them from their groups.
  func finish(_ entries: [Entry], _ reason: Reason) {
    guard !entries.isEmpty else { return }
    account(entries, reason)
    for entry in entries { unlist(entry) }
  }

  func account(_ entries: [Entry], _ reason: Reason) {
    let cost = entries.reduce(0) { $0 + $1.cost }
    totals.withLock { totals in
      totals.statistics.cost -= cost
      totals.statistics.count -= entries.count
      totals.statistics[keyPath: reason.counter] += entries.count
    }
  }

  func unlist(_ entry: Entry?) {
    guard let entry, let group = entry.group else { return }
    withShard(of: group) { $0.groups.remove(entry.cold.member, of: group) }
  }

  enum Reason {
    case limit, expiry, trim, pressure, removal

    var counter: WritableKeyPath<MemoryCacheStatistics, Int> {
      switch self {
      case .limit: \.evictionsByLimit
      case .expiry: \.evictionsByExpiry
      case .trim: \.evictionsByTrimming
      case .pressure: \.evictionsByPressure
      case .removal: \.removals
      }
    }
  }
}
