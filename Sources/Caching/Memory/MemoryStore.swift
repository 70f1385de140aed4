import VitrineRuntime

/// What a ``MemoryCache`` is without the type of its values, so that its code is compiled once and called directly.
///
/// Entries lie in numbered places; ``PlaceIndex`` leads from a key's hash to the place. Those of one group are chained.
@usableFromInline
final class MemoryStore: @unchecked Sendable {
  // Sendable, since `state` is only read with a stripe of `lock` held and only changed with all of them; of a place, how it
  // is used is atomic.

  struct Limits: Sendable {
    var cost: Int
    var count: Int
    var entryCost: Int
  }

  struct Entry: Sendable {
    var key: CacheKey
    var value: any AnyObject & Sendable
    var cost: Int
    var group: CacheKey?
    /// Seconds since the reference date; infinite for never.
    var expires: Double
  }

  private struct State: ~Copyable {
    var limits: Limits
    let places = MemoryPlaces()
    var free: [Int] = []
    var index = PlaceIndex()
    var groups: [KeyHash: Int] = [:]
    var cost = 0
    var generation: UInt64 = 0
    var statistics = MemoryCacheStatistics()
    let policy: any EvictionPolicy
  }

  enum Reason {
    case limit, expiry, trim, pressure, removal
  }

  private let lock = StripedLock()
  private let uses = UseClock()
  // Exclusivity is what the lock gives; checking it again costs more than the lock.
  @exclusivity(unchecked)
  private var state: State
  let clock: any TimeSource

  init(limits: Limits, clock: any TimeSource, eviction: Eviction) {
    self.clock = clock
    unsafe state = State(limits: limits, policy: eviction.makePolicy())
  }

  @inline(__always)
  private func reading<Answer>(_ body: (borrowing State, inout StripedLock.Notes) -> Answer) -> Answer {
    // Nobody changes it while a stripe is held.
    lock.reading { unsafe body(state, &$0) }
  }

  private func changing<Answer>(_ body: (inout State) -> Answer) -> Answer {
    // Nobody else reads or changes it while all stripes are held.
    lock.changing { unsafe body(&state) }
  }

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

  // Whatever leaves is handed out of the lock before it is released, since that may run anybody's `deinit`.

  func setLimits(_ change: (inout Limits) -> Void) {
    let left = changing { state in
      change(&state.limits)
      return enforceLimits(&state, newcomer: nil)
    }
    _ = consume left
  }

  @usableFromInline
  func value(for key: CacheKey) -> (any AnyObject & Sendable)? {
    var isExpired = false
    let value = reading { state, notes -> (any AnyObject & Sendable)? in
      guard let place = Self.place(of: key, state) else {
        notes.misses += 1
        return nil
      }
      let expires = state.places[place].expires
      guard expires == .infinity || expires > clock.now.timeIntervalSinceReferenceDate else {
        notes.misses += 1
        isExpired = true
        return nil
      }
      notes.hits += 1
      state.places.use(place, at: uses.tick(&notes))
      return state.places[place].value
    }
    if isExpired { removeExpired(key) }
    return value
  }

  private func removeExpired(_ key: CacheKey) {
    let now = clock.now.timeIntervalSinceReferenceDate
    let left = changing { state -> Entry? in
      // Replaced meanwhile, perhaps.
      guard let place = Self.place(of: key, state), state.places[place].expires <= now else { return nil }
      return Self.empty(place, .expiry, &state)
    }
    _ = consume left
  }

  func contains(_ key: CacheKey) -> Bool {
    let now = clock.now.timeIntervalSinceReferenceDate
    return reading { state, _ in
      Self.place(of: key, state).map { state.places[$0].expires > now } ?? false
    }
  }

  func set(_ entry: Entry) -> Bool {
    let date = entry.expires == .infinity ? 0 : clock.now.timeIntervalSinceReferenceDate
    let (isStored, left) = changing { state -> (Bool, [Entry]) in
      let limits = state.limits
      guard
        entry.cost <= min(limits.cost, limits.entryCost), limits.cost > 0, limits.count > 0, entry.expires > date
      else {
        state.statistics.refusals += 1
        // What is older must not be served in place of what was refused.
        let place = Self.place(of: entry.key, state)
        return (false, place.flatMap { Self.empty($0, .removal, &state) }.map { [$0] } ?? [])
      }
      var left: [Entry] = []
      let place: Int
      if let used = state.index[entry.key.hash] {
        place = used
        if let older = Self.vacate(used, &state) { left.append(older) }
      } else {
        place = state.free.popLast() ?? state.places.append()
        state.index[entry.key.hash] = place
      }
      state.generation += 1
      state.places.fill(place, with: entry, generation: state.generation)
      // What replaces an entry inherits its uses: it is the same picture that is wanted.
      let now = uses.tick(lock)
      state.places.use(place, at: now)
      state.cost += entry.cost
      Self.link(place, entry.group, &state)
      let all = EvictionCandidates(state.places, now: now, includesHeld: true)
      if let candidate = all[place] { state.policy.insert(candidate, into: place) }
      state.statistics.insertions += 1
      if state.cost > limits.cost || state.index.count > limits.count {
        left += enforceLimits(&state, newcomer: place)
      }
      return (state.places.rest(place).generation == state.generation, left)
    }
    _ = consume left
    return isStored
  }

  func remove(_ key: CacheKey) -> (any AnyObject & Sendable)? {
    let left = changing { state in
      Self.place(of: key, state).flatMap { Self.empty($0, .removal, &state) }
    }
    return left?.value
  }

  func removeAll() {
    let left = changing { state in
      (0..<state.places.count).compactMap { Self.empty($0, .removal, &state) }
    }
    _ = consume left
  }

  /// The entries that there are, what removes exactly these, and how often each was used; the caller decides outside of
  /// the lock.
  func entries() -> [(entry: Entry, id: UInt64, uses: Int)] {
    changing { state in
      (0..<state.places.count).compactMap { place in
        state.places.entry(place).map { ($0, state.places.rest(place).generation, Int(state.places.uses(place))) }
      }
    }
  }

  func remove(_ chosen: [(key: CacheKey, id: UInt64)]) {
    let left = changing { state in
      chosen.compactMap { key, id -> Entry? in
        guard let place = Self.place(of: key, state), state.places.rest(place).generation == id else { return nil }
        return Self.empty(place, .removal, &state)
      }
    }
    _ = consume left
  }

  /// Puts values in place of others, or removes them where there is none, if they still are these.
  func replace(_ chosen: [(key: CacheKey, id: UInt64, value: (any AnyObject & Sendable)?)]) {
    let left = changing { state in
      chosen.map { key, id, value -> (Entry?, (any AnyObject & Sendable)?) in
        guard let place = Self.place(of: key, state), state.places.rest(place).generation == id else {
          return (nil, nil)
        }
        guard let value else { return (Self.empty(place, .removal, &state), nil) }
        let older = state.places[place].value
        state.places[place].value = value
        return (nil, older)
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
    let left = changing { state in trim(&state, toCost: cost, toCount: count, .trim) }
    _ = consume left
  }

  /// Evicts half of what there is, or all that is not held.
  func trim(under pressure: MemoryPressure) {
    let left = changing { state in
      switch pressure {
      case .low: trim(&state, toCost: state.cost / 2, toCount: .max, .pressure)
      case .critical: Self.emptyUnheld(.pressure, &state)
      }
    }
    _ = consume left
  }

  func trimUnheld() {
    let left = changing { state in Self.emptyUnheld(.trim, &state) }
    _ = consume left
  }

  /// Marks the entry as in use; returns what ends that.
  func hold(_ key: CacheKey) -> MemoryCacheHold? {
    let now = clock.now.timeIntervalSinceReferenceDate
    return changing { state in
      guard let place = Self.place(of: key, state), state.places[place].expires > now else { return nil }
      state.places.hold(place, 1)
      return MemoryCacheHold(store: self, place: place, id: state.places.rest(place).generation)
    }
  }

  func release(_ place: Int, id: UInt64) {
    changing { state in
      // Replaced or removed meanwhile: then nobody holds what is there now.
      if state.places.rest(place).generation == id, state.places[place].holds > 0 { state.places.hold(place, -1) }
    }
  }

  // MARK: - With the lock held

  @inline(__always)
  private static func place(of key: CacheKey, _ state: borrowing State) -> Int? {
    guard let place = state.index[key.hash], state.places[place].key == key else { return nil }
    return place
  }

  /// Takes the entry out and leaves the place to its successor.
  private static func vacate(_ place: Int, _ state: inout State) -> Entry? {
    guard let entry = state.places.entry(place) else { return nil }
    state.places.vacate(place)
    unlink(place, entry.group, &state)
    state.cost -= entry.cost
    // Another key of the same hash does not inherit anything, but that never happens.
    return entry
  }

  private static func empty(_ place: Int, _ reason: Reason, _ state: inout State) -> Entry? {
    guard let entry = vacate(place, &state) else { return nil }
    state.index[entry.key.hash] = nil
    state.places.forget(place)
    state.free.append(place)
    state.policy.remove(place)
    switch reason {
    case .limit: state.statistics.evictionsByLimit += 1
    case .expiry: state.statistics.evictionsByExpiry += 1
    case .trim: state.statistics.evictionsByTrimming += 1
    case .pressure: state.statistics.evictionsByPressure += 1
    case .removal: state.statistics.removals += 1
    }
    return entry
  }

  private static func emptyUnheld(_ reason: Reason, _ state: inout State) -> [Entry] {
    (0..<state.places.count).compactMap { state.places[$0].holds == 0 ? empty($0, reason, &state) : nil }
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

  private func enforceLimits(_ state: inout State, newcomer: Int?) -> [Entry] {
    let limits = state.limits
    guard state.cost > limits.cost || state.index.count > limits.count else { return [] }
    var left: [Entry] = []
    // Down to 95 %, of what nobody looks at and has not just come; beyond that only as far as the limits demand.
    if limits.cost > 0, limits.count > 0 {
      left = evict(
        &state,
        toCost: state.cost > limits.cost ? limits.cost - limits.cost / 20 : .max,
        toCount: state.index.count > limits.count ? limits.count - limits.count / 20 : .max,
        .limit,
        EvictionCandidates(state.places, now: uses.now(lock), except: newcomer, includesHeld: false),
      )
    }
    return left + trim(&state, toCost: limits.cost, toCount: limits.count, .limit)
  }

  /// Evicts what is not held, and where that does not do, what is.
  private func trim(_ state: inout State, toCost cost: Int, toCount count: Int, _ reason: Reason) -> [Entry] {
    var left: [Entry] = []
    for includesHeld in [false, true] {
      let candidates = EvictionCandidates(state.places, now: uses.now(lock), includesHeld: includesHeld)
      left += evict(&state, toCost: max(0, cost), toCount: max(0, count), reason, candidates)
    }
    return left
  }

  private func evict(
    _ state: inout State,
    toCost cost: Int,
    toCount count: Int,
    _ reason: Reason,
    _ candidates: EvictionCandidates,
  ) -> [Entry] {
    var left: [Entry] = []
    func excess(_ state: borrowing State) -> (cost: Int, count: Int) {
      (max(0, state.cost - cost), max(0, state.index.count - count))
    }
    func empty(_ victims: [Int], _ state: inout State) {
      for place in victims where excess(state) != (0, 0) {
        // A policy of a user's own may name anything.
        guard candidates.numbers.contains(place), candidates[place]?.isEvictable == true else { continue }
        if let entry = Self.empty(place, reason, &state) { left.append(entry) }
      }
    }
    let before = excess(state)
    guard before != (0, 0) else { return [] }
    empty(state.policy.victims(freeing: before.cost, count: before.count, among: candidates), &state)
    let rest = excess(state)
    if rest != (0, 0) {
      empty(LeastRecentlyUsedEviction().victims(freeing: rest.cost, count: rest.count, among: candidates), &state)
    }
    return left
  }
}
