import VitrineRuntime

/// A queue that chooses the next load to send, and its time: the most urgent load whose host has a token, the oldest
/// among equals.
///
/// It is a value without a clock: callers pass the time. Priorities work as in ``AdmissionQueue``.
///
/// - Complexity: O(log n) over the waiting loads for each operation, amortised.
struct RateLimitQueue<ID: Hashable> {
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
    var bucket: TokenBucket
    /// The loads that reached the head of the queue while the host had no token.
    var parked = PriorityHeap<Entry>()
    /// The time of the next check of the host, if it waits for a token.
    var wake: Duration?
  }

  /// A host that waits for a token.
  private struct Sleeper: HeapEntry {
    let host: String
    let wake: Duration

    func isBefore(_ other: Sleeper) -> Bool { wake < other.wake }
  }

  private let hostLimit: RateLimit?
  private var total: TokenBucket?
  private var waiting: [ID: Waiting] = [:]
  private var hosts: [String: Host] = [:]
  private var ready = PriorityHeap<Entry>()
  private var sleepers = PriorityHeap<Sleeper>()
  private var nextSequence = 0
  /// The number of hosts at which hosts with full buckets are dropped.
  private var sweepCount = 64

  /// Creates an empty queue; either limit may be missing.
  init(total: RateLimit?, perHost hostLimit: RateLimit?, now: Duration) {
    (self.total, self.hostLimit) = (total.map { TokenBucket($0, now: now) }, hostLimit)
  }

  var waitingCount: Int { waiting.count }
  var hostCount: Int { hosts.count }

  /// Adds a load to the queue.
  mutating func add(_ id: ID, host: String, priority: Priority) {
    waiting[id] = Waiting(host: host, priority: priority, sequence: nextSequence)
    ready.add(Entry(id: id, host: host, priority: priority, sequence: nextSequence))
    nextSequence += 1
  }

  /// Removes a waiting load without taking a token, and returns whether it was waiting.
  @discardableResult
  mutating func remove(_ id: ID) -> Bool {
    guard let removed = waiting.removeValue(forKey: id) else { return false }
    // Its entries in the heaps are skipped later, and dropped once they outnumber the live ones.
    let isKept = { [waiting] (entry: Entry) in waiting[entry.id]?.sequence == entry.sequence }
    if ready.count > 2 * waiting.count + 64 {
      for dropped in ready.keepOnly(isKept) { sleep(dropped.host) }
    }
    if let parked = hosts[removed.host]?.parked.count, parked > 2 * waiting.count + 64 {
      _ = hosts[removed.host]?.parked.keepOnly(isKept)
    }
    return true
  }

  /// Changes the priority of a waiting load; it keeps its position by time.
  mutating func reprioritize(_ id: ID, _ priority: Priority) {
    guard let entry = waiting[id], entry.priority != priority else { return }
    waiting[id]?.priority = priority
    ready.add(Entry(id: id, host: entry.host, priority: priority, sequence: entry.sequence))
  }

  /// Removes the next load and takes its tokens.
  ///
  /// Returns `nil` if none may be sent now.
  mutating func admit(now: Duration) -> ID? {
    wakeHosts(now)
    while total.map({ $0.due <= now }) ?? true, let entry = ready.takeFirst() {
      guard isWaiting(entry) else {
        // The load may have been unparked for a token that is still unused.
        unpark(entry.host, now)
        continue
      }
      guard takeToken(for: entry, now) else { continue }
      total?.take(at: now)
      waiting[entry.id] = nil
      unpark(entry.host, now)
      return entry.id
    }
    return nil
  }

  /// Returns the time at which the next load may be sent, after ``admit(now:)`` has returned `nil`, or `nil` if none
  /// waits.
  mutating func due(now: Duration) -> Duration? {
    guard !waiting.isEmpty else { return nil }
    let free = total.flatMap { $0.due > now ? $0.due : nil }
    while let next = sleepers.first, hosts[next.host]?.wake != next.wake { _ = sleepers.takeFirst() }
    guard ready.count == 0, let wake = sleepers.first?.wake else { return free }
    return max(wake, free ?? wake)
  }

  /// Returns the tokens of a load that was admitted and not sent.
  mutating func giveBack(host name: String, now: Duration) {
    total?.giveBack()
    hosts[name]?.bucket.giveBack()
    hosts[name]?.wake = nil
    unpark(name, now)
  }

  // MARK: Hosts

  private func isWaiting(_ entry: Entry) -> Bool {
    waiting[entry.id].map { $0.sequence == entry.sequence && $0.priority == entry.priority } ?? false
  }

  /// Takes a token of the host, or parks the load if there is none.
  ///
  /// Returns whether there was a token.
  private mutating func takeToken(for entry: Entry, _ now: Duration) -> Bool {
    guard let hostLimit else { return true }
    if hosts[entry.host] == nil {
      forgetHosts(now)
      hosts[entry.host] = Host(bucket: TokenBucket(hostLimit, now: now))
    }
    guard let due = hosts[entry.host]?.bucket.due, due <= now else {
      hosts[entry.host]?.parked.add(entry)
      sleep(entry.host)
      return false
    }
    // The host is changed in place: a copy would copy its parked loads.
    hosts[entry.host]?.bucket.take(at: now)
    return true
  }

  /// Moves a host's next load to the ready loads, now or once there is a token.
  private mutating func unpark(_ name: String, _ now: Duration) {
    while let entry = hosts[name]?.parked.first {
      guard isWaiting(entry) else {
        _ = hosts[name]?.parked.takeFirst()
        continue
      }
      guard let due = hosts[name]?.bucket.due, due <= now else { return sleep(name) }
      _ = hosts[name]?.parked.takeFirst()
      return ready.add(entry)
    }
  }

  /// Schedules a check of a host for the time of its next token.
  private mutating func sleep(_ name: String) {
    guard let host = hosts[name], host.wake == nil, host.parked.count > 0 else { return }
    hosts[name]?.wake = host.bucket.due
    sleepers.add(Sleeper(host: name, wake: host.bucket.due))
  }

  private mutating func wakeHosts(_ now: Duration) {
    while let next = sleepers.first, next.wake <= now {
      _ = sleepers.takeFirst()
      guard hosts[next.host]?.wake == next.wake else { continue }
      hosts[next.host]?.wake = nil
      unpark(next.host, now)
    }
  }

  /// Drops all hosts whose buckets are full.
  ///
  /// It seldom runs.
  private mutating func forgetHosts(_ now: Duration) {
    guard hosts.count >= sweepCount else { return }
    hosts = hosts.filter { !$0.value.bucket.isFull(at: now) || $0.value.parked.count > 0 }
    sweepCount = max(64, 2 * hosts.count)
  }
}
