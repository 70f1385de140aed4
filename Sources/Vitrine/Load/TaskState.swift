import Synchronization
public import VitrineRuntime

/// A source of unique numbers for tasks.
enum TaskNumber {
  private static let last = Atomic(0)

  static func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}

/// The subscription of a task to shared work of any value.
protocol LoadSubscription: WorkDependency {
  func cancel()
  func setPriority(_ priority: Priority)
  func watch(_ interest: WorkDemand.Interest)
}

extension SharedWorkSubscription: LoadSubscription {}

/// The result, the progress and the priority of a task, and its listeners.
///
/// Listeners are called in order, by one thread at a time, with no lock held. The state has the task's only lock, in
/// one allocation.
struct TaskState<Value: Sendable>: Sendable {
  typealias Event = LoadEvent<Value>
  typealias Outcome = Result<Value, LoadError>

  /// An update for the listeners.
  private enum News: Sendable {
    /// Progress for all listeners, or for one stream.
    case progress(LoadProgress, stream: Int?)
    case event(Event)
    case end(Outcome)
  }

  private struct Values: Sendable {
    var result: Outcome?
    var progress: LoadProgress?
    var priority: Priority
    /// The highest priority that the task's scope allows.
    var priorityLimit = Priority.veryHigh
    var waiters: [Waiter<Outcome>] = []
    var streams: [Int: AsyncStream<Event>.Continuation] = [:]
    var nextID = 0
    var observer: (@Sendable (Event) -> Void)?
    /// The updates that have yet to be delivered.
    var news: [News] = []
    var isTelling = false
    var onEnd: [@Sendable () -> Void] = []
    /// The subscription to shared work, while that runs.
    var subscription: (any LoadSubscription)?
    /// The closure called when the task is cancelled, before it leaves the work.
    var onCancel: (@Sendable () -> Void)?

    var isHeard: Bool { observer != nil || !streams.isEmpty || !onEnd.isEmpty }
  }

  private let values: Lock<Values>

  init(priority: Priority, observer: (@Sendable (Event) -> Void)? = nil) {
    values = Lock(Values(priority: priority, observer: observer))
  }

  // MARK: Reading

  var result: Outcome? { values.withLock { $0.result } }

  var state: LoadState {
    switch result {
    case nil: .running
    case .failure(let error)? where error.isCancellation: .cancelled
    case .success?, .failure?: .finished
    }
  }

  var isEnded: Bool { values.withLock { $0.result != nil } }

  /// The last known progress.
  var progress: LoadProgress? { values.withLock { $0.progress } }

  /// A Boolean value that indicates whether a stream reads the events.
  var hasStreams: Bool { values.withLock { !$0.streams.isEmpty } }

  /// A Boolean value that indicates whether a delivery calls the program's closures.
  var callsOut: Bool { values.withLock { $0.observer != nil || !$0.onEnd.isEmpty } }

  var priority: Priority {
    get { values.withLock { $0.priority } }
    nonmutating set { values.withLock { $0.priority = newValue } }
  }

  /// The priority, limited by the task's scope.
  var effectivePriority: Priority { values.withLock { min($0.priority, $0.priorityLimit) } }

  /// Limits the priority; `limit` is called with the lock held, so that the later of two limits counts.
  func limitPriority(_ limit: () -> Priority) { values.withLock { $0.priorityLimit = limit() } }

  // MARK: The work

  /// The hold of a task on its work.
  struct Hold {
    let subscription: (any LoadSubscription)?
    let onCancel: (@Sendable () -> Void)?
  }

  var subscription: (any LoadSubscription)? { values.withLock { $0.subscription } }

  /// Keeps the subscription until the end; returns `false` if the task has ended already.
  func attach(_ subscription: any LoadSubscription, onCancel: (@Sendable () -> Void)?) -> Bool {
    values.withLock { values in
      guard values.result == nil else { return false }
      (values.subscription, values.onCancel) = (subscription, onCancel)
      return true
    }
  }

  // MARK: Events

  /// Ends the task; later calls have no effect.
  ///
  /// - Returns: The task's hold on its work, which the caller releases with no lock held, for the first call; `nil` for
  ///   later ones.
  func end(_ result: Outcome) -> Hold? {
    values.withLock { values in
      guard values.result == nil else { return nil }
      values.result = result
      // Callers that await the response are resumed separately.
      if values.isHeard { values.news.append(.end(result)) }
      defer { (values.subscription, values.onCancel) = (nil, nil) }
      return Hold(subscription: values.subscription, onCancel: values.onCancel)
    }
  }

  /// Records progress that is to be delivered.
  func add(_ progress: LoadProgress) {
    values.withLock { values in
      guard values.result == nil else { return }
      values.progress = progress
      // Slow listeners need only the latest progress.
      if case .progress(_, stream: nil) = values.news.last { values.news.removeLast() }
      values.news.append(.progress(progress, stream: nil))
    }
  }

  /// Records progress that a caller has read, without a delivery.
  func note(_ progress: LoadProgress) {
    values.withLock { if $0.result == nil { $0.progress = progress } }
  }

  /// Records any other event that is to be delivered.
  func add(_ event: Event) {
    values.withLock { if $0.result == nil { $0.news.append(.event(event)) } }
  }

  // MARK: Listeners

  /// Waits for the end; may be called any number of times, by several callers.
  func outcome() async -> Outcome {
    await Waiter.wait { waiter in
      let known = values.withLock { values -> Outcome? in
        if values.result == nil { values.waiters.append(waiter) }
        return values.result
      }
      if let known { waiter.resume(returning: known) }
    }
  }

  /// Adds a stream, which begins with the progress so far.
  ///
  /// A stream that is added after the end receives the result and finishes.
  ///
  /// - Parameters:
  ///   - continuation: The stream.
  ///   - onTermination: A closure called with the number of the stream when the stream is no longer read.
  /// - Returns: `true` if further events will follow.
  func add(
    _ continuation: AsyncStream<Event>.Continuation,
    onTermination: @escaping @Sendable (Int) -> Void,
  ) -> Bool {
    let known = values.withLock { values -> Outcome? in
      if let result = values.result { return result }
      let id = values.nextID
      values.nextID += 1
      if let progress = values.progress { values.news.append(.progress(progress, stream: id)) }
      values.streams[id] = continuation
      continuation.onTermination = { _ in onTermination(id) }
      return nil
    }
    guard let known else { return true }
    continuation.yield(.finished(known))
    continuation.finish()
    return false
  }

  /// Removes a stream, and releases it with no lock held.
  func removeStream(_ id: Int) {
    let stream = values.withLock { $0.streams.removeValue(forKey: id) }
    withExtendedLifetime(stream) {}
  }

  /// Adds a closure to be called at the end; at once if the task has ended.
  func whenEnded(_ tell: @escaping @Sendable () -> Void) {
    let isEnded = values.withLock { values in
      if values.result == nil { values.onEnd.append(tell) }
      return values.result != nil
    }
    if isEnded { tell() }
  }

  // MARK: Delivery

  /// Delivers pending updates with no lock held, since listeners may do anything, also with this task.
  ///
  /// Callers that await the response are resumed at once, even while an observer handles an earlier event;
  /// `beforeWaiters` is called before that.
  func deliver(beforeWaiters: (Outcome) -> Void) {
    let (waiters, result) = values.withLock { values -> ([Waiter<Outcome>], Outcome?) in
      guard values.result != nil else { return ([], nil) }
      defer { values.waiters = [] }
      return (values.waiters, values.result)
    }
    if let result {
      beforeWaiters(result)
      for waiter in waiters { waiter.resume(returning: result) }
    }
    while let (event, recipients) = next() {
      for stream in recipients.streams { stream.yield(event) }
      recipients.observer?(event)
      if recipients.isEnd {
        for stream in recipients.streams { stream.finish() }
        for tell in recipients.onEnd { tell() }
      }
      values.withLock { $0.isTelling = false }
    }
  }

  private struct Recipients {
    var streams: [AsyncStream<Event>.Continuation] = []
    var observer: (@Sendable (Event) -> Void)?
    var onEnd: [@Sendable () -> Void] = []
    var isEnd = false
  }

  /// Takes the next event to deliver, for the one thread that delivers.
  private func next() -> (Event, Recipients)? {
    values.withLock { values in
      guard !values.isTelling, !values.news.isEmpty else { return nil }
      values.isTelling = true
      var recipients = Recipients(streams: Array(values.streams.values), observer: values.observer)
      switch values.news.removeFirst() {
      case .progress(let progress, let stream?):
        return (.progress(progress), Recipients(streams: values.streams[stream].map { [$0] } ?? []))
      case .progress(let progress, nil): return (.progress(progress), recipients)
      case .event(let event): return (event, recipients)
      case .end(let result):
        (recipients.onEnd, recipients.isEnd) = (values.onEnd, true)
        (values.streams, values.observer, values.onEnd) = ([:], nil, [])
        return (.finished(result), recipients)
      }
    }
  }
}
