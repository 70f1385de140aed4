import VitrineRuntime

/// What a job tells those who wait for it.
enum JobEvent<Value: Sendable>: Sendable {
  /// Bytes so far, of how many (0 while that is unknown).
  case progress(completed: Int, total: Int)
  /// A part of the value, such as a preview; the value itself is still to come.
  case partial(Value)
  /// The end.
  case finished(Result<Value, LoadError>)
}

/// Work that several wait for and that is done once.
///
/// Nothing starts before the first subscribes, and the work stops when the last one leaves. It runs at the highest priority
/// of its subscribers. A subclass says only what the work is: ``start(_:)``, ``stop(_:)``, ``priorityChanged(_:)``.
/// A job that waits for another is one of that one's subscribers, so cancelling and priorities go down the same way.
///
/// Every method is called within a turn; that is what makes the class safe to share. Subscribers are linked in order, so
/// that joining, leaving and changing a priority take the same time among ten thousand as among two.
// @unchecked: all state is guarded by the jobs' lock, as every access asks for a `Turn`.
class Job<Value: Sendable>: PooledJob, @unchecked Sendable {
  typealias Event = JobEvent<Value>

  private enum Phase { case idle, running, ended }

  private var first: Subscription<Value>?
  private var last: Subscription<Value>?
  /// How many subscribers there are of each priority.
  private var counts = SIMD8<UInt32>()
  private var phase = Phase.idle
  private var lastProgress: Event?
  private var result: Result<Value, LoadError>?
  /// Where the job is to be forgotten at its end.
  private var place: (pool: JobPool, key: JobKey)?

  // What the work waits for; given up when nobody waits for the job any more.

  /// The hold on another job, set while that one runs.
  final var dependency: (any Dependency)?
  /// What is awaited.
  final var task: Task<Void, Never>?
  /// What a queue does.
  final var item: WorkItem?

  /// Told what the job goes through, where that is recorded; set when the job starts, before anything it waits for does.
  final var trace: StageTrace? {
    didSet { starter?.wait(for: trace) }
  }
  /// What the first subscriber goes through.
  private(set) final var starter: StageTrace?

  /// The highest of the subscribers' priorities.
  private(set) final var priority = Priority.veryLow
  /// Whether a subscriber wants to know of progress and parts; once it is so it stays so.
  private(set) final var isWatched = false

  /// Has a pool forget the job when it has finished or nobody waits any more.
  final func takePlace(_ key: JobKey, in pool: JobPool) { place = (pool, key) }

  // MARK: What a subclass says

  /// The keys of the request that it serves; `nil` where it serves none of one source.
  var requestKeys: RequestKeys? { nil }

  /// Begins the work; called once, when the first has subscribed.
  func start(_ turn: inout Turn) {}

  /// Stops the work; called at most once, when the last subscriber has left and ``dependency``, ``task`` and ``item`` have
  /// been given up.
  func stop(_ turn: inout Turn) {}

  /// Passes ``priority`` on to whatever does the work, besides ``dependency`` and ``item``.
  func priorityChanged(_ turn: inout Turn) {}

  /// Asks whatever does the work for progress, besides ``dependency``; called at most once, and not before ``start(_:)``.
  func watchingBegan(_ turn: inout Turn) {}

  // MARK: Waiting for it

  /// Adds a subscriber and starts the work if it is the first.
  ///
  /// One who comes late gets the last progress at once, and the end if there was one. Progress and parts are told to those
  /// who watch only, so that they cost nothing where nobody does. `waiting` is what the subscriber goes through.
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
      receive(.finished(result), &turn)
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
      if isWatching, let lastProgress { receive(lastProgress, &turn) }
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
    // Until the lock is open: with its closure something of a user's may be released.
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
    // Whoever waits for the cancellation may call back, and what the work refers to may be a user's.
    if let task = task.take() { turn.afterwards { task.cancel() } }
    if let item = item.take() { turn.afterwards { item.cancel() } }
    stop(&turn)
    trace?.note("error", "nobody waits any more", at: turn.uptime)
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

  // MARK: What the work tells

  /// Whether the work is still wanted.
  final var isRunning: Bool { phase == .running }

  /// Waits for the job before it no longer.
  final func leave(_ turn: inout Turn) { dependency.take()?.unsubscribe(&turn) }

  /// The bytes received so far, and of those expected, by way of what does the work; `nil` before the first byte.
  func progress(_ turn: inout Turn) -> LoadProgress? { dependency?.progress(&turn) }

  final func send(progress completed: Int, of total: Int, _ turn: inout Turn) {
    guard phase == .running else { return }
    let event = Event.progress(completed: completed, total: total)
    lastProgress = event
    broadcast(event, &turn)
  }

  final func send(partial value: Value, _ turn: inout Turn) {
    guard phase == .running else { return }
    broadcast(.partial(value), &turn)
  }

  final func finish(_ result: Result<Value, LoadError>, _ turn: inout Turn) {
    guard phase == .running else { return }
    phase = .ended
    self.result = result
    turn.keep(self)
    if let trace {
      if case .failure(let error) = result { trace.note("error", .text("\(error)"), at: turn.uptime) }
      trace.end(at: turn.uptime)
    }
    // Forgotten by its pool before anyone is told: who then asks again gets a new job and not this one's past.
    if let (pool, key) = place.take() { pool.forget(key, &turn) }
    broadcast(.finished(result), &turn)
    while let first { remove(first, &turn) }
  }

  /// Ends the wait of those who asked for this itself; jobs that go on from here have it still.
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
    // A subscriber may leave while it is told, and take others with it.
    for subscriber in subscribers { tell(subscriber, event, &turn) }
  }

  private func tell(_ subscriber: Subscription<Value>, _ event: Event, _ turn: inout Turn) {
    guard subscriber.isActive, subscriber.isWatching || phase == .ended else { return }
    subscriber.receive(event, &turn)
  }
}

/// One subscriber's hold on a job.
///
/// Dropping it does not unsubscribe.
// @unchecked: like the job, guarded by the jobs' lock.
final class Subscription<Value: Sendable>: Dependency, @unchecked Sendable {
  private let job: Job<Value>
  fileprivate(set) var priority: Priority
  fileprivate var isWatching: Bool
  /// Whether it is someone who asked for this, and no job that goes on from here.
  fileprivate let isCaller: Bool
  fileprivate let receive: (JobEvent<Value>, inout Turn) -> Void
  fileprivate var isActive = true
  // The neighbours among the subscribers; both refer strongly, and every subscriber leaves.
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

  /// Asks for progress and parts from now on.
  func watch(_ turn: inout Turn) { job.watch(self, &turn) }

  func progress(_ turn: inout Turn) -> LoadProgress? { job.progress(&turn) }
}

/// A hold on a job, whatever that job gives.
protocol Dependency: AnyObject {
  func unsubscribe(_ turn: inout Turn)
  func setPriority(_ priority: Priority, _ turn: inout Turn)
  func watch(_ turn: inout Turn)
  func progress(_ turn: inout Turn) -> LoadProgress?
}
