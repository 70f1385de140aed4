public import VitrineImaging
public import VitrineRuntime

/// One caller's hold on an image that is being loaded.
///
/// Callers of the same image share the work and each has a task of their own: cancelling one leaves the others alone.
/// A task runs until it ends or is cancelled, whether or not it is kept.
public final class ImageTask: @unchecked Sendable {
  // @unchecked: `subscription` and `onCancel` are guarded by the jobs' lock, as every access is within a turn.

  /// What was asked for.
  public let request: ImageRequest

  private typealias Waiter = CheckedContinuation<Result<ImageResponse, LoadError>, Never>

  /// Something to be told, to everyone or to one stream alone.
  private struct News {
    let event: ImageEvent
    var stream: Int?
  }

  private struct State {
    var result: Result<ImageResponse, LoadError>?
    var progress: LoadProgress?
    var priority: Priority
    /// What the scope of the task allows.
    var priorityLimit = Priority.veryHigh
    var waiters: [Waiter] = []
    var streams: [Int: AsyncStream<ImageEvent>.Continuation] = [:]
    var nextID = 0
    var observer: (@Sendable (ImageEvent) -> Void)?
    /// What is still to be told, in order, by one thread at a time.
    var news: [News] = []
    var isTelling = false
    var onEnd: [@Sendable () -> Void] = []

    var isHeard: Bool { observer != nil || !streams.isEmpty || !onEnd.isEmpty }
  }

  /// What the task goes through, where that is recorded.
  package let trace: StageTrace?

  private let context: JobContext
  private let state: Lock<State>
  /// The hold on a job, while that runs.
  private var subscription: Subscription<ImageResponse>?
  /// Called when the task is cancelled, before it leaves the job.
  private var onCancel: (@Sendable (inout Turn) -> Void)?

  /// `observer` is told the end, and what came before if the task is subscribed as watching, in order and without a stream.
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

  /// The image, when it is there.
  ///
  /// May be awaited many times, by many.
  ///
  /// Cancelling the awaiting `Task` cancels this one.
  ///
  /// - Throws: ``LoadError``; when the task was cancelled one of code `.cancelled`, at once.
  public var image: Bitmap {
    get async throws(LoadError) { try await response.image }
  }

  /// The image and where it came from; see ``image``.
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

  /// What happens from now on; a new, independent stream at each call.
  ///
  /// It begins with the progress so far, if there is any, and ends with ``ImageEvent/finished(_:)``, at once where that
  /// has been. A slow reader misses the oldest when more than 64 events wait for it, never the
  /// last.
  public var events: AsyncStream<ImageEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let known = state.withLock { state -> Result<ImageResponse, LoadError>? in
        if let result = state.result { return result }
        let id = state.nextID
        state.nextID += 1
        if let progress = state.progress { state.news.append(News(event: .progress(progress), stream: id)) }
        state.streams[id] = continuation
        continuation.onTermination = { [weak self] _ in
          // Whoever stops listening is forgotten; the image is still loaded.
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

  /// How urgent the image is; may be changed while it is loaded.
  public var priority: Priority {
    get { state.withLock { $0.priority } }
    set { changePriority { $0.priority = newValue } }
  }

  /// Ends the task with an error of code `.cancelled`, at once; does nothing after the end.
  ///
  /// May be called from anywhere, any number of times.
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

  /// What the task goes through, as far as it has come; `nil` where its pipeline does not record that.
  ///
  /// Recorded where ``ImagePipeline/Configuration/collectsMetrics`` is set, or somebody listens. Kept as long as the task.
  /// Complexity: O(n) over the stages.
  public var metrics: RequestMetrics? { trace?.metrics }

  // MARK: For the pipeline

  /// Bounds the priority of the work, whatever ``priority`` is; by default nothing does.
  ///
  /// `limit` is asked with the task's lock held.
  func limitPriority(_ limit: () -> Priority) { changePriority { $0.priorityLimit = limit() } }

  private func changePriority(_ change: (inout State) -> Void) {
    state.withLock { change(&$0) }
    // Looked up within the turn: of two changes on two threads the job is told the later one last.
    context.turn { subscription?.setPriority(effectivePriority, &$0) }
  }

  private var effectivePriority: Priority { state.withLock { min($0.priority, $0.priorityLimit) } }

  /// Lets somebody know of the end, too; at once if that has been.
  func whenEnded(_ tell: @escaping @Sendable () -> Void) {
    let isEnded = state.withLock { state in
      if state.result == nil { state.onEnd.append(tell) }
      return state.result != nil
    }
    if isEnded { tell() }
  }

  var isEnded: Bool { state.withLock { $0.result != nil } }

  /// Waits for a job; `request` is what it serves, where its server may have to be asked behind it, `onCancel` is called
  /// when the task is cancelled, before the job is left.
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
    // It may have ended at once, or been cancelled on another thread meanwhile.
    guard !isEnded else { return subscription.unsubscribe(&turn) }
    (self.subscription, self.onCancel) = (subscription, onCancel)
  }

  /// Forgets the job, which has told its end or been left.
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

  /// Takes note of the end; the first one counts.
  private static func end(_ result: Result<ImageResponse, LoadError>, _ state: inout State) -> Bool {
    guard state.result == nil else { return false }
    state.result = result
    // Who awaits the image is told otherwise.
    if state.isHeard { state.news.append(News(event: .finished(result))) }
    return true
  }

  private func add(_ event: ImageEvent) {
    state.withLock { state in
      guard state.result == nil else { return }
      if case .progress(let progress) = event {
        state.progress = progress
        // Who is slow needs the latest only.
        if case .progress = state.news.last?.event, state.news.last?.stream == nil { state.news.removeLast() }
      }
      state.news.append(News(event: event))
    }
  }
}

// MARK: - Telling

extension ImageTask: Deliverable {
  var callsOut: Bool { state.withLock { $0.observer != nil || !$0.onEnd.isEmpty } }

  /// Tells what has happened, with no lock held: whoever is told may do anything, also with this task.
  ///
  /// Whoever awaits the image learns of the end at once, also while an observer still thinks about something earlier.
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

  /// Takes the next thing to be told, for the one thread that tells.
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
