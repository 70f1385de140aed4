import VitrineRuntime

/// An event that a job sends to its subscribers.
enum JobEvent<Value: Sendable>: Sendable {
  /// The bytes so far and in all; 0 for an unknown total.
  case progress(completed: Int, total: Int)
  /// A partial value, such as a preview; the value is still to come.
  case partial(Value)
  /// The end.
  case finished(Result<Value, LoadError>)
}

/// Work with several subscribers that is done once.
///
/// It starts with the first subscriber, stops when the last one leaves, and runs at the highest priority of all. A
/// subclass defines the work: ``start(_:)``, ``stop(_:)``, ``priorityChanged(_:)``. A job that waits for another
/// subscribes to it, so cancellation and priorities travel the same way.
///
/// Every method is called within a turn, which makes the class safe to share. Subscribers form a linked list: joining,
/// leaving and changing a priority take O(1).
// @unchecked: all state is guarded by the jobs' lock, as every access takes a `Turn`.
class Job<Value: Sendable>: PooledJob, @unchecked Sendable {
  typealias Event = JobEvent<Value>

  private enum Phase { case idle, running, ended }

  private var first: Subscription<Value>?
  private var last: Subscription<Value>?
  /// The number of subscribers of each priority.
  private var counts = SIMD8<UInt32>()
  private var phase = Phase.idle
  private var lastProgress: (completed: Int, total: Int)?
  /// Boxed: a job that waits has none.
  private var result: Box<Result<Value, LoadError>>?
  /// The pool entry to be removed at the end.
  private var place: (pool: JobPool, key: JobKey)?

  // Work to be given up when the last subscriber leaves.

  /// The subscription to another job, while that one runs.
  final var dependency: (any Dependency)?
  final var task: Task<Void, Never>?
  final var item: WorkItem?

  /// The trace of the job, if traces are recorded; set in ``start(_:)``, before anything the job waits for starts.
  final var trace: StageTrace? {
    didSet { starter?.wait(for: trace) }
  }
  /// The trace of the first subscriber.
  private(set) final var starter: StageTrace?

  /// The highest of the subscribers' priorities.
  private(set) final var priority = Priority.veryLow
  /// True once a subscriber has wanted progress and partial values.
  private(set) final var isWatched = false

  /// Registers the job's entry in a pool, to be removed at the end.
  final func takePlace(_ key: JobKey, in pool: JobPool) { place = (pool, key) }

  // MARK: For subclasses

  /// The keys of the request that the job serves; `nil` if it serves no single source.
  var requestKeys: RequestKeys? { nil }

  /// Starts the work; called once, when the first subscriber has joined.
  func start(_ turn: inout Turn) {}

  /// Stops the work; called at most once, after the last subscriber has left and the work above was cancelled.
  func stop(_ turn: inout Turn) {}

  /// Passes ``priority`` on to the transfers and feeds of the subclass; ``dependency`` and ``item`` have it already.
  func priorityChanged(_ turn: inout Turn) {}

  /// Requests progress from the transfer of the subclass; called at most once, after ``start(_:)``.
  ///
  /// ``dependency`` has been asked already.
  func watchingBegan(_ turn: inout Turn) {}

  // MARK: Subscribers

  /// Adds a subscriber and starts the work if it is the first.
  ///
  /// A late one gets the last progress at once, or the result. Progress and partial values go only to subscribers that
  /// watch, so they cost nothing without those. `waiting` is the subscriber's own trace.
  @discardableResult
  final func subscribe(
    priority: Priority,
    isWatching: Bool = false,
    isCaller: Bool = false,
    for waiting: StageTrace? = nil,
    _ turn: inout Turn,
    _ receive: @escaping (Event, inout Turn) -> Void,
  ) -> Subscription<Value> {
    let subscription = Subscription(self, priority, isWatching: isWatching, isCaller: isCaller, receive)
    if let result {
      waiting?.wait(for: trace)
      subscription.isActive = false
      turn.keep(subscription)
      receive(.finished(result.value), &turn)
      return subscription
    }
    append(subscription)
    if phase == .idle {
      self.priority = priority
      phase = .running
      starter = waiting
      start(&turn)
    } else {
      waiting?.wait(for: trace)
      updatePriority(&turn)
      if isWatching, let (completed, total) = lastProgress {
        receive(.progress(completed: completed, total: total), &turn)
      }
    }
    if isWatching { beginWatching(&turn) }
    return subscription
  }

  private func append(_ subscription: Subscription<Value>) {
    counts[subscription.priority.rawValue] += 1
    subscription.previous = last
    last?.next = subscription
    last = subscription
    if first == nil { first = subscription }
  }

  private func remove(_ subscription: Subscription<Value>, _ turn: inout Turn) {
    // Kept until the lock is released: the closure may own a user's objects.
    turn.keep(subscription)
    counts[subscription.priority.rawValue] -= 1
    subscription.isActive = false
    let (previous, next) = (subscription.previous, subscription.next)
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
    (subscription.previous, subscription.next) = (nil, nil)
  }

  fileprivate func watch(_ subscription: Subscription<Value>, _ turn: inout Turn) {
    guard subscription.isActive else { return }
    subscription.isWatching = true
    beginWatching(&turn)
  }

  private func beginWatching(_ turn: inout Turn) {
    guard phase == .running, !isWatched else { return }
    isWatched = true
    dependency?.watch(&turn)
    watchingBegan(&turn)
  }

  fileprivate func unsubscribe(_ subscription: Subscription<Value>, _ turn: inout Turn) {
    guard subscription.isActive else { return }
    remove(subscription, &turn)
    stopUnlessWanted(&turn)
  }

  private func stopUnlessWanted(_ turn: inout Turn) {
    guard first == nil else { return updatePriority(&turn) }
    phase = .ended
    turn.keep(self)
    leave(&turn)
    // Cancellation may call back, and the work may own a user's objects.
    if let task = task.take() { turn.afterwards { task.cancel() } }
    if let item = item.take() { turn.afterwards { item.cancel() } }
    stop(&turn)
    trace?.note("error", "no subscribers left", at: turn.uptime)
    trace?.end(at: turn.uptime)
    if let (pool, key) = place.take() { pool.forget(key, &turn) }
  }

  fileprivate func setPriority(_ priority: Priority, _ subscription: Subscription<Value>, _ turn: inout Turn) {
    guard subscription.isActive, subscription.priority != priority else { return }
    counts[subscription.priority.rawValue] -= 1
    counts[priority.rawValue] += 1
    subscription.priority = priority
    updatePriority(&turn)
  }

  private func updatePriority(_ turn: inout Turn) {
    guard phase == .running, let highest = Priority.allCases.last(where: { counts[$0.rawValue] > 0 }),
      highest != priority
    else { return }
    priority = highest
    dependency?.setPriority(priority, &turn)
    item?.priority = priority
    priorityChanged(&turn)
  }

  // MARK: Results

  /// True while the work is wanted.
  final var isRunning: Bool { phase == .running }

  /// Unsubscribes from the job that this one waits for.
  final func leave(_ turn: inout Turn) { dependency.take()?.unsubscribe(&turn) }

  /// The number of bytes received so far and expected, from the job that fetches them; `nil` before the first byte.
  func progress(_ turn: inout Turn) -> LoadProgress? { dependency?.progress(&turn) }

  final func send(progress completed: Int, of total: Int, _ turn: inout Turn) {
    guard phase == .running else { return }
    lastProgress = (completed, total)
    broadcast(.progress(completed: completed, total: total), &turn)
  }

  final func send(partial value: Value, _ turn: inout Turn) {
    guard phase == .running else { return }
    broadcast(.partial(value), &turn)
  }

  final func finish(_ result: Result<Value, LoadError>, _ turn: inout Turn) {
    guard phase == .running else { return }
    phase = .ended
    self.result = Box(result)
    turn.keep(self)
    if let trace {
      if case .failure(let error) = result { trace.note("error", .text("\(error)"), at: turn.uptime) }
      trace.end(at: turn.uptime)
    }
    // Removed from the pool before anyone is notified: a subscriber that requests it again gets a new job.
    if let (pool, key) = place.take() { pool.forget(key, &turn) }
    broadcast(.finished(result), &turn)
    while let first { remove(first, &turn) }
  }

  /// Ends the wait of callers; jobs that depend on this one keep waiting.
  final func cancelCallers(_ error: LoadError, _ turn: inout Turn) {
    guard phase == .running else { return }
    let callers = subscribers.filter(\.isCaller)
    guard !callers.isEmpty else { return }
    for caller in callers { remove(caller, &turn) }
    stopUnlessWanted(&turn)
    for caller in callers { caller.receive(.finished(.failure(error)), &turn) }
  }

  private var subscribers: [Subscription<Value>] {
    first.map { Array(sequence(first: $0, next: \.next)) } ?? []
  }

  private func broadcast(_ event: Event, _ turn: inout Turn) {
    if let first, first === last { return tell(first, event, &turn) }
    // A subscriber may leave within the call, and remove others.
    for subscriber in subscribers { tell(subscriber, event, &turn) }
  }

  private func tell(_ subscriber: Subscription<Value>, _ event: Event, _ turn: inout Turn) {
    guard subscriber.isActive, subscriber.isWatching || phase == .ended else { return }
    subscriber.receive(event, &turn)
  }
}

/// A subscriber's hold on a job.
///
/// Releasing it does not unsubscribe.
// @unchecked: like the job, guarded by the jobs' lock.
final class Subscription<Value: Sendable>: Dependency, @unchecked Sendable {
  private let job: Job<Value>
  fileprivate(set) var priority: Priority
  fileprivate var isWatching: Bool
  /// True for a caller, false for a job that depends on this one.
  fileprivate let isCaller: Bool
  fileprivate let receive: (JobEvent<Value>, inout Turn) -> Void
  fileprivate var isActive = true
  // The neighbours in the list; the strong cycle ends since every subscriber leaves.
  fileprivate var next: Subscription?
  fileprivate var previous: Subscription?

  fileprivate init(
    _ job: Job<Value>,
    _ priority: Priority,
    isWatching: Bool,
    isCaller: Bool,
    _ receive: @escaping (JobEvent<Value>, inout Turn) -> Void,
  ) {
    (self.job, self.priority, self.isWatching, self.isCaller) = (job, priority, isWatching, isCaller)
    self.receive = receive
  }

  func unsubscribe(_ turn: inout Turn) { job.unsubscribe(self, &turn) }

  func setPriority(_ priority: Priority, _ turn: inout Turn) { job.setPriority(priority, self, &turn) }

  /// Requests progress and partial values from now on.
  func watch(_ turn: inout Turn) { job.watch(self, &turn) }

  func progress(_ turn: inout Turn) -> LoadProgress? { job.progress(&turn) }
}

/// A subscription to a job of any value type.
protocol Dependency: AnyObject {
  func unsubscribe(_ turn: inout Turn)
  func setPriority(_ priority: Priority, _ turn: inout Turn)
  func watch(_ turn: inout Turn)
  func progress(_ turn: inout Turn) -> LoadProgress?
}
