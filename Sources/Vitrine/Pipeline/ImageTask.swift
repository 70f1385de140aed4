public import VitrineImaging
public import VitrineRuntime

/// One caller's hold on an image that is loading.
///
/// Callers of the same image share the work, and each has a task of its own: cancelling one does not affect the others.
/// A task runs until it ends or is cancelled, whether or not it is kept.
public final class ImageTask: @unchecked Sendable {
  // @unchecked: `subscription` and `onCancel` are guarded by the jobs' lock, as every access is within a turn.

  /// The request.
  public let request: ImageRequest

  private typealias Waiter = CheckedContinuation<Result<ImageResponse, LoadError>, Never>

  /// An event for every receiver, or for one stream alone.
  private struct News {
    let event: ImageEvent
    var stream: Int?
  }

  private struct State {
    var result: Result<ImageResponse, LoadError>?
    var progress: LoadProgress?
    var priority: Priority
    /// The limit of the task's scope.
    var priorityLimit = Priority.veryHigh
    var waiters: [Waiter] = []
    var streams: [Int: AsyncStream<ImageEvent>.Continuation] = [:]
    var nextID = 0
    var observer: (@Sendable (ImageEvent) -> Void)?
    /// The events still to be delivered, in order, by one thread at a time.
    var news: [News] = []
    var isTelling = false
    var onEnd: [@Sendable () -> Void] = []

    var isHeard: Bool { observer != nil || !streams.isEmpty || !onEnd.isEmpty }
  }

  /// The trace, if traces are recorded.
  package let trace: StageTrace?

  private let context: JobContext
  private let state: Lock<State>
  /// The subscription to a job, while that runs.
  private var subscription: Subscription<ImageResponse>?
  /// Called when the task is cancelled, before it leaves the job.
  private var onCancel: (@Sendable (inout Turn) -> Void)?

  /// `observer` receives the end and, if the task is watching, the events before it, in order.
  init(
    _ request: ImageRequest,
    _ context: JobContext,
    priority: Priority,
    observer: (@Sendable (ImageEvent) -> Void)? = nil,
  ) {
    (self.request, self.context) = (request, context)
    trace = context.recorder?.request(request)
    state = Lock(State(priority: priority, observer: observer))
  }

  // MARK: For callers

  /// The image, once it has loaded.
  ///
  /// May be awaited any number of times. Cancelling an awaiting `Task` cancels this one.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the task is cancelled.
  public var image: Bitmap {
    get async throws(LoadError) { try await response.image }
  }

  /// The image and its origin; see ``image``.
  public var response: ImageResponse {
    get async throws(LoadError) {
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let known = state.withLock { state -> Result<ImageResponse, LoadError>? in
            if state.result == nil { state.waiters.append(continuation) }
            return state.result
          }
          if let known { continuation.resume(returning: known) }
        }
      } onCancel: {
        cancel()
      }
      return try result.get()
    }
  }

  /// The events from now on; each call returns a new, independent stream.
  ///
  /// A stream begins with the progress so far, if any, and ends with ``ImageEvent/finished(_:)``, at once if the task
  /// has ended. It buffers up to 64 events; a slow reader misses the oldest, never the last.
  public var events: AsyncStream<ImageEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let known = state.withLock { state -> Result<ImageResponse, LoadError>? in
        if let result = state.result { return result }
        let id = state.nextID
        state.nextID += 1
        if let progress = state.progress { state.news.append(News(event: .progress(progress), stream: id)) }
        state.streams[id] = continuation
        continuation.onTermination = { [weak self] _ in
          // A stream that ends does not cancel the load.
          let stream = self?.state.withLock { $0.streams.removeValue(forKey: id) }
          withExtendedLifetime(stream) {}
        }
        return nil
      }
      if let known {
        continuation.yield(.finished(known))
        continuation.finish()
      } else {
        context.turn { subscription?.watch(&$0) }
        deliver()
      }
    }
  }

  /// The priority of the load; may be changed while it runs.
  public var priority: Priority {
    get { state.withLock { $0.priority } }
    set { changePriority { $0.priority = newValue } }
  }

  /// Cancels the task: it ends at once with an error of code `.cancelled`; does nothing after its end.
  ///
  /// May be called from any thread, any number of times.
  public func cancel() {
    let error = LoadError(.cancelled, .request, request.name, "cancelled")
    if state.withLock({ Self.end(.failure(error), &$0) }) {
      context.turn { turn in
        onCancel?(&turn)
        subscription?.unsubscribe(&turn)
        leave(&turn)
      }
    }
    deliver()
  }

  /// The metrics of the task so far; `nil` if its pipeline records none.
  ///
  /// Recorded if ``ImagePipeline/Configuration/collectsMetrics``, an observer or a log is set; kept as long as the
  /// task. Complexity: O(n) in the number of stages.
  public var metrics: RequestMetrics? { trace?.metrics }

  // MARK: For the pipeline

  /// Limits the priority of the work, whatever ``priority`` is; without a call there is no limit.
  ///
  /// `limit` is called with the task's lock held.
  func limitPriority(_ limit: () -> Priority) { changePriority { $0.priorityLimit = limit() } }

  private func changePriority(_ change: (inout State) -> Void) {
    state.withLock { change(&$0) }
    // Read within the turn, so that of two concurrent changes the job gets the later one last.
    context.turn { subscription?.setPriority(effectivePriority, &$0) }
  }

  private var effectivePriority: Priority { state.withLock { min($0.priority, $0.priorityLimit) } }

  /// Adds a closure to be called at the end; at once if the task has ended.
  func whenEnded(_ tell: @escaping @Sendable () -> Void) {
    let isEnded = state.withLock { state in
      if state.result == nil { state.onEnd.append(tell) }
      return state.result != nil
    }
    if isEnded { tell() }
  }

  var isEnded: Bool { state.withLock { $0.result != nil } }

  /// Subscribes to a job; `request`, if any, is revalidated after the job serves it stale, `onCancel` is called when
  /// the task is cancelled, before it leaves the job.
  func subscribe(
    to job: Job<ImageResponse>,
    for request: ImageRequest?,
    isWatching: Bool,
    _ turn: inout Turn,
    onCancel: (@Sendable (inout Turn) -> Void)?,
  ) {
    let isHeard = state.withLock { !$0.streams.isEmpty }
    let subscription = job.subscribe(
      priority: effectivePriority,
      isWatching: isWatching || isHeard,
      isCaller: true,
      for: trace,
      &turn,
    ) { [self] event, turn in
      if let request, case .finished(.success(let image)) = event { context.served(image, request, &turn) }
      receive(event, &turn)
    }
    // It may have ended at once, or been cancelled on another thread.
    guard !isEnded else { return subscription.unsubscribe(&turn) }
    (self.subscription, self.onCancel) = (subscription, onCancel)
  }

  /// Releases the job, which has ended or been left.
  private func leave(_ turn: inout Turn) {
    if let subscription = subscription.take() { turn.keep(subscription) }
    if let onCancel = onCancel.take() { turn.release(onCancel) }
  }

  private func receive(_ event: JobEvent<ImageResponse>, _ turn: inout Turn) {
    switch event {
    case .progress(let completed, let total):
      add(.progress(LoadProgress(completed: completed, total: total)))
    case .partial(let preview): add(.preview(preview.container))
    case .finished(let result):
      state.withLock { _ = Self.end(result, &$0) }
      leave(&turn)
    }
    turn.deliver(self)
  }

  /// Ends a task that never waited for a job.
  func end(_ result: Result<ImageResponse, LoadError>) {
    state.withLock { _ = Self.end(result, &$0) }
    deliver()
  }

  /// Records the end; the first one counts.
  private static func end(_ result: Result<ImageResponse, LoadError>, _ state: inout State) -> Bool {
    guard state.result == nil else { return false }
    state.result = result
    // Awaiting callers are resumed separately.
    if state.isHeard { state.news.append(News(event: .finished(result))) }
    return true
  }

  private func add(_ event: ImageEvent) {
    state.withLock { state in
      guard state.result == nil else { return }
      if case .progress(let progress) = event {
        state.progress = progress
        // A slow receiver needs only the latest progress.
        if case .progress = state.news.last?.event, state.news.last?.stream == nil { state.news.removeLast() }
      }
      state.news.append(News(event: event))
    }
  }
}

// MARK: - Delivery

extension ImageTask: Deliverable {
  var callsOut: Bool { state.withLock { $0.observer != nil || !$0.onEnd.isEmpty } }

  /// Delivers all events, with no lock held: a receiver may do anything, even with this task.
  ///
  /// Awaiting callers are resumed at once, even if an observer is still busy with an earlier event.
  func deliver() {
    let (waiters, result) = state.withLock { state -> ([Waiter], Result<ImageResponse, LoadError>?) in
      guard state.result != nil else { return ([], nil) }
      defer { state.waiters = [] }
      return (state.waiters, state.result)
    }
    if let result {
      // The first end counts.
      trace?.end(result)
      for waiter in waiters { waiter.resume(returning: result) }
    }
    while let (news, recipients) = next() {
      for stream in recipients.streams { stream.yield(news.event) }
      recipients.observer?(news.event)
      if case .finished = news.event {
        for stream in recipients.streams { stream.finish() }
        for tell in recipients.onEnd { tell() }
      }
      state.withLock { $0.isTelling = false }
    }
  }

  private struct Recipients {
    var streams: [AsyncStream<ImageEvent>.Continuation] = []
    var observer: (@Sendable (ImageEvent) -> Void)?
    var onEnd: [@Sendable () -> Void] = []
  }

  /// Takes the next event, for the one thread that delivers.
  private func next() -> (News, Recipients)? {
    state.withLock { state in
      guard !state.isTelling, !state.news.isEmpty else { return nil }
      state.isTelling = true
      let news = state.news.removeFirst()
      if let id = news.stream { return (news, Recipients(streams: state.streams[id].map { [$0] } ?? [])) }
      var recipients = Recipients(streams: Array(state.streams.values), observer: state.observer)
      if case .finished = news.event {
        recipients.onEnd = state.onEnd
        (state.streams, state.observer, state.onEnd) = ([:], nil, [])
      }
      return (news, recipients)
    }
  }
}
