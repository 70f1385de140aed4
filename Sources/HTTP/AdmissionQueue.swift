import VitrineRuntime

/// A queue that chooses the next load to start: the most urgent one whose host has a free slot.
///
/// Among equally urgent loads, hosts take turns.
///
/// Slow hosts must not take every slot. An eighth of the slots is kept for hosts without a running load and for urgent
/// loads, and another eighth for urgent loads of hosts that have few running.
///
/// It is a value without threads or sockets, so its order can be tested without either.
///
/// - Complexity: O(log n) over the waiting loads for each operation, amortised, and O(h) over the hosts to admit one.
struct AdmissionQueue<ID: Hashable> {
  /// A position in the queue.
  struct Place: Hashable, Sendable {
    /// The number of loads of the same host and priority before it, counted from the current turn.
    fileprivate var turn: Int
    fileprivate let sequence: Int
  }

  private struct Entry: HeapEntry {
    let id: ID
    let priority: Priority
    let place: Place

    func isBefore(_ other: Entry) -> Bool {
      (other.priority, place.turn, place.sequence) < (priority, other.place.turn, other.place.sequence)
    }
  }

  private struct Waiting {
    let host: String
    var priority: Priority
    var place: Place
  }

  private struct Host {
    var running = 0
    var limit: Int
    var entries = PriorityHeap<Entry>()
    var waiting = 0
    /// The turn of the last load of each priority.
    var turns: [Priority: Int] = [:]
  }

  private let limit: Int
  private let hostLimit: Int
  /// The number of slots in each of the two reserved shares.
  private let share: Int
  private var running = 0
  private var waiting: [ID: Waiting] = [:]
  private var hosts: [String: Host] = [:]
  private var nextSequence = 0
  /// The current turn of each priority.
  private var turns: [Priority: Int] = [:]

  init(limit: Int, hostLimit: Int) {
    self.limit = limit
    self.hostLimit = hostLimit
    share = limit / 8
  }

  var waitingCount: Int { waiting.count }
  var runningCount: Int { running }

  /// Adds a load to the queue.
  ///
  /// - Parameters:
  ///   - id: The identity of the load.
  ///   - host: The host whose limit the load shares.
  ///   - priority: The priority.
  ///   - place: The position that an earlier call returned, to keep it after a redirect. Defaults to a new one.
  /// - Returns: The position of the load among loads of its priority.
  @discardableResult
  mutating func add(_ id: ID, host: String, priority: Priority, place: Place? = nil) -> Place {
    var own = place
    if own == nil {
      own = Place(turn: nextTurn(of: host, priority), sequence: nextSequence)
      nextSequence += 1
    }
    let place = own ?? Place(turn: 0, sequence: 0)
    waiting[id] = Waiting(host: host, priority: priority, place: place)
    hosts[host, default: Host(limit: hostLimit)].waiting += 1
    hosts[host]?.entries.add(Entry(id: id, priority: priority, place: place))
    return place
  }

  private mutating func nextTurn(of host: String, _ priority: Priority) -> Int {
    let now = turns[priority] ?? 0
    let turn = max(now, (hosts[host]?.turns[priority]).map { $0 + 1 } ?? now)
    hosts[host, default: Host(limit: hostLimit)].turns[priority] = turn
    return turn
  }

  /// Removes a waiting load, and returns whether it was waiting.
  @discardableResult
  mutating func remove(_ id: ID) -> Bool {
    guard let removed = waiting.removeValue(forKey: id) else { return false }
    hosts[removed.host]?.waiting -= 1
    dropStale(of: removed.host)
    forgetIdle(removed.host)
    return true
  }

  /// Changes the priority of a waiting load, which keeps its position by time.
  mutating func reprioritize(_ id: ID, _ priority: Priority) {
    guard var entry = waiting[id], entry.priority != priority else { return }
    entry.priority = priority
    entry.place.turn = nextTurn(of: entry.host, priority)
    waiting[id] = entry
    hosts[entry.host]?.entries.add(Entry(id: id, priority: priority, place: entry.place))
    dropStale(of: entry.host)
  }

  /// Takes the next load and gives it a slot, or returns `nil` if none may start.
  mutating func admit() -> ID? {
    guard running < limit, !waiting.isEmpty else { return nil }
    var best: (host: String, entry: Entry)?
    for (name, host) in hosts where host.running < host.limit {
      guard let entry = host.entries.first, mayStart(entry, host) else { continue }
      if best.map({ entry.isBefore($0.entry) }) ?? true { best = (name, entry) }
    }
    guard let best else { return nil }
    _ = hosts[best.host]?.entries.takeFirst()
    hosts[best.host]?.running += 1
    hosts[best.host]?.waiting -= 1
    running += 1
    waiting[best.entry.id] = nil
    turns[best.entry.priority] = max(turns[best.entry.priority] ?? 0, best.entry.place.turn)
    dropStale(of: best.host)
    return best.entry.id
  }

  /// Returns whether a load may take one of the free slots.
  private func mayStart(_ entry: Entry, _ host: Host) -> Bool {
    let isUrgent = entry.priority >= .high
    if running < limit - 2 * share { return true }
    if running < limit - share { return isUrgent || host.running == 0 }
    return isUrgent && host.running < max(1, hostLimit / 2)
  }

  /// Returns the slot of an admitted load.
  mutating func release(host name: String) {
    running -= 1
    hosts[name]?.running -= 1
    forgetIdle(name)
  }

  /// Raises the limit of a host whose loads share a connection.
  mutating func raiseLimit(ofHost name: String, to limit: Int) {
    guard let old = hosts[name]?.limit, old < limit else { return }
    hosts[name]?.limit = limit
  }

  private mutating func forgetIdle(_ name: String) {
    if let host = hosts[name], host.running == 0, host.waiting == 0, host.limit == hostLimit { hosts[name] = nil }
  }

  /// Drops removed and reprioritised entries, so that the first entry of a host is valid.
  private mutating func dropStale(of name: String) {
    while let first = hosts[name]?.entries.first, !isValid(first) { _ = hosts[name]?.entries.takeFirst() }
    guard let host = hosts[name], host.entries.count > 2 * host.waiting + 64 else { return }
    _ = hosts[name]?.entries.keepOnly { [waiting] in
      waiting[$0.id]?.priority == $0.priority && waiting[$0.id]?.place == $0.place
    }
  }

  private func isValid(_ entry: Entry) -> Bool {
    waiting[entry.id]?.priority == entry.priority && waiting[entry.id]?.place == entry.place
  }
}
