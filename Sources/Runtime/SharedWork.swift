/// Work that runs once for all callers that want its result.
///
/// The first subscriber of a key starts the work in a task of its own, and later subscribers join it. The work has the
/// highest priority of its subscribers, and is cancelled when the last one leaves. Both happen at once: subscribing,
/// leaving and changing a priority never suspend, and take O(1).
///
/// A subscriber receives its events in order and one at a time, on the thread that caused them. The lock guards a
/// table, lists and counters, and only this type's own code runs under it. Subscribers are called, and subscribers and
/// events are released, with no lock held. So a subscriber may subscribe, leave or block.
package final class SharedWork<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  package typealias Outcome = Result<Value, Failure>
  package typealias Work = @Sendable (WorkHandle<Key, Value, Failure>) async throws(Failure) -> Value

  /// An event for the subscribers.
  package enum Event: Sendable {
    /// The completed and the total number of units, such as bytes; 0 for an unknown total. Sent to watching subscribers
    /// only.
    case progress(completed: Int, total: Int)
    /// A value before the end, such as a preview. Sent to watching subscribers only.
    case partial(Value)
    /// The end. No event follows.
    case finished(Outcome)
  }

  private let runs = Lock<[Key: SharedRun<Key, Value, Failure>]>([:])
  private let executor: (any TaskExecutor)?

  /// Creates a table without work.
  ///
  /// - Parameter executor: The executor of the tasks. Defaults to `nil`, Swift's own.
  package init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

  /// The number of keys whose work is running.
  package var count: Int { runs.withLock { $0.count } }

  /// Returns `true` if work for a key is running.
  package func isRunning(_ key: Key) -> Bool { runs.withLock { $0[key] != nil } }

  // MARK: Subscribing

  /// Joins the work of a key, or starts it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - priority: The urgency of the subscriber.
  ///   - isWatching: A Boolean value that indicates whether the subscriber receives progress and partial values, from
  ///     the last known progress on. Defaults to `false`.
  ///   - receive: Receives the events. No call begins once the subscription has been cancelled; a call on another
  ///     thread may still be running.
  ///   - work: The work, which runs unless work for the key is running. Its error or its value ends it.
  /// - Returns: The subscription; may be discarded.
  @discardableResult
  package func subscribe(
    to key: Key,
    priority: Priority,
    isWatching: Bool = false,
    receive: @escaping @Sendable (Event) -> Void,
    work: @escaping Work,
  ) -> SharedWorkSubscription<Key, Value, Failure> {
    let (subscription, isNew) = runs.withLock { runs in
      let known = runs[key]
      let run = known ?? SharedRun(key, priority)
      if known == nil { runs[key] = run }
      let subscription = SharedWorkSubscription(self, run, priority, isWatching: isWatching, receive)
      run.append(subscription)
      return (subscription, known == nil)
    }
    if isNew { start(subscription.run, work) } else { tellPriority(subscription.run) }
    deliver(subscription.run)
    return subscription
  }

  /// Joins or starts the work of a key, and returns its result.
  ///
  /// Cancelling the awaiting task leaves the work and throws `cancelled`, at once.
  package func value(
    of key: Key,
    priority: Priority,
    cancelled: Failure,
    work: @escaping Work,
  ) async throws(Failure) -> Value {
    guard !Task.isCancelled else { throw cancelled }
    let outcome = Deferred<Outcome>()
    let subscription = subscribe(to: key, priority: priority) { event in
      if case .finished(let result) = event { outcome.resolve(result) }
    } work: { handle throws(Failure) in
      try await work(handle)
    }
    let result = await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      subscription.cancel()
      outcome.resolve(.failure(cancelled))
    }
    return try result.get()
  }

  /// Ends all running work, including work without subscribers, with an error.
  ///
  /// Complexity: O(n) over the keys.
  package func cancelAll(_ error: Failure) {
    let ended = runs.withLock { runs in
      runs.values.map { ($0, Self.end($0, .failure(error), &runs)) }
    }
    for (run, left) in ended {
      left?.task?.cancel()
      deliver(run)
    }
  }

  // MARK: The run

  private typealias Run = SharedRun<Key, Value, Failure>
  fileprivate typealias Subscription = SharedWorkSubscription<Key, Value, Failure>

  private func start(_ run: Run, _ work: @escaping Work) {
    let task = Task(executorPreference: executor) { [self] in
      let outcome: Outcome
      do throws(Failure) {
        outcome = .success(try await work(WorkHandle(self, run)))
      } catch {
        outcome = .failure(error)
      }
      end(run, outcome)
    }
    let isLate = runs.withLock { _ in
      if !run.hasEnded { run.task = task }
      return run.hasEnded
    }
    if isLate { task.cancel() }
  }

  private func end(_ run: Run, _ outcome: Outcome) {
    let left = runs.withLock { Self.end(run, outcome, &$0) }
    deliver(run)
    withExtendedLifetime(left) {}
  }

  private static func end(_ run: Run, _ outcome: Outcome, _ runs: inout [Key: Run]) -> Run.Remains? {
    guard !run.hasEnded else { return nil }
    unlist(run, &runs)
    run.add(.finished(outcome))
    return run.takeRemains(withNews: false)
  }

  private static func unlist(_ run: Run, _ runs: inout [Key: Run]) {
    run.hasEnded = true
    runs[run.key] = nil
  }

  fileprivate func leave(_ subscription: Subscription) {
    let run = subscription.run
    // The remains are released after the lock.
    let left = runs.withLock { runs -> Run.Remains? in
      guard subscription.isActive else { return nil }
      run.remove(subscription)
      guard run.first == nil, !run.hasEnded, !run.isKept else { return nil }
      Self.unlist(run, &runs)
      return run.takeRemains(withNews: true)
    }
    left?.task?.cancel()
    tellPriority(run)
    withExtendedLifetime(left) {}
  }

  fileprivate func setPriority(_ priority: Priority, _ subscription: Subscription) {
    runs.withLock { _ in subscription.run.setPriority(priority, subscription) }
    tellPriority(subscription.run)
  }

  fileprivate func watch(_ subscription: Subscription) {
    runs.withLock { _ in subscription.run.watch(subscription) }
    deliver(subscription.run)
  }

  fileprivate func keep(_ run: SharedRun<Key, Value, Failure>) { runs.withLock { _ in run.isKept = true } }

  fileprivate func priority(of run: SharedRun<Key, Value, Failure>) -> Priority { runs.withLock { _ in run.priority } }

  fileprivate func isWatched(_ run: SharedRun<Key, Value, Failure>) -> Bool { runs.withLock { _ in run.isWatched } }

  /// Passes the priority to the work in calls that do not overlap, the latest priority last.
  fileprivate func tellPriority(_ run: SharedRun<Key, Value, Failure>) {
    while let (tell, priority) = runs.withLock({ _ in run.nextPriority() }) {
      tell(priority)
      runs.withLock { _ in run.isTelling = false }
    }
  }

  fileprivate func follow(_ run: SharedRun<Key, Value, Failure>, _ tell: (@Sendable (Priority) -> Void)?) {
    let old = runs.withLock { _ in
      defer { if !run.hasEnded { (run.follower, run.toldPriority) = (tell, nil) } }
      return run.follower
    }
    tellPriority(run)
    withExtendedLifetime(old) {}
  }

  fileprivate func send(_ event: Event, _ run: SharedRun<Key, Value, Failure>) {
    let isOfUse = runs.withLock { _ in
      guard !run.hasEnded else { return false }
      if case .progress(let completed, let total) = event { run.progress = (completed, total) }
      if run.isWatched { run.add(event) }
      return run.isWatched
    }
    if isOfUse { deliver(run) }
  }

  /// Delivers the events of a run in order.
  ///
  /// Several threads may call it at once.
  private func deliver(_ run: SharedRun<Key, Value, Failure>) {
    while let step = runs.withLock({ _ in run.nextDelivery() }) {
      guard case .call(let subscription, let event) = step else { continue }
      subscription.receive(event)
      runs.withLock { _ in run.isDelivering = false }
    }
  }
}

/// A subscription to shared work.
///
/// Releasing it does not cancel it.
// @unchecked: the lock of its work guards all mutable state.
package final class SharedWorkSubscription<Key: Hashable & Sendable, Value: Sendable, Failure: Error>:
  @unchecked Sendable
{
  private let work: SharedWork<Key, Value, Failure>
  fileprivate let run: SharedRun<Key, Value, Failure>
  fileprivate let receive: @Sendable (SharedWork<Key, Value, Failure>.Event) -> Void
  fileprivate var priority: Priority
  fileprivate var isWatching: Bool
  fileprivate var isActive = false
  /// The position among all subscribers of the run.
  fileprivate var number = 0
  // The neighbours in the list. The cycle of strong references ends, since every subscriber leaves or receives the end.
  fileprivate var next: SharedWorkSubscription?
  fileprivate var previous: SharedWorkSubscription?

  fileprivate init(
    _ work: SharedWork<Key, Value, Failure>,
    _ run: SharedRun<Key, Value, Failure>,
    _ priority: Priority,
    isWatching: Bool,
    _ receive: @escaping @Sendable (SharedWork<Key, Value, Failure>.Event) -> Void,
  ) {
    (self.work, self.run, self.priority) = (work, run, priority)
    (self.isWatching, self.receive) = (isWatching, receive)
  }

  /// Leaves the work, which is cancelled if it has no other subscriber; does nothing after the end.
  package func cancel() { work.leave(self) }

  /// Changes the urgency of the subscriber.
  package func setPriority(_ priority: Priority) { work.setPriority(priority, self) }

  /// Requests progress and partial values from now on.
  package func watch() { work.watch(self) }
}

/// The handle by which the work reads the demand of its subscribers and sends them events.
package struct WorkHandle<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  private let work: SharedWork<Key, Value, Failure>
  private let run: SharedRun<Key, Value, Failure>

  fileprivate init(_ work: SharedWork<Key, Value, Failure>, _ run: SharedRun<Key, Value, Failure>) {
    (self.work, self.run) = (work, run)
  }

  /// The highest priority of the subscribers.
  package var priority: Priority { work.priority(of: run) }

  /// A Boolean value that indicates whether a subscriber has requested progress and partial values.
  package var isWatched: Bool { work.isWatched(run) }

  /// Calls `tell` with the priority, at once and whenever it changes.
  ///
  /// It replaces the previous closure; `nil` ends the calls.
  package func followPriority(_ tell: (@Sendable (Priority) -> Void)?) { work.follow(run, tell) }

  /// Keeps the priority of a queue's item equal to this one.
  package func followPriority(_ item: WorkItem) {
    followPriority { if item.priority != $0 { item.priority = $0 } }
  }

  /// Lets the work continue after its last subscriber has left; ``SharedWork/cancelAll(_:)`` still ends it.
  package func keepRunning() { work.keep(run) }

  /// Sends the progress to the watching subscribers.
  package func send(progress completed: Int, of total: Int) {
    work.send(.progress(completed: completed, total: total), run)
  }

  /// Sends a value before the end to the watching subscribers.
  package func send(partial value: Value) { work.send(.partial(value), run) }
}

/// The work of one key, and its subscribers.
// @unchecked: the lock of its `SharedWork` guards it; every method is called under it.
private final class SharedRun<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: @unchecked Sendable {
  typealias Event = SharedWork<Key, Value, Failure>.Event
  typealias Subscription = SharedWorkSubscription<Key, Value, Failure>

  fileprivate struct News {
    let event: Event
    /// The sole recipient, or `nil` for all subscribers whose number is at most ``last``.
    var only: Subscription?
    var last = 0
    var hasBegun = false
  }

  /// A step of the delivery.
  enum Delivery {
    case call(Subscription, Event)
    /// An event that all recipients have received, to be released.
    case drop(Event)
  }

  /// The objects of an ended run, to be released with no lock held.
  struct Remains {
    let task: Task<Void, Never>?
    fileprivate let follower: (@Sendable (Priority) -> Void)?
    fileprivate let news: [News]
  }

  let key: Key
  private(set) var first: Subscription?
  private var last: Subscription?
  private var count = 0
  /// The number of subscribers of each priority.
  private var counts = SIMD8<UInt32>()
  private(set) var priority: Priority
  private(set) var isWatched = false
  var progress: (completed: Int, total: Int)?
  /// A Boolean value that indicates whether the work has ended, or was cancelled.
  var hasEnded = false
  /// A Boolean value that indicates whether the work continues without subscribers.
  var isKept = false
  var task: Task<Void, Never>?

  private var news: [News] = []
  /// The next subscriber to receive the first event of `news`.
  private var cursor: Subscription?
  var isDelivering = false

  var follower: (@Sendable (Priority) -> Void)?
  var toldPriority: Priority?
  var isTelling = false

  init(_ key: Key, _ priority: Priority) { (self.key, self.priority) = (key, priority) }

  // MARK: Subscribers

  func append(_ subscription: Subscription) {
    count += 1
    (subscription.isActive, subscription.number) = (true, count)
    counts[subscription.priority.rawValue] += 1
    subscription.previous = last
    last?.next = subscription
    last = subscription
    if first == nil { first = subscription }
    updatePriority()
    if subscription.isWatching { beginWatching(subscription) }
  }

  func remove(_ subscription: Subscription) {
    if cursor === subscription { cursor = subscription.next }
    subscription.isActive = false
    counts[subscription.priority.rawValue] -= 1
    let (previous, next) = (subscription.previous, subscription.next)
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
    (subscription.previous, subscription.next) = (nil, nil)
    updatePriority()
  }

  func setPriority(_ priority: Priority, _ subscription: Subscription) {
    guard subscription.isActive, subscription.priority != priority else { return }
    counts[subscription.priority.rawValue] -= 1
    counts[priority.rawValue] += 1
    subscription.priority = priority
    updatePriority()
  }

  private func updatePriority() {
    priority = Priority.allCases.last { counts[$0.rawValue] > 0 } ?? priority
  }

  func watch(_ subscription: Subscription) {
    guard subscription.isActive, !subscription.isWatching else { return }
    subscription.isWatching = true
    beginWatching(subscription)
  }

  private func beginWatching(_ subscription: Subscription) {
    isWatched = true
    guard !hasEnded, let (completed, total) = progress else { return }
    news.append(News(event: .progress(completed: completed, total: total), only: subscription))
  }

  // MARK: Telling

  func nextPriority() -> ((@Sendable (Priority) -> Void), Priority)? {
    guard !isTelling, let follower, toldPriority != priority else { return nil }
    (isTelling, toldPriority) = (true, priority)
    return (follower, priority)
  }

  /// Adds an event for the present subscribers.
  func add(_ event: Event) { news.append(News(event: event, last: count)) }

  func takeRemains(withNews: Bool) -> Remains {
    defer {
      (task, follower) = (nil, nil)
      if withNews { news = [] }
    }
    return Remains(task: task, follower: follower, news: withNews ? news : [])
  }

  /// Takes the next delivery.
  ///
  /// Returns `nil` if there is none, or if another thread is delivering.
  func nextDelivery() -> Delivery? {
    guard !isDelivering, let item = news.first else { return nil }
    if !item.hasBegun {
      news[0].hasBegun = true
      cursor = item.only ?? first
    }
    while let subscription = cursor {
      cursor = item.only == nil ? subscription.next : nil
      if case .finished = item.event {
        remove(subscription)
      } else {
        let isMeant = item.only != nil || subscription.number <= item.last
        guard isMeant, subscription.isActive, subscription.isWatching else { continue }
      }
      isDelivering = true
      return .call(subscription, item.event)
    }
    news.removeFirst()
    return .drop(item.event)
  }
}
