public import VitrineImaging
public import VitrineRuntime

/// One caller's hold on an image that is being loaded.
///
/// Callers of the same image share the work and each has a task of their own: cancelling one leaves the others alone.
/// A task runs until it ends or is cancelled, whether or not it is kept.
public final class ImageTask: Sendable {
  /// What was asked for.
  public let request: ImageRequest

  private struct State {
    var result: Result<ImageResponse, LoadError>?
    var progress: LoadProgress?
    var priority: Priority
    /// What the scope of the task allows.
    var priorityLimit = Priority.veryHigh
    var waiting: [Int: CheckedContinuation<Result<ImageResponse, LoadError>, Never>] = [:]
    var streams: [Int: AsyncStream<ImageEvent>.Continuation] = [:]
    var nextID = 0
    var subscription: Hold?
    var observer: (@Sendable (ImageEvent) -> Void)?
    var onEnd: (@Sendable () -> Void)?
    var onCancel: (@Sendable () -> Void)?
  }

  private typealias Hold = Subscription<CachedImage, LoadError>

  /// What the task goes through, where that is recorded.
  package let trace: StageTrace?

  private let engine: Engine
  private let state: Lock<State>

  /// `observer` is told the end, and what came before if the task is subscribed as watching, in order and without a stream; a
  /// lock may be held around it, so all it may do is take a note.
  init(
    _ request: ImageRequest,
    _ context: JobContext,
    observer: (@Sendable (ImageEvent) -> Void)? = nil,
    onEnd: (@Sendable () -> Void)? = nil,
  ) {
    self.request = request
    engine = context.engine
    trace = context.recorder?.request(request)
    state = Lock(State(priority: request.priority, observer: observer, onEnd: onEnd))
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
            if let result = state.result { return result }
            state.waiting[state.nextID] = continuation
            state.nextID += 1
            return nil
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
      let (known, subscription) = state.withLock { state -> (Result<ImageResponse, LoadError>?, Hold?) in
        if let result = state.result { return (result, nil) }
        let id = state.nextID
        state.nextID += 1
        if let progress = state.progress { continuation.yield(.progress(progress)) }
        state.streams[id] = continuation
        continuation.onTermination = { [weak self] _ in
          // Whoever stops listening is forgotten; the image is still loaded.
          self?.state.withLock { $0.streams[id] = nil }
        }
        return (nil, state.subscription)
      }
      if let subscription { engine.turn { subscription.watch(&$0) } }
      if let known {
        continuation.yield(.finished(known))
        continuation.finish()
      }
    }
  }

  /// How urgent the image is; may be changed while it is loaded.
  public var priority: Priority {
    get { state.withLock { $0.priority } }
    set {
      changePriority { $0.priority = newValue }
    }
  }

  /// Ends the task with an error of code `.cancelled`, at once; does nothing after the end.
  ///
  /// May be called from anywhere, any number of times.
  public func cancel() {
    guard let ended = finish(.failure(LoadError(.cancelled, .request, request.name, "cancelled")))
    else { return }
    if let subscription = ended.subscription {
      ended.onCancel?()
      engine.turn { subscription.unsubscribe(&$0) }
    }
    // Only now: what a job under way calls on is the pipeline's, which this may let go.
    ended.onEnd?()
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
    let subscription = state.withLock { state in
      change(&state)
      return state.subscription
    }
    guard let subscription else { return }
    // Looked up within the turn: of two changes on two threads the job is told the later one last.
    engine.turn { subscription.setPriority(effectivePriority, &$0) }
  }

  private var effectivePriority: Priority { state.withLock { min($0.priority, $0.priorityLimit) } }

  /// Lets somebody know of the end, too; at once if that has been.
  func whenEnded(_ tell: @escaping @Sendable () -> Void) {
    let isEnded = state.withLock { state in
      guard state.result == nil else { return true }
      let before = state.onEnd
      state.onEnd = {
        before?()
        tell()
      }
      return false
    }
    if isEnded { tell() }
  }

  var isEnded: Bool { state.withLock { $0.result != nil } }

  /// Waits for a job; `served` is told the image, `onCancel` that the task is cancelled while the job is not yet left.
  ///
  /// Called within a turn, once.
  func subscribe(
    to job: Job<CachedImage, LoadError>,
    isWatching: Bool = false,
    _ turn: inout Turn,
    onCancel: (@Sendable () -> Void)? = nil,
    served: @escaping (CachedImage, inout Turn) -> Void,
  ) {
    guard !isEnded else { return }
    let priority = effectivePriority
    let subscription = job.subscribe(
      priority: priority,
      isWatching: isWatching,
      isCaller: true,
      for: trace,
      &turn,
    ) { [self] event, turn in
      if case .finished(.success(let image)) = event { served(image, &turn) }
      receive(event)
    }
    let (isOver, isHeard) = state.withLock { state in
      guard state.result == nil else { return (true, false) }
      state.subscription = subscription
      state.onCancel = onCancel
      return (false, !state.streams.isEmpty)
    }
    // Cancelled on another thread meanwhile, or made more or less urgent; listened to before it was begun.
    if isOver { return subscription.unsubscribe(&turn) }
    if effectivePriority != priority { subscription.setPriority(effectivePriority, &turn) }
    if isHeard { subscription.watch(&turn) }
  }

  func receive(_ event: JobEvent<CachedImage, LoadError>) {
    switch event {
    case .progress(let completed, let total):
      tell(.progress(LoadProgress(completed: completed, total: total)))
    case .partial(let image): tell(.preview(image.image))
    case .finished(let result): end(result.map(\.response))
    }
  }

  private func tell(_ event: ImageEvent) {
    let observer = state.withLock { state -> (@Sendable (ImageEvent) -> Void)? in
      guard state.result == nil else { return nil }
      if case .progress(let progress) = event { state.progress = progress }
      for stream in state.streams.values { stream.yield(event) }
      return state.observer
    }
    observer?(event)
  }

  /// Called when the job has ended; the first end counts.
  func end(_ result: Result<ImageResponse, LoadError>) {
    finish(result)?.onEnd?()
  }

  /// Tells everyone; returns what there was before, whose `onEnd` is still to be called.
  private func finish(_ result: Result<ImageResponse, LoadError>) -> State? {
    let ended = state.withLock { state -> State? in
      guard state.result == nil else { return nil }
      let before = state
      state.result = result
      (state.waiting, state.streams, state.subscription, state.onEnd) = ([:], [:], nil, nil)
      (state.observer, state.onCancel) = (nil, nil)
      return before
    }
    guard let ended else { return nil }
    trace?.end(result)
    for continuation in ended.waiting.values { continuation.resume(returning: result) }
    for stream in ended.streams.values {
      stream.yield(.finished(result))
      stream.finish()
    }
    ended.observer?(.finished(result))
    return ended
  }
}
