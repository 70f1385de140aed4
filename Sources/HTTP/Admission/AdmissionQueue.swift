import VitrineRuntime

/// A queue that chooses the next load to start: the most urgent one whose host has a free slot and a token.
///
/// Slots bound the loads that run at once, and rates the loads that start in a time, each in total and for a host. Any
/// of the limits may be missing.
///
/// Slow hosts must not take every slot. An eighth of the slots is kept for hosts without a running load and for urgent
/// loads, and another eighth for urgent loads of hosts that have few running.
///
/// It is a value without a clock, threads or sockets, so its order can be tested without them. Callers pass the time.
///
/// - Complexity: O(log n) over the waiting loads for each operation, amortised. To admit one, up to as many hosts as
///   there are slots are skipped.
struct AdmissionQueue<ID: Hashable> {
  /// A position in the queue.
  struct Place: Hashable, Sendable {
    /// The number of loads of the same host and priority before it, counted from the current turn.
    fileprivate var turn: Int
    fileprivate let sequence: Int
  }

  /// A load, which counts only while it is equal to the one in ``waiting``.
  private struct Entry: Comparable {
    let id: ID
    let host: String
    var priority: Priority
    var place: Place

    static func < (left: Entry, right: Entry) -> Bool {
      (right.priority, left.place.turn, left.place.sequence) < (left.priority, right.place.turn, right.place.sequence)
    }
  }

  private struct Host {
    var running = 0
    var limit: Int?
    var bucket: TokenBucket?
    var entries = PriorityHeap<Entry>()
    var waiting = 0
    /// The turn of the last load of each priority.
    var turns: [Priority: Int] = [:]
    /// The load that stands in the heap of candidates.
    var candidate: Entry?
    /// The time of the next token, if the host waits for it.
    var wake: Duration?

    var isBlocked: Bool { wake != nil || limit.map { running >= $0 } ?? false }

    /// Drops removed and reprioritised entries, makes the first load the candidate, and returns it if it was not the
    /// candidate before.
    mutating func nominate(_ all: [ID: Entry]) -> Entry? {
      while let first = entries.first, all[first.id] != first { entries.takeFirst() }
      if entries.count > 2 * waiting + 64 { entries.keepOnly { all[$0.id] == $0 } }
      let first = isBlocked ? nil : entries.first
      guard first != candidate else { return nil }
      candidate = first
      return first
    }

    /// Takes the candidate out, with a token.
    mutating func start(_ now: Duration, takesSlot: Bool) {
      entries.takeFirst()
      candidate = nil
      waiting -= 1
      bucket?.take(at: now)
      if takesSlot { running += 1 }
    }
  }

  /// A host that waits for a token.
  private struct Sleeper: Comparable {
    let host: String
    let wake: Duration

    static func < (left: Sleeper, right: Sleeper) -> Bool { left.wake < right.wake }
  }

  private let limit: Int?
  private let hostLimit: Int?
  private let hostRate: RateLimit?
  private let hostsTakeTurns: Bool
  private var bucket: TokenBucket?
  private(set) var running = 0
  private var waiting: [ID: Entry] = [:]
  private var hosts: [String: Host] = [:]
  /// The first loads of the hosts that have a slot, which count only while they are their hosts' candidates.
  private var candidates = PriorityHeap<Entry>()
  private var sleepers = PriorityHeap<Sleeper>()
  private var nextSequence = 0
  /// The current turn of each priority.
  private var turns: [Priority: Int] = [:]
  /// The number of hosts at which hosts with full buckets are dropped.
  private var sweepCount = 64

  /// Creates an empty queue.
  ///
  /// - Parameters:
  ///   - limit: The number of slots. Defaults to `nil`: loads take none, and are not released.
  ///   - hostLimit: The number of slots of a host.
  ///   - rate: The rate of all loads together. Defaults to none.
  ///   - hostRate: The rate of the loads of a host. Defaults to none.
  ///   - hostsTakeTurns: `true` if the hosts of equally urgent loads take turns, and `false` if the oldest load is
  ///     first, whatever its host. Defaults to `true`.
  init(
    limit: Int? = nil,
    hostLimit: Int? = nil,
    rate: RateLimit? = nil,
    hostRate: RateLimit? = nil,
    hostsTakeTurns: Bool = true,
  ) {
    (self.limit, self.hostLimit, self.hostRate, self.hostsTakeTurns) = (limit, hostLimit, hostRate, hostsTakeTurns)
    bucket = rate.map { TokenBucket($0) }
  }

  var waitingCount: Int { waiting.count }
  /// The number of hosts with state.
  var hostCount: Int { hosts.count }

  /// Adds a load to the queue.
  ///
  /// - Parameters:
  ///   - id: The identity of the load.
  ///   - host: The host whose limits the load shares.
  ///   - priority: The priority.
  ///   - place: The position that an earlier call returned, to keep it after a redirect. Defaults to a new one.
  /// - Returns: The position of the load among loads of its priority.
  @discardableResult
  mutating func add(_ id: ID, host: String, priority: Priority, place: Place? = nil) -> Place {
    if hosts[host] == nil { hosts[host] = Host(limit: hostLimit, bucket: hostRate.map { TokenBucket($0) }) }
    let place = place ?? Place(turn: nextTurn(of: host, priority), sequence: nextSequence)
    nextSequence += 1
    let entry = Entry(id: id, host: host, priority: priority, place: place)
    waiting[id] = entry
    hosts[host]?.waiting += 1
    hosts[host]?.entries.add(entry)
    refresh(host)
    return place
  }

  private mutating func nextTurn(of host: String, _ priority: Priority) -> Int {
    guard hostsTakeTurns else { return 0 }
    let now = turns[priority] ?? 0
    let turn = max(now, (hosts[host]?.turns[priority]).map { $0 + 1 } ?? now)
    hosts[host]?.turns[priority] = turn
    return turn
  }

  /// Removes a waiting load without taking a token, and returns whether it was waiting.
  @discardableResult
  mutating func remove(_ id: ID) -> Bool {
    guard let removed = waiting.removeValue(forKey: id) else { return false }
    hosts[removed.host]?.waiting -= 1
    refresh(removed.host)
    return true
  }

  /// Changes the priority of a waiting load, which keeps its position by time.
  mutating func reprioritize(_ id: ID, _ priority: Priority) {
    guard var entry = waiting[id], entry.priority != priority else { return }
    entry.priority = priority
    entry.place.turn = nextTurn(of: entry.host, priority)
    waiting[id] = entry
    hosts[entry.host]?.entries.add(entry)
    refresh(entry.host)
  }

  /// Takes the next load and gives it a slot and tokens, or returns `nil` if none may start.
  mutating func admit(now: Duration = .zero) -> ID? {
    forgetFull(now)
    wakeHosts(now)
    guard limit.map({ running < $0 }) ?? true, bucket?.hasToken(at: now) ?? true else { return nil }
    var skipped: [Entry] = []
    defer { for candidate in skipped { candidates.add(candidate) } }
    while let next = firstCandidate(), !onlyUrgentMayStart || next.priority >= .high {
      candidates.takeFirst()
      if !mayStart(next) {
        skipped.append(next)
      } else if hostRate == nil || hosts[next.host]?.bucket?.hasToken(at: now) ?? true {
        start(next, now)
        return next.id
      } else {
        sleep(next.host)
      }
    }
    return nil
  }

  /// Returns the time at which a token lets the next load start, after ``admit(now:)`` has returned `nil`.
  ///
  /// Returns `nil` if no load waits for a token.
  mutating func due(now: Duration) -> Duration? {
    guard !waiting.isEmpty else { return nil }
    let free = bucket.flatMap { $0.hasToken(at: now) ? nil : $0.due }
    while let next = sleepers.first, hosts[next.host]?.wake != next.wake { sleepers.takeFirst() }
    guard firstCandidate() == nil, let wake = sleepers.first?.wake else { return free }
    return max(wake, free ?? wake)
  }

  /// Returns the slot of an admitted load.
  mutating func release(host name: String) {
    running -= 1
    hosts[name]?.running -= 1
    refresh(name)
  }

  /// Returns the slot and the tokens of a load that was admitted and not sent.
  mutating func giveBack(host name: String) {
    bucket?.giveBack()
    hosts[name]?.bucket?.giveBack()
    hosts[name]?.wake = nil
    if limit != nil { release(host: name) } else { refresh(name) }
  }

  /// Raises the limit of a host whose loads share a connection.
  mutating func raiseLimit(ofHost name: String, to limit: Int) {
    guard let old = hosts[name]?.limit, old < limit else { return }
    hosts[name]?.limit = limit
    refresh(name)
  }

  // MARK: Candidates

  private var onlyUrgentMayStart: Bool { limit.map { running >= $0 - $0 / 8 } ?? false }

  /// Returns whether a load may take one of the free slots.
  private func mayStart(_ next: Entry) -> Bool {
    guard let limit, running >= limit - 2 * (limit / 8), let host = hosts[next.host] else { return true }
    if onlyUrgentMayStart { return host.running < max(1, (hostLimit ?? limit) / 2) }
    return next.priority >= .high || host.running == 0
  }

  private mutating func start(_ next: Entry, _ now: Duration) {
    // The host is changed in place: a copy would copy its waiting loads.
    hosts[next.host]?.start(now, takesSlot: limit != nil)
    bucket?.take(at: now)
    if limit != nil { running += 1 }
    waiting[next.id] = nil
    turns[next.priority] = max(turns[next.priority] ?? 0, next.place.turn)
    refresh(next.host)
  }

  /// Drops candidates that no longer count, and returns the first that does.
  private mutating func firstCandidate() -> Entry? {
    while let first = candidates.first {
      if hosts[first.host]?.candidate == first { return first }
      candidates.takeFirst()
    }
    return nil
  }

  /// Brings the candidate of a host up to date, and drops the host if it is idle.
  private mutating func refresh(_ name: String) {
    if let entry = hosts[name]?.nominate(waiting) {
      candidates.add(entry)
      if candidates.count > 2 * hosts.count + 64 { candidates = PriorityHeap(hosts.values.compactMap(\.candidate)) }
    } else if let host = hosts[name], host.running == 0, host.waiting == 0, host.limit == hostLimit,
      host.bucket?.isUnused ?? true
    {
      hosts[name] = nil
    }
  }

  // MARK: Tokens

  /// Leaves a host out until it has a token.
  private mutating func sleep(_ name: String) {
    guard let wake = hosts[name]?.bucket?.due else { return }
    hosts[name]?.candidate = nil
    hosts[name]?.wake = wake
    sleepers.add(Sleeper(host: name, wake: wake))
  }

  private mutating func wakeHosts(_ now: Duration) {
    while let next = sleepers.first, next.wake <= now {
      sleepers.takeFirst()
      guard hosts[next.host]?.wake == next.wake else { continue }
      hosts[next.host]?.wake = nil
      refresh(next.host)
    }
  }

  /// Drops idle hosts whose buckets are full.
  ///
  /// It seldom runs.
  private mutating func forgetFull(_ now: Duration) {
    guard hostRate != nil, hosts.count >= sweepCount else { return }
    hosts = hosts.filter { $0.value.waiting + $0.value.running > 0 || $0.value.bucket?.isFull(at: now) == false }
    sweepCount = max(64, 2 * hosts.count)
  }
}
