import VitrineRuntime

/// What a ``MemoryCache`` is without the type of its values, so that its code is compiled once and called directly.
///
/// Entries lie in numbered places; ``PlaceIndex`` leads from a key's hash to the place. Those of one group are chained.
@usableFromInline
final class MemoryStore: Sendable {
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

  private struct Place {
    // What a look-up reads comes first, and is read field by field: to copy an entry costs a retain for each object in
    // it, and among many entries each of them is far from the processor.
    var key = MemoryStore.noKey
    var value: (any AnyObject & Sendable)?
    var expires = Double.infinity
    var cost = 0
    var group: CacheKey?
    /// Tells the entry from others that were or will be in this place.
    var generation: UInt64 = 0
    var holds = 0
    var next = -1
    var previous = -1

    var isEmpty: Bool { value == nil }

    /// The whole of it, for whatever is not on the path of a hit.
    var entry: Entry? {
      get {
        value.map { Entry(key: key, value: $0, cost: cost, group: group, expires: expires) }
      }
      set {
        (key, value) = (newValue?.key ?? MemoryStore.noKey, newValue?.value)
        (cost, group, expires) = (newValue?.cost ?? 0, newValue?.group, newValue?.expires ?? .infinity)
      }
    }
  }

  private struct State {
    var limits: Limits
    var places: [Place] = []
    var free: [Int] = []
    var index = PlaceIndex()
    var groups: [KeyHash: Int] = [:]
    var cost = 0
    var generation: UInt64 = 0
    var statistics = MemoryCacheStatistics()
    let policy: any EvictionPolicy
  }

  enum Reason {
    case limit, expiry, trim, removal
  }

  private static let noKey = CacheKey(bytes: [])

  private let state: Lock<State>
  let clock: any TimeSource

  init(limits: Limits, clock: any TimeSource, makePolicy: () -> sending any EvictionPolicy) {
    self.clock = clock
    state = Lock(State(limits: limits, policy: makePolicy()))
  }

  var statistics: MemoryCacheStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.count = state.index.count
      statistics.cost = state.cost
      return statistics
    }
  }

  var limits: Limits {
    state.withLock { $0.limits }
  }

  // Whatever leaves is handed out of the lock before it is released, since that may run anybody's `deinit`.

  func setLimits(_ change: (inout Limits) -> Void) {
    let left = state.withLock { state in
      change(&state.limits)
      return Self.enforceLimits(&state, newcomer: nil)
    }
    _ = consume left
  }

  @usableFromInline
  func value(for key: CacheKey) -> (any AnyObject & Sendable)? {
    let (value, isExpired) = state.withLock { state -> ((any AnyObject & Sendable)?, Bool) in
      guard let place = Self.place(of: key, state) else {
        state.statistics.misses += 1
        return (nil, false)
      }
      let expires = state.places[place].expires
      guard expires == .infinity || expires > clock.now.timeIntervalSinceReferenceDate else {
        state.statistics.misses += 1
        return (nil, true)
      }
      state.statistics.hits += 1
      state.policy.use(place)
      return (state.places[place].value, false)
    }
    if isExpired { removeExpired(key) }
    return value
  }

  private func removeExpired(_ key: CacheKey) {
    let now = clock.now.timeIntervalSinceReferenceDate
    let left = state.withLock { state -> Entry? in
      // Replaced meanwhile, perhaps.
      guard let place = Self.place(of: key, state), state.places[place].expires <= now else { return nil }
      return Self.empty(place, .expiry, &state)
    }
    _ = consume left
  }

  func contains(_ key: CacheKey) -> Bool {
    let now = clock.now.timeIntervalSinceReferenceDate
    return state.withLock { state in
      Self.place(of: key, state).map { state.places[$0].expires > now } ?? false
    }
  }

  func set(_ entry: Entry) -> Bool {
    let (isStored, left) = state.withLock { state -> (Bool, [Entry]) in
      let limits = state.limits
      guard
        entry.cost <= min(limits.cost, limits.entryCost), limits.cost > 0, limits.count > 0,
        entry.expires > clock.now.timeIntervalSinceReferenceDate
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
        place = Self.newPlace(&state)
        state.index[entry.key.hash] = place
      }
      state.generation += 1
      state.places[place].generation = state.generation
      state.places[place].holds = 0
      state.places[place].entry = entry
      state.cost += entry.cost
      Self.link(place, entry.group, &state)
      state.policy.insert(place, cost: entry.cost)
      state.statistics.insertions += 1
      left += Self.enforceLimits(&state, newcomer: place)
      return (state.places[place].generation == state.generation && !state.places[place].isEmpty, left)
    }
    _ = consume left
    return isStored
  }

  func remove(_ key: CacheKey) -> (any AnyObject & Sendable)? {
    let left = state.withLock { state in
      Self.place(of: key, state).flatMap { Self.empty($0, .removal, &state) }
    }
    return left?.value
  }

  func removeAll() {
    let left = state.withLock { state in
      let occupied = state.places.indices.filter { !state.places[$0].isEmpty }
      return occupied.compactMap { Self.empty($0, .removal, &state) }
    }
    _ = consume left
  }

  /// The entries that there are, and what removes exactly these; the caller decides outside of the lock.
  func entries() -> [(entry: Entry, id: UInt64)] {
    state.withLock { state in
      state.places.compactMap { place in place.entry.map { ($0, place.generation) } }
    }
  }

  func remove(_ chosen: [(key: CacheKey, id: UInt64)]) {
    let left = state.withLock { state in
      chosen.compactMap { key, id -> Entry? in
        guard let place = Self.place(of: key, state), state.places[place].generation == id else { return nil }
        return Self.empty(place, .removal, &state)
      }
    }
    _ = consume left
  }

  /// Puts values in place of others, or removes them where there is none, if they still are these.
  func replace(_ chosen: [(key: CacheKey, id: UInt64, value: (any AnyObject & Sendable)?)]) {
    let left = state.withLock { state in
      chosen.map { key, id, value -> (Entry?, (any AnyObject & Sendable)?) in
        guard let place = Self.place(of: key, state), state.places[place].generation == id else { return (nil, nil) }
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
    return state.withLock { state in
      var found: [(entry: Entry, id: UInt64)] = []
      var next = state.groups[group.hash] ?? -1
      while next >= 0 {
        if let entry = state.places[next].entry, entry.group == group, entry.expires > now {
          found.append((entry, state.places[next].generation))
        }
        next = state.places[next].next
      }
      return found
    }
  }

  func trim(toCost cost: Int, toCount count: Int) {
    let left = state.withLock { state in
      let (cost, count) = (max(0, cost), max(0, count))
      let unheld = Self.evict(
        &state,
        toCost: cost,
        toCount: count,
        .trim,
        isEvictable: { place, _ in place.holds == 0 },
      )
      return unheld + Self.evict(&state, toCost: cost, toCount: count, .trim, isEvictable: { _, _ in true })
    }
    _ = consume left
  }

  func trimUnheld() {
    let left = state.withLock { state in
      let unheld = state.places.indices.filter { !state.places[$0].isEmpty && state.places[$0].holds == 0 }
      return unheld.compactMap { Self.empty($0, .trim, &state) }
    }
    _ = consume left
  }

  /// Marks the entry as in use; returns what ends that.
  func hold(_ key: CacheKey) -> (place: Int, id: UInt64, value: any AnyObject & Sendable)? {
    let now = clock.now.timeIntervalSinceReferenceDate
    return state.withLock { state in
      guard let place = Self.place(of: key, state), let entry = state.places[place].entry, entry.expires > now else {
        return nil
      }
      state.places[place].holds += 1
      return (place, state.places[place].generation, entry.value)
    }
  }

  func release(_ place: Int, id: UInt64) {
    state.withLock { state in
      // Replaced or removed meanwhile: then nobody holds what is there now.
      if state.places[place].generation == id, state.places[place].holds > 0 { state.places[place].holds -= 1 }
    }
  }

  // MARK: - With the lock held

  private static func place(of key: CacheKey, _ state: State) -> Int? {
    guard let place = state.index[key.hash], state.places[place].key == key else { return nil }
    return place
  }

  private static func newPlace(_ state: inout State) -> Int {
    if let place = state.free.popLast() { return place }
    state.places.append(Place())
    return state.places.count - 1
  }

  /// Takes the entry out and leaves the place to its successor.
  private static func vacate(_ place: Int, _ state: inout State) -> Entry? {
    guard let entry = state.places[place].entry else { return nil }
    state.places[place].entry = nil
    unlink(place, entry.group, &state)
    state.cost -= entry.cost
    // Another key of the same hash does not inherit anything, but that never happens.
    return entry
  }

  private static func empty(_ place: Int, _ reason: Reason, _ state: inout State) -> Entry? {
    guard let entry = vacate(place, &state) else { return nil }
    state.index[entry.key.hash] = nil
    state.places[place].holds = 0
    state.places[place].generation = 0
    state.free.append(place)
    state.policy.remove(place)
    switch reason {
    case .limit: state.statistics.evictionsByLimit += 1
    case .expiry: state.statistics.evictionsByExpiry += 1
    case .trim: state.statistics.evictionsByTrimming += 1
    case .removal: state.statistics.removals += 1
    }
    return entry
  }

  private static func link(_ place: Int, _ group: CacheKey?, _ state: inout State) {
    guard let group else { return }
    let first = state.groups.updateValue(place, forKey: group.hash) ?? -1
    state.places[place].next = first
    state.places[place].previous = -1
    if first >= 0 { state.places[first].previous = place }
  }

  private static func unlink(_ place: Int, _ group: CacheKey?, _ state: inout State) {
    guard let group else { return }
    let (previous, next) = (state.places[place].previous, state.places[place].next)
    if next >= 0 { state.places[next].previous = previous }
    if previous >= 0 {
      state.places[previous].next = next
    } else {
      state.groups[group.hash] = next >= 0 ? next : nil
    }
    state.places[place].next = -1
    state.places[place].previous = -1
  }

  private static func enforceLimits(_ state: inout State, newcomer: Int?) -> [Entry] {
    let limits = state.limits
    guard state.cost > limits.cost || state.index.count > limits.count else { return [] }
    var left: [Entry] = []
    // Down to 95 %, of what nobody looks at and has not just come; beyond that only as far as the limits demand.
    if limits.cost > 0, limits.count > 0 {
      left += evict(
        &state,
        toCost: state.cost > limits.cost ? limits.cost - limits.cost / 20 : .max,
        toCount: state.index.count > limits.count ? limits.count - limits.count / 20 : .max,
        .limit,
        isEvictable: { $0.holds == 0 && $1 != newcomer },
      )
    }
    left += evict(
      &state,
      toCost: limits.cost,
      toCount: limits.count,
      .limit,
      isEvictable: { place, _ in place.holds == 0 },
    )
    left += evict(&state, toCost: limits.cost, toCount: limits.count, .limit, isEvictable: { _, _ in true })
    return left
  }

  private static func evict(
    _ state: inout State,
    toCost cost: Int,
    toCount count: Int,
    _ reason: Reason,
    isEvictable: (Place, Int) -> Bool,
  ) -> [Entry] {
    let victims: [Int]
    do {
      let (excessCost, excessCount) = (state.cost - cost, state.index.count - count)
      guard excessCost > 0 || excessCount > 0 else { return [] }
      let places = state.places
      victims = state.policy.victims(freeing: max(0, excessCost), count: max(0, excessCount)) {
        !places[$0].isEmpty && isEvictable(places[$0], $0)
      }
    }
    var left: [Entry] = []
    for place in victims {
      guard state.cost > cost || state.index.count > count else { break }
      if let entry = empty(place, reason, &state) { left.append(entry) }
    }
    return left
  }
}
