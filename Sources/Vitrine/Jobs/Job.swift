import VitrineRuntime

/// What a job tells those who wait for it.
enum JobEvent<Value: Sendable, Failure: Error>: Sendable {
  /// Bytes so far, of how many (0 while that is unknown).
  case progress(completed: Int, total: Int)
  /// A part of the value, such as a preview; the value itself is still to come.
  case partial(Value)
  /// The end.
  case finished(Result<Value, Failure>)

  fileprivate var isEnd: Bool { if case .finished = self { true } else { false } }
}

/// Work that several wait for and that is done once.
///
/// Nothing starts before the first subscribes, and the work stops when the last one leaves. It runs at the highest priority
/// of its subscribers. A subclass says only what the work is: ``start(_:)``, ``stop(_:)``, ``priorityChanged(_:)``.
/// A job that waits for another is one of that one's subscribers, so cancelling and priorities go down the same way.
///
/// Every method is called within a turn of the engine; that is what makes the class safe to share.
// @unchecked: all state is guarded by the engine's lock, as every access asks for a `Turn`.
class Job<Value: Sendable, Failure: Error>: @unchecked Sendable {
  typealias Event = JobEvent<Value, Failure>

  private struct Subscriber {
    let id: Int
    var priority: Priority
    var isWatching: Bool
    /// Whether it is someone who asked for this, and no job that goes on from here.
    let isCaller: Bool
    let receive: (Event, inout Turn) -> Void
  }

  private enum Phase { case idle, running, ended }

  private var subscribers: [Subscriber] = []
  private var nextID = 0
  private var phase = Phase.idle
  private var lastProgress: (completed: Int, total: Int)?
  private var result: Result<Value, Failure>?
  private var onEnd: ((inout Turn) -> Void)?

  /// Told what the job goes through, where that is recorded; set when the job starts, before anything it waits for does.
  final var trace: StageTrace? {
    didSet { starter?.wait(for: trace) }
  }
  /// What the first subscriber goes through.
  private(set) final var starter: StageTrace?

  /// The highest of the subscribers' priorities.
  private(set) var priority = Priority.veryLow
  /// Whether a subscriber wants to know of progress and parts; once it is so it stays so.
  private(set) var isWatched = false

  /// - Parameter onEnd: Called once, when the job has finished or nobody waits any more: a pool forgets it then.
  init(onEnd: ((inout Turn) -> Void)? = nil) {
    self.onEnd = onEnd
  }

  // MARK: What a subclass says

  /// Begins the work; called once, when the first has subscribed.
  func start(_ turn: inout Turn) {}

  /// Stops the work and leaves the jobs it depends on; called at most once, when the last subscriber has left.
  func stop(_ turn: inout Turn) {}

  /// Passes ``priority`` on to whatever does the work.
  func priorityChanged(_ turn: inout Turn) {}

  /// Asks whatever does the work for progress; called at most once, and not before ``start(_:)``.
  func watchingBegan(_ turn: inout Turn) {}

  // MARK: Waiting for it

  /// Adds a subscriber and starts the work if it is the first.
  ///
  /// One who comes late gets the last progress at once, and the end if there was one. Progress and parts are told to those
  /// who watch only, so that they cost nothing where nobody does. `waiting` is what the subscriber goes through.
  func subscribe(
    priority: Priority,
    isWatching: Bool = false,
    isCaller: Bool = false,
    for waiting: StageTrace? = nil,
    _ turn: inout Turn,
    _ receive: @escaping (Event, inout Turn) -> Void,
  ) -> Subscription<Value, Failure> {
    let id = nextID
    nextID += 1
    let subscription = Subscription(job: self, id: id)
    if let result {
      waiting?.wait(for: trace)
      receive(.finished(result), &turn)
      return subscription
    }
    subscribers.append(
      Subscriber(id: id, priority: priority, isWatching: isWatching, isCaller: isCaller, receive: receive)
    )
    if phase == .idle {
      self.priority = priority
      phase = .running
      starter = waiting
      start(&turn)
    } else {
      waiting?.wait(for: trace)
      updatePriority(&turn)
      if isWatching, let lastProgress {
        receive(.progress(completed: lastProgress.completed, total: lastProgress.total), &turn)
      }
    }
    if isWatching { beginWatching(&turn) }
    return subscription
  }

  fileprivate func watch(_ id: Int, _ turn: inout Turn) {
    guard phase == .running, let index = subscribers.firstIndex(where: { $0.id == id }) else { return }
    subscribers[index].isWatching = true
    beginWatching(&turn)
  }

  private func beginWatching(_ turn: inout Turn) {
    guard phase == .running, !isWatched else { return }
    isWatched = true
    watchingBegan(&turn)
  }

  fileprivate func unsubscribe(_ id: Int, _ turn: inout Turn) {
    guard phase == .running, let index = subscribers.firstIndex(where: { $0.id == id }) else { return }
    subscribers.remove(at: index)
    stopUnlessWanted(&turn)
  }

  private func stopUnlessWanted(_ turn: inout Turn) {
    guard subscribers.isEmpty else { return updatePriority(&turn) }
    phase = .ended
    stop(&turn)
    trace?.note("error", "nobody waits any more")
    trace?.end()
    end(&turn)
  }

  fileprivate func setPriority(_ priority: Priority, _ id: Int, _ turn: inout Turn) {
    guard let index = subscribers.firstIndex(where: { $0.id == id }) else { return }
    subscribers[index].priority = priority
    updatePriority(&turn)
  }

  private func updatePriority(_ turn: inout Turn) {
    guard phase == .running, let highest = subscribers.map(\.priority).max(), highest != priority else { return }
    priority = highest
    priorityChanged(&turn)
  }

  // MARK: What the work tells

  /// Whether the work is still wanted.
  var isRunning: Bool { phase == .running }

  func send(progress completed: Int, of total: Int, _ turn: inout Turn) {
    guard phase == .running else { return }
    lastProgress = (completed, total)
    broadcast(.progress(completed: completed, total: total), &turn)
  }

  func send(partial value: Value, _ turn: inout Turn) {
    guard phase == .running else { return }
    broadcast(.partial(value), &turn)
  }

  func finish(_ result: Result<Value, Failure>, _ turn: inout Turn) {
    guard phase == .running else { return }
    phase = .ended
    self.result = result
    if let trace {
      if case .failure(let error) = result { trace.note("error", .text("\(error)")) }
      trace.end()
    }
    // Forgotten by its pool before anyone is told: who then asks again gets a new job and not this one's past.
    end(&turn)
    broadcast(.finished(result), &turn)
    subscribers = []
  }

  /// Ends the wait of those who asked for this itself; jobs that go on from here have it still.
  func cancelCallers(_ error: Failure, _ turn: inout Turn) {
    let callers = subscribers.filter(\.isCaller)
    guard phase == .running, !callers.isEmpty else { return }
    subscribers.removeAll(where: \.isCaller)
    stopUnlessWanted(&turn)
    for caller in callers { caller.receive(.finished(.failure(error)), &turn) }
  }

  private func broadcast(_ event: Event, _ turn: inout Turn) {
    // A subscriber may leave while it is told, and take others with it.
    for subscriber in subscribers where subscribers.contains(where: { $0.id == subscriber.id }) {
      if !subscriber.isWatching, !event.isEnd { continue }
      subscriber.receive(event, &turn)
    }
  }

  private func end(_ turn: inout Turn) {
    let onEnd = onEnd
    self.onEnd = nil
    onEnd?(&turn)
  }
}

/// One subscriber's hold on a job.
///
/// Dropping it does not unsubscribe.
struct Subscription<Value: Sendable, Failure: Error>: Sendable {
  fileprivate let job: Job<Value, Failure>
  fileprivate let id: Int

  func unsubscribe(_ turn: inout Turn) { job.unsubscribe(id, &turn) }

  func setPriority(_ priority: Priority, _ turn: inout Turn) { job.setPriority(priority, id, &turn) }

  /// Asks for progress and parts from now on.
  func watch(_ turn: inout Turn) { job.watch(id, &turn) }
}
