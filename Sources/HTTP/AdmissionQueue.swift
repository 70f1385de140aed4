import VitrineRuntime

/// A queue that decides which waiting load starts next: the most urgent whose host has a free slot, first come first
/// served.
///
/// A value without threads or sockets, so its order can be tested without either.
///
/// - Complexity: O(log n) over the waiting loads for each operation, amortised.
struct AdmissionQueue<ID: Hashable> {
  private struct Entry: HeapEntry {
    let id: ID
    let host: String
    let priority: Priority
    let sequence: Int

    func isBefore(_ other: Entry) -> Bool {
      (other.priority, sequence) < (priority, other.sequence)
    }
  }

  private struct Waiting {
    let host: String
    var priority: Priority
    let sequence: Int
  }

  private struct Host {
    var running = 0
    var limit: Int
    /// The entries that came to the head while the host had no slot.
    ///
    /// They return as slots become free.
    var parked = PriorityHeap<Entry>()

    /// Takes a slot for an entry, or parks the entry, and returns whether it took one.
    mutating func admit(_ entry: Entry) -> Bool {
      guard running < limit else {
        parked.add(entry)
        return false
      }
      running += 1
      return true
    }
  }

  private let limit: Int
  private let hostLimit: Int
  private var running = 0
  private var waiting: [ID: Waiting] = [:]
  private var hosts: [String: Host] = [:]
  private var ready = PriorityHeap<Entry>()
  private var nextSequence = 0

  init(limit: Int, hostLimit: Int) {
    self.limit = limit
    self.hostLimit = hostLimit
  }

  var waitingCount: Int { waiting.count }
  var runningCount: Int { running }

  /// Adds a load to the queue.
  ///
  /// - Parameters:
  ///   - id: The identity of the load.
  ///   - host: The name under which the load shares a limit with others.
  ///   - priority: The priority.
  ///   - sequence: The position that an earlier call returned, to keep it after a redirect. Defaults to a new one.
  /// - Returns: The position of the load among those of its priority.
  @discardableResult
  mutating func add(_ id: ID, host: String, priority: Priority, sequence: Int? = nil) -> Int {
    let place = sequence ?? nextSequence
    if sequence == nil { nextSequence += 1 }
    waiting[id] = Waiting(host: host, priority: priority, sequence: place)
    ready.add(Entry(id: id, host: host, priority: priority, sequence: place))
    return place
  }

  /// Removes a waiting load, and returns whether it was waiting.
  @discardableResult
  mutating func remove(_ id: ID) -> Bool {
    guard let removed = waiting.removeValue(forKey: id) else { return false }
    // Stale heap entries are skipped when they come up, or removed here when they are the majority.
    if ready.count > 2 * waiting.count + 64 {
      for dropped in ready.keepOnly({ [waiting] in waiting[$0.id]?.sequence == $0.sequence }) { unpark(dropped.host) }
    }
    if let parked = hosts[removed.host]?.parked.count, parked > 2 * waiting.count + 64 {
      _ = hosts[removed.host]?.parked.keepOnly { [waiting] in waiting[$0.id]?.sequence == $0.sequence }
    }
    return true
  }

  /// Changes the priority of a waiting load, which keeps its position by time.
  mutating func reprioritize(_ id: ID, _ priority: Priority) {
    guard let entry = waiting[id], entry.priority != priority else { return }
    waiting[id]?.priority = priority
    ready.add(Entry(id: id, host: entry.host, priority: priority, sequence: entry.sequence))
  }

  /// Takes the next load and gives it a slot, or returns `nil` if none may start.
  mutating func admit() -> ID? {
    while running < limit, let entry = ready.takeFirst() {
      guard let candidate = waiting[entry.id], candidate.priority == entry.priority else {
        // The entry may have been unparked for a slot that is still free.
        unpark(entry.host)
        continue
      }
      // Changed in place, since a copy of a host would copy all its parked entries.
      let isAdmitted = hosts[candidate.host, default: Host(limit: hostLimit)].admit(entry)
      guard isAdmitted else { continue }
      running += 1
      waiting[entry.id] = nil
      return entry.id
    }
    return nil
  }

  /// Returns the slot of an admitted load.
  mutating func release(host name: String) {
    running -= 1
    hosts[name]?.running -= 1
    unpark(name)
    if let host = hosts[name], host.running == 0, host.parked.count == 0, host.limit == hostLimit { hosts[name] = nil }
  }

  /// Raises the limit of a host whose loads share a connection.
  mutating func raiseLimit(ofHost name: String, to limit: Int) {
    guard let old = hosts[name]?.limit, old < limit else { return }
    hosts[name]?.limit = limit
    for _ in old..<limit { unpark(name) }
  }

  private mutating func unpark(_ name: String) {
    while let entry = hosts[name]?.parked.takeFirst() {
      // A cancelled entry, or one with a changed priority, would waste the slot.
      guard waiting[entry.id]?.priority == entry.priority else { continue }
      ready.add(entry)
      return
    }
  }
}
