import VitrineRuntime

/// Decides which of the waiting loads starts next: the most urgent, the first to come among equals, of those
/// whose host has a slot free.
///
/// A value without threads or sockets, so that its order can be tested without either.
///
/// - Complexity: Every operation is O(log n) over the waiting ones, amortised.
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
    /// Those that came to the head while the host had no slot; they return as slots become free.
    var parked = PriorityHeap<Entry>()

    /// Takes a slot for an entry, or parks it, and says which.
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

  /// Makes a load wait for its turn.
  ///
  /// - Parameters:
  ///   - id: Names the load.
  ///   - host: Shares a limit with others of that name.
  ///   - priority: How urgent it is.
  ///   - sequence: The place that an earlier call returned, to take it again after a redirect.
  /// - Returns: Its place among those of its priority.
  @discardableResult
  mutating func add(_ id: ID, host: String, priority: Priority, sequence: Int? = nil) -> Int {
    let place = sequence ?? nextSequence
    if sequence == nil { nextSequence += 1 }
    waiting[id] = Waiting(host: host, priority: priority, sequence: place)
    ready.add(Entry(id: id, host: host, priority: priority, sequence: place))
    return place
  }

  /// Takes a waiting load out, and says whether it was waiting.
  @discardableResult
  mutating func remove(_ id: ID) -> Bool {
    guard let removed = waiting.removeValue(forKey: id) else { return false }
    // What is left in the heaps is skipped when it comes up, or goes when it is most of them.
    if ready.count > 2 * waiting.count + 64 {
      for dropped in ready.keepOnly({ [waiting] in waiting[$0.id]?.sequence == $0.sequence }) { unpark(dropped.host) }
    }
    if let parked = hosts[removed.host]?.parked.count, parked > 2 * waiting.count + 64 {
      _ = hosts[removed.host]?.parked.keepOnly { [waiting] in waiting[$0.id]?.sequence == $0.sequence }
    }
    return true
  }

  /// Changes the priority of a waiting load; it keeps its place by time.
  mutating func reprioritize(_ id: ID, _ priority: Priority) {
    guard let entry = waiting[id], entry.priority != priority else { return }
    waiting[id]?.priority = priority
    ready.add(Entry(id: id, host: entry.host, priority: priority, sequence: entry.sequence))
  }

  /// Takes the load whose turn it is and gives it a slot; nil when none may start.
  mutating func admit() -> ID? {
    while running < limit, let entry = ready.takeFirst() {
      guard let candidate = waiting[entry.id], candidate.priority == entry.priority else {
        // It may have been unparked for a slot that is still free.
        unpark(entry.host)
        continue
      }
      // Changed in place: a copy of a host would copy all that is parked there.
      let isAdmitted = hosts[candidate.host, default: Host(limit: hostLimit)].admit(entry)
      guard isAdmitted else { continue }
      running += 1
      waiting[entry.id] = nil
      return entry.id
    }
    return nil
  }

  /// Gives the slot of a load that was admitted back.
  mutating func release(host name: String) {
    running -= 1
    hosts[name]?.running -= 1
    unpark(name)
    if let host = hosts[name], host.running == 0, host.parked.count == 0, host.limit == hostLimit { hosts[name] = nil }
  }

  /// Lets a host have more slots than others, since its loads share a connection.
  mutating func raiseLimit(ofHost name: String, to limit: Int) {
    guard let old = hosts[name]?.limit, old < limit else { return }
    hosts[name]?.limit = limit
    for _ in old..<limit { unpark(name) }
  }

  private mutating func unpark(_ name: String) {
    while let entry = hosts[name]?.parked.takeFirst() {
      // One that was cancelled, or has another entry since its priority changed, would waste the slot.
      guard waiting[entry.id]?.priority == entry.priority else { continue }
      ready.add(entry)
      return
    }
  }
}
