import Synchronization
import VitrineRuntime

/// The part of a ``MemoryCache`` without the type of its values, compiled once and called directly.
///
/// Entries lie in numbered places. ``PlaceIndex`` maps the hash of a key to its place. The entries of a group form a
/// list.
@usableFromInline
final class MemoryStore: @unchecked Sendable {
  // Sendable, since `state` is only read with a stripe of `lock` held and only changed with all of them; the uses of a
  // place are atomic. `policy` is called by one thread at a time.

  struct Limits: Sendable {
    /// The maximum that counts as cost, so that no sum of costs overflows.
    static let ceiling = Int.max / 4

    var cost: Int
    var count: Int
    var entryCost: Int

    var goal: EvictionGoal { EvictionGoal(cost: min(cost, Self.ceiling), count: count) }
  }

  struct Entry: Sendable {
    var key: CacheKey
    var value: any AnyObject & Sendable
    var cost: Int
    var group: CacheKey?
    /// Seconds since the reference date, infinite for never.
    var expires: Double
  }

  struct State: ~Copyable {
    var limits: Limits
    let places = MemoryPlaces()
    var free: [Int] = []
    var index = PlaceIndex()
    var groups: [KeyHash: Int] = [:]
    var cost = 0
    /// The generation of the latest entry.
    var generation: UInt64 = 0
    var statistics = MemoryCacheStatistics()
    var turns = PolicyTurns()

    /// Returns the cost and count in excess of the limits.
    func excess(_ limits: EvictionGoal) -> (cost: Int, count: Int) {
      (max(0, cost - limits.cost), max(0, index.count - limits.count))
    }
  }

  enum Reason {
    case limit, expiry, trim, pressure, removal
  }

  private let lock = StripedLock()
  let uses = UseClock()
  // The lock guarantees exclusivity. Checking it again costs more than the lock.
  @exclusivity(unchecked)
  private var state: State
  let clock: any TimeSource
  // A built-in policy is called with the lock held. A custom one is called by the thread that takes turns, one at a
  // time; see ``takeTurns()``.
  let policy: any EvictionPolicy
  let isPolicyOwn: Bool
  /// Set once an entry with an expiry was stored.
  private let mayExpire = Atomic(false)

  init(limits: Limits, clock: any TimeSource, eviction: Eviction) {
    self.clock = clock
    policy = eviction.makePolicy()
    isPolicyOwn = eviction.isOwn
    unsafe state = State(limits: limits)
  }

  @inline(__always)
  private func reading<Answer>(_ body: (borrowing State, inout StripedLock.Notes) -> Answer) -> Answer {
    // Nothing changes the state while a stripe is held.
    lock.reading { unsafe body(state, &$0) }
  }

  func changing<Answer>(_ body: (inout State) -> Answer) -> Answer {
    // Nothing else reads or changes the state while all stripes are held.
    lock.changing { unsafe body(&state) }
  }

  /// Changes the state, then gives a custom policy its turn without the lock.
  private func changingInTurn<Answer>(_ body: (inout State) -> Answer) -> Answer {
    let (answer, isDue) = changing { state in
      let answer = body(&state)
      return (answer, !isPolicyOwn && state.isTurnDue)
    }
    if isDue { takeTurns() }
    return answer
  }

  /// Returns the latest time of a use.
  ///
  /// Call it with the lock held.
  func now() -> UInt32 { uses.now(lock) }

  var statistics: MemoryCacheStatistics {
    changing { state in
      var statistics = state.statistics
      statistics.count = state.index.count
      statistics.cost = state.cost
      lock.eachNotes { notes in
        statistics.hits += notes.hits
        statistics.misses += notes.misses
      }
      return statistics
    }
  }

  var limits: Limits {
    changing { $0.limits }
  }

  // Evicted values are moved out of the lock before they are released, since that may run any `deinit`.

  func setLimits(_ change: (inout Limits) -> Void) {
    let left = changingInTurn { state in
      change(&state.limits)
      return isPolicyOwn ? enforceLimits(&state, newcomer: nil) : []
    }
    _ = consume left
  }

  @usableFromInline
  func value(for key: CacheKey) -> (any AnyObject & Sendable)? { value(for: key, countsMiss: true) }

  func value(for key: CacheKey, countsMiss: Bool) -> (any AnyObject & Sendable)? {
    enum Finding {
      case found(any AnyObject & Sendable)
      case none, expired, undated
    }
    // A custom clock may run any code, so it is read without the lock, and only if an entry can expire.
    var now = mayExpire.load(ordering: .relaxed) ? clock.now.timeIntervalSinceReferenceDate : -.infinity
    while true {
      let finding = reading { state, notes -> Finding in
        guard let place = Self.place(of: key, state), let value = state.places.value(place) else {
          if countsMiss { notes.misses += 1 }
          return .none
        }
        if state.places.canExpire(place), state.places.expires(place) <= now || now == -.infinity {
          guard now > -.infinity else { return .undated }
          if countsMiss { notes.misses += 1 }
          return .expired
        }
        notes.hits += 1
        state.places.use(place, at: uses.tick(&notes))
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

  func countMiss() { reading { _, notes in notes.misses += 1 } }

  private func removeExpired(_ key: CacheKey, _ now: Double) {
    let left = changingInTurn { state -> Entry? in
      // The entry may have been replaced meanwhile.
      guard let place = Self.place(of: key, state), state.places.expires(place) <= now else { return nil }
      return empty(place, .expiry, &state)
    }
    _ = consume left
  }

  func contains(_ key: CacheKey) -> Bool {
    let now = clock.now.timeIntervalSinceReferenceDate
    return reading { state, _ in
      Self.place(of: key, state).map { state.places.expires($0) > now } ?? false
    }
  }

  /// Returns the value for a key without counting it as used.
  func peek(_ key: CacheKey) -> (any AnyObject & Sendable)? {
    let now = clock.now.timeIntervalSinceReferenceDate
    return reading { state, _ in
      guard let place = Self.place(of: key, state), state.places.expires(place) > now else { return nil }
      return state.places.value(place)
    }
  }

  func set(_ entry: Entry) -> Bool {
    let date = entry.expires == .infinity ? 0 : clock.now.timeIntervalSinceReferenceDate
    if entry.expires != .infinity { mayExpire.store(true, ordering: .relaxed) }
    let (generation, left) = changingInTurn { state in set(entry, at: date, &state) }
    _ = consume left
    guard let generation else { return false }
    // A custom policy may have evicted it in its turn.
    return isPolicyOwn
      || reading { state, _ in Self.place(of: entry.key, state).map(state.places.generation) == generation }
  }

  /// Stores an entry and returns its generation, or `nil` if it was refused or evicted at once, and the removed
  /// entries.
  private func set(_ entry: Entry, at date: Double, _ state: inout State) -> (UInt64?, [Entry]) {
    let limits = state.limits
    guard
      entry.cost <= min(limits.goal.cost, limits.entryCost), limits.cost > 0, limits.count > 0, entry.expires > date
    else {
      state.statistics.refusals += 1
      // The older entry must not be served in place of the refused one.
      let place = Self.place(of: entry.key, state)
      return (nil, place.flatMap { empty($0, .removal, &state) }.map { [$0] } ?? [])
    }
    var left: [Entry] = []
    let place: Int
    let used = Self.place(of: entry.key, state)
    if let used {
      place = used
      if let older = Self.vacate(used, &state) { left.append(older) }
    } else {
      place = state.free.popLast() ?? state.places.append()
      state.index.insert(entry.key.hash, place)
    }
    state.generation += 1
    let generation = state.generation
    state.places.fill(place, with: entry, generation: generation)
    // A replacement inherits the uses, since it stands for the same image.
    let now = uses.tick(lock)
    state.places.use(place, at: now)
    state.cost += entry.cost
    Self.link(place, entry.group, &state)
    if let candidate = EvictionCandidates(state.places, now: now, includesHeld: true)[place] {
      if isPolicyOwn {
        policy.insert(candidate, into: place)
      } else {
        state.turns.notes.insert(candidate, into: place, replaces: used != nil)
      }
    }
    state.statistics.insertions += 1
    left += isPolicyOwn ? enforceLimits(&state, newcomer: place) : keepOverrunSmall(&state)
    return (state.places.generation(place) == generation ? generation : nil, left)
  }

  func remove(_ key: CacheKey) -> (any AnyObject & Sendable)? {
    let left = changingInTurn { state in
      Self.place(of: key, state).flatMap { empty($0, .removal, &state) }
    }
    return left?.value
  }

  func removeAll() {
    let left = changingInTurn { state in
      (0..<state.places.count).compactMap { empty($0, .removal, &state) }
    }
    _ = consume left
  }

  /// Returns all entries with their generations and numbers of uses, for the caller to choose among without the lock.
  func entries() -> [(entry: Entry, id: UInt64, uses: Int)] {
    changing { state in
      (0..<state.places.count).compactMap { place in
        state.places.entry(place).map { ($0, state.places.generation(place), Int(state.places.uses(place))) }
      }
    }
  }

  func remove(_ chosen: [(key: CacheKey, id: UInt64)]) {
    let left = changingInTurn { state in
      chosen.compactMap { key, id -> Entry? in
        guard let place = Self.place(of: key, state), state.places.generation(place) == id else { return nil }
        return empty(place, .removal, &state)
      }
    }
    _ = consume left
  }

  /// Replaces or removes the values of entries that are still the same generation.
  func replace(_ chosen: [(key: CacheKey, id: UInt64, value: (any AnyObject & Sendable)?)]) {
    let left = changingInTurn { state in
      chosen.map { key, id, value -> (Entry?, (any AnyObject & Sendable)?) in
        guard let place = Self.place(of: key, state), state.places.generation(place) == id else {
          return (nil, nil)
        }
        guard let value else { return (empty(place, .removal, &state), nil) }
        return (nil, state.places.replaceValue(place, with: value))
      }
    }
    _ = consume left
  }

  func variants(of group: CacheKey) -> [(entry: Entry, id: UInt64)] {
    let now = clock.now.timeIntervalSinceReferenceDate
    return reading { state, _ in
      var found: [(entry: Entry, id: UInt64)] = []
      var next = state.groups[group.hash] ?? -1
      while next >= 0 {
        let rest = state.places.rest(next)
        if let entry = state.places.entry(next), entry.group == group, entry.expires > now {
          found.append((entry, rest.generation))
        }
        next = rest.next
      }
      return found
    }
  }

  func trim(toCost cost: Int, toCount count: Int) {
    let left = changingInTurn { state in
      trim(&state, to: EvictionGoal(cost: max(0, cost), count: max(0, count)), .trim)
    }
    _ = consume left
  }

  /// Evicts half of the total cost, or all entries that are not held.
  func trim(under pressure: MemoryPressure) {
    let left = changingInTurn { state in
      switch pressure {
      case .low: trim(&state, to: EvictionGoal(cost: state.cost / 2, count: .max), .pressure)
      case .critical: emptyUnheld(.pressure, &state)
      }
    }
    _ = consume left
  }

  func trimUnheld() {
    let left = changingInTurn { state in emptyUnheld(.trim, &state) }
    _ = consume left
  }

  /// Marks an entry as held and returns the token.
  func hold(_ key: CacheKey) -> MemoryCacheHold? {
    let now = clock.now.timeIntervalSinceReferenceDate
    return changing { state in
      guard let place = Self.place(of: key, state), state.places.expires(place) > now else { return nil }
      state.places.hold(place, 1)
      return MemoryCacheHold(store: self, place: place, id: state.places.generation(place))
    }
  }

  func release(_ place: Int, id: UInt64) {
    changing { state in
      // After a replacement or removal, the token holds nothing.
      if state.places.generation(place) == id, state.places.isHeld(place) { state.places.hold(place, -1) }
    }
  }

  // MARK: - With the lock held

  @inline(__always)
  private static func place(of key: CacheKey, _ state: borrowing State) -> Int? {
    let places = state.places
    return state.index.place(key.hash) { places.hasKey($0, key) }
  }

  /// Removes the entry but keeps its place for a successor.
  private static func vacate(_ place: Int, _ state: inout State) -> Entry? {
    guard let entry = state.places.entry(place) else { return nil }
    unlink(place, entry.group, &state)
    state.places.vacate(place)
    state.cost -= entry.cost
    return entry
  }

  func empty(_ place: Int, _ reason: Reason, _ state: inout State) -> Entry? {
    guard let entry = Self.vacate(place, &state) else { return nil }
    state.index.remove(entry.key.hash, place)
    state.places.forget(place)
    state.free.append(place)
    if isPolicyOwn { policy.remove(place) } else { state.turns.notes.remove(place) }
    switch reason {
    case .limit: state.statistics.evictionsByLimit += 1
    case .expiry: state.statistics.evictionsByExpiry += 1
    case .trim: state.statistics.evictionsByTrimming += 1
    case .pressure: state.statistics.evictionsByPressure += 1
    case .removal: state.statistics.removals += 1
    }
    return entry
  }

  private func emptyUnheld(_ reason: Reason, _ state: inout State) -> [Entry] {
    (0..<state.places.count).compactMap { state.places.isHeld($0) ? nil : empty($0, reason, &state) }
  }

  private static func link(_ place: Int, _ group: CacheKey?, _ state: inout State) {
    guard let group else { return }
    let first = state.groups.updateValue(place, forKey: group.hash) ?? -1
    state.places.changeRest(place) { ($0.next, $0.previous) = (first, -1) }
    if first >= 0 { state.places.changeRest(first) { $0.previous = place } }
  }

  private static func unlink(_ place: Int, _ group: CacheKey?, _ state: inout State) {
    guard let group else { return }
    let (previous, next) = (state.places.rest(place).previous, state.places.rest(place).next)
    if next >= 0 { state.places.changeRest(next) { $0.previous = previous } }
    if previous >= 0 {
      state.places.changeRest(previous) { $0.next = next }
    } else {
      state.groups[group.hash] = next >= 0 ? next : nil
    }
    state.places.changeRest(place) { ($0.next, $0.previous) = (-1, -1) }
  }
}
