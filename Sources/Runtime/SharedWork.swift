/// Work that runs once for all callers that want its result.
///
/// The first subscriber of a key starts the work, and later subscribers join it. The work has the highest demand of its
/// subscribers, and is cancelled when the last one leaves. Both happen at once: subscribing, leaving and changing a
/// demand never suspend, and take O(1).
///
/// Work is an `async` function in a task, or a function that begins something by which it ends: a task holds the memory
/// of its largest call until it ends, which is much for work that only waits for a callback. See ``WorkHandle/goOn(_:)``.
///
/// A subscriber receives its events in order and one at a time, on the thread that caused them. The lock guards a
/// table, lists and counters, and only this type's own code runs under it. Subscribers are called, and subscribers and
/// events are released, with no lock held. So a subscriber may subscribe, leave or block.
@usableFromInline
package final class SharedWork<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline
  package typealias Outcome = Result<Value, Failure>
  @usableFromInline
  package typealias Handle = WorkHandle<Key, Value, Failure>
  @usableFromInline
  package typealias Work = @Sendable (Handle) async throws(Failure) -> Value
  @usableFromInline
  package typealias Start = @Sendable (Handle) -> Void
  @usableFromInline
  package typealias Subscription = SharedWorkSubscription<Key, Value, Failure>

  /// An event for the subscribers.
  @usableFromInline
  package enum Event: Sendable {
    /// The object that the work has named as its own; see ``WorkHandle/identify(as:)``.
    case identified(any AnyObject & Sendable)
    /// The completed and the total number of units, such as bytes; 0 for an unknown total. Sent to subscribers that are
    /// interested in progress.
    case progress(completed: Int, total: Int)
    /// A value before the end, such as a preview. Sent to subscribers that are interested in partial values.
    case partial(Value)
    /// The end. No event follows.
    case finished(Outcome)
  }

  @usableFromInline
  typealias Run = SharedRun<Key, Value, Failure>

  @usableFromInline
  struct Table {
    @usableFromInline
    var runs: [Key: Run] = [:]
    /// The largest number of runs at once since the memory of a burst was last returned.
    @usableFromInline
    var most = 0
  }

  /// The number of runs at once whose memory is worth being returned.
  @inlinable
  package static var burst: Int { 10_000 }

  @usableFromInline
  let table = Lock(Table())
  @usableFromInline
  let executor: (any TaskExecutor)?
  @usableFromInline
  let afterBurst: @Sendable () -> Void

  /// Creates a table without work.
  ///
  /// - Parameters:
  ///   - executor: The executor of the tasks. Defaults to `nil`, Swift's own.
  ///   - afterBurst: A closure called when most of at least ``burst`` runs at once have ended. Defaults to nothing.
  @inlinable
  package init(executor: (any TaskExecutor)? = nil, afterBurst: @escaping @Sendable () -> Void = {}) {
    (self.executor, self.afterBurst) = (executor, afterBurst)
  }

  /// The number of keys whose work is running.
  @inlinable
  package var count: Int { table.withLock { $0.runs.count } }

  /// Returns the demand on the work of a key; `nil` if it is not running.
  @inlinable
  package func demand(on key: Key) -> WorkDemand? { table.withLock { $0.runs[key]?.demand } }

  /// Returns `true` if work for a key is running.
  @inlinable
  package func isRunning(_ key: Key) -> Bool { demand(on: key) != nil }

  // MARK: Subscribing

  /// Joins the work of a key, or starts it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - demand: The demand of the subscriber.
  ///   - limit: The most interest of the subscriber, which then never wants the result stored. Defaults to `nil`, no
  ///     limit.
  ///   - isCaller: A Boolean value that indicates whether ``cancelCallers(_:where:)`` ends the subscription. Defaults to
  ///     `false`.
  ///   - subscribed: Receives the subscription before the work begins or any event comes. Defaults to nothing.
  ///   - receive: Receives the events. No call begins once the subscription has been cancelled; a call on another
  ///     thread may still be running.
  ///   - start: Begins the work, before the method returns, unless work for the key is running. The work ends by
  ///     ``WorkHandle/end(_:)``.
  /// - Returns: The subscription; may be discarded.
  @discardableResult
  @inlinable
  package func subscribe(
    to key: Key,
    _ demand: WorkDemand,
    limit: WorkDemand.Interest? = nil,
    isCaller: Bool = false,
    subscribed: (Subscription) -> Void = { _ in },
    receive: @escaping @Sendable (Event) -> Void,
    start: @escaping Start,
  ) -> Subscription {
    let (subscription, isNew) = table.withLock { table in
      let known = table.runs[key]
      let run = known ?? Run(key)
      if known == nil {
        table.runs[key] = run
        table.most = max(table.most, table.runs.count)
      }
      let subscription = Subscription(self, run, demand, limit: limit, isCaller: isCaller, receive)
      run.append(subscription)
      return (subscription, known == nil)
    }
    subscribed(subscription)
    if !isNew {
      tellDemand(subscription.run)
    } else if !read(subscription.run, { $0.hasEnded }) {
      // Otherwise the only subscriber has left already.
      start(WorkHandle(self, subscription.run))
    }
    deliver(subscription.run)
    return subscription
  }

  /// Joins the work of a key, or starts it in a task of its own; the error or the value of `work` ends it.
  @discardableResult
  @inlinable
  package func subscribe(
    to key: Key,
    _ demand: WorkDemand,
    isCaller: Bool = false,
    subscribed: (Subscription) -> Void = { _ in },
    receive: @escaping @Sendable (Event) -> Void,
    work: @escaping Work,
  ) -> Subscription {
    subscribe(to: key, demand, isCaller: isCaller, subscribed: subscribed, receive: receive) { handle in
      handle.goOn(with: work)
    }
  }

  /// Joins the work of a key; returns `nil` if it is not running.
  @inlinable
  package func join(
    _ key: Key,
    _ demand: WorkDemand,
    receive: @escaping @Sendable (Event) -> Void,
  ) -> Subscription? {
    let joined = table.withLock { table -> Subscription? in
      guard let run = table.runs[key] else { return nil }
      let subscription = Subscription(self, run, demand, limit: nil, isCaller: false, receive)
      run.append(subscription)
      return subscription
    }
    guard let joined else { return nil }
    tellDemand(joined.run)
    deliver(joined.run)
    return joined
  }

  /// Joins or starts the work of a key, and returns its result.
  ///
  /// Cancelling the awaiting task leaves the work and throws `cancelled`, at once.
  @inlinable
  package func value(
    of key: Key,
    _ demand: WorkDemand,
    cancelled: Failure,
    work: @escaping Work,
  ) async throws(Failure) -> Value {
    guard !Task.isCancelled else { throw cancelled }
    let outcome = Deferred<Outcome>()
    let receive = { @Sendable (event: Event) in
      if case .finished(let result) = event { outcome.resolve(result) }
    }
    let subscription = subscribe(to: key, demand, receive: receive, work: work)
    return try await outcome.value(orCancelled: .failure(cancelled)) { subscription.cancel() }.get()
  }

  // MARK: Ending

  /// Ends all running work, including work without subscribers, with an error.
  ///
  /// Complexity: O(n) over the keys.
  @inlinable
  package func cancelAll(_ error: Failure) {
    let ended = table.withLock { table in
      table.runs.values.map { ($0, Self.end($0, .failure(error), &table)) }
    }
    for (run, left) in ended {
      left?.cancel()
      deliver(run)
    }
  }

  /// Ends the subscriptions of callers with an error; other subscribers keep waiting.
  ///
  /// Complexity: O(1) for `key`, and O(n) over the keys if `isMeant` is given. It is called with no lock held.
  @inlinable
  package func cancelCallers(_ error: Failure, of key: Key? = nil, where isMeant: ((Key) -> Bool)? = nil) {
    var runs = key.map { key in table.withLock { [$0.runs[key]].compactMap { $0 } } } ?? []
    if let isMeant { runs += snapshot().filter { isMeant($0.key) && $0.key != key }.map(\.run) }
    for run in runs {
      let (callers, left) = table.withLock { table in
        let callers = run.removeCallers()
        return (callers, callers.isEmpty ? nil : Self.endUnlessWanted(run, &table))
      }
      left?.cancel()
      tellDemand(run)
      for caller in callers { caller.receive(.finished(.failure(error))) }
      withExtendedLifetime(left) {}
    }
  }

  /// Gives running work other keys, which no later subscriber has: the work continues for its present ones.
  ///
  /// Complexity: O(n) over the keys. `newKey` returns `nil` for work that keeps its key; it is called with no lock held.
  @inlinable
  package func detach(_ newKey: (Key) -> Key?) {
    for (old, run) in snapshot() {
      guard let new = newKey(old) else { continue }
      table.withLock { table in
        guard table.runs[old] === run else { return }
        table.runs[old] = nil
        (table.runs[new], run.key) = (run, new)
      }
    }
  }

  @inlinable
  func snapshot() -> [(key: Key, run: Run)] { table.withLock { table in table.runs.map { ($0, $1) } } }

  // MARK: The run

  /// Begins a task of the work.
  @inlinable
  func goOn(
    _ run: Run,
    on executor: (any TaskExecutor)?,
    _ body: sending @escaping @isolated(any) () async -> Void,
  ) -> Bool {
    let number = table.withLock { _ -> Int? in
      guard !run.hasEnded else { return nil }
      run.taskCount += 1
      return run.taskCount
    }
    guard let number else { return false }
    let task = Task(executorPreference: executor, operation: body)
    let isLate = table.withLock { _ in
      if !run.hasEnded, run.taskCount == number { run.remains.task = task }
      return run.hasEnded
    }
    if isLate { task.cancel() }
    return true
  }

  @inlinable
  func end(_ run: Run, _ outcome: Outcome) {
    let (left, isBurstOver) = table.withLock { table in
      (Self.end(run, outcome, &table), Self.isBurstOver(&table))
    }
    deliver(run)
    withExtendedLifetime(left) {}
    if isBurstOver { afterBurst() }
  }

  @inlinable
  static func isBurstOver(_ table: inout Table) -> Bool {
    guard table.most >= burst, table.runs.count <= table.most / 16 else { return false }
    // The new table has the capacity for the runs of now.
    table.runs = Dictionary(uniqueKeysWithValues: table.runs.map { ($0, $1) })
    table.most = 0
    return true
  }

  @inlinable
  static func end(_ run: Run, _ outcome: Outcome, _ table: inout Table) -> Run.Remains? {
    guard !run.hasEnded else { return nil }
    unlist(run, &table)
    run.outcome = outcome
    return run.takeRemains(withNews: false)
  }

  @inlinable
  static func endUnlessWanted(_ run: Run, _ table: inout Table) -> Run.Remains? {
    guard run.first == nil, !run.hasEnded, !run.isKept else { return nil }
    unlist(run, &table)
    return run.takeRemains(withNews: true)
  }

  @inlinable
  static func unlist(_ run: Run, _ table: inout Table) {
    (run.hasEnded, run.progress) = (true, nil)
    table.runs[run.key] = nil
  }

  @inlinable
  func leave(_ subscription: Subscription) {
    let run = subscription.run
    // The remains are released after the lock.
    let left = table.withLock { table -> Run.Remains? in
      guard subscription.isActive else { return nil }
      run.remove(subscription)
      return Self.endUnlessWanted(run, &table)
    }
    left?.cancel()
    tellDemand(run)
    withExtendedLifetime(left) {}
  }

  @inlinable
  func change(_ subscription: Subscription, _ change: (inout WorkDemand) -> Void) {
    table.withLock { _ in
      var demand = subscription.demand
      change(&demand)
      subscription.run.set(demand, of: subscription)
    }
    tellDemand(subscription.run)
    deliver(subscription.run)
  }

  @inlinable
  func read<Answer>(_ run: Run, _ body: (Run) -> Answer) -> Answer { table.withLock { _ in body(run) } }

  /// Passes the demand to the work in calls that do not overlap, the latest demand last.
  @inlinable
  func tellDemand(_ run: Run) {
    while let (dependency, demand) = table.withLock({ _ in run.nextDemand() }) {
      dependency.setDemand(demand)
      table.withLock { _ in run.isTelling = false }
    }
  }

  @inlinable
  func depend(_ run: Run, on dependency: (any WorkDependency)?) {
    let (old, isLate) = table.withLock { _ -> ((any WorkDependency)?, Bool) in
      let old = run.remains.dependency
      if !run.hasEnded { (run.remains.dependency, run.told) = (dependency, nil) }
      return (old, run.hasEnded)
    }
    if isLate { dependency?.setDemand(nil) } else { tellDemand(run) }
    withExtendedLifetime(old) {}
  }

  @inlinable
  func send(_ event: Event, _ run: Run) {
    let isOfUse = table.withLock { _ in run.note(event) }
    if isOfUse { deliver(run) }
  }

  /// Delivers the events of a run in order.
  ///
  /// Several threads may call it at once.
  @inlinable
  func deliver(_ run: Run) {
    while let step = table.withLock({ _ in run.nextDelivery() }) {
      guard case .call(let subscription, let event) = step else { continue }
      subscription.receive(event)
      table.withLock { _ in run.isDelivering = false }
    }
  }
}
