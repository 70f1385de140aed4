public import VitrineImaging
public import VitrineRuntime

/// A caller's load of an image.
///
/// Callers of the same image share the work, and each has a task of its own: cancelling one does not affect the others.
/// A task runs until it ends or is cancelled, even if it is not retained.
public final class ImageTask: Identifiable, @unchecked Sendable {
  // @unchecked: `subscription` and `onCancel` are guarded by the jobs' lock, as every access is within a turn.

  /// The request.
  public let request: ImageRequest

  /// The number of the task, unique in the process.
  public let id: Int

  /// The trace; `nil` if traces are not recorded.
  package let trace: StageTrace?

  private let context: JobContext
  /// A Boolean value that indicates whether the task ends with its request, by ``ImagePipeline/cancel(for:)-(ImageRequest)``.
  private let isCaller: Bool
  private let shared: TaskState<ImageEvent>
  /// The subscription to a job, while the job runs.
  private var subscription: Subscription<ImageResponse>?
  /// The closure called when the task is cancelled, before the task leaves the job.
  private var onCancel: (@Sendable (inout Turn) -> Void)?

  /// Creates a task; `observer` receives the end and, if the task is watching, the events before it, in order.
  init(
    _ request: ImageRequest,
    _ context: JobContext,
    priority: Priority,
    isCaller: Bool = true,
    observer: (@Sendable (ImageEvent) -> Void)? = nil,
  ) {
    (self.request, self.context, self.isCaller, id) = (request, context, isCaller, TaskNumber.next())
    trace = context.recorder?.request(request)
    shared = TaskState(priority: priority, observer: observer)
  }

  // MARK: For callers

  /// The image, once it has loaded.
  ///
  /// May be awaited any number of times. Cancelling an awaiting `Task` cancels this task.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the task is cancelled.
  public var image: Bitmap {
    get async throws(LoadError) { try await response.image }
  }

  /// The image and its origin; see ``image``.
  public var response: ImageResponse {
    get async throws(LoadError) {
      let result = await withTaskCancellationHandler {
        await shared.outcome()
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
      // A stream that is no longer read is removed; the image is still loaded.
      let isRunning = shared.add(continuation) { [weak self] in self?.shared.removeStream($0) }
      guard isRunning else { return }
      context.turn { subscription?.watch(&$0) }
      deliver()
    }
  }

  /// A stage in the life of a task.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The task loads, or waits for a paused ``LoadScope``.
    case running
    /// The task has its image or its bytes, or has failed; see its result.
    case finished
    /// The task was cancelled.
    case cancelled
  }

  /// The current stage of the task.
  public var state: State { shared.state }

  /// The image or the error; `nil` while the task is running.
  ///
  /// It does not wait; ``response`` does.
  public var result: Result<ImageResponse, LoadError>? { shared.result }

  /// The number of bytes received so far, and the number expected.
  ///
  /// Both are 0 before the first byte, and for an image that is not fetched. After the load, both are the number of all
  /// bytes; after an error, this is the last progress that was reported or read. Reading it queries the transfer, so
  /// that it needs no counting, previews or events. Does not wait. Complexity: O(n) in the number of processors.
  public var progress: LoadProgress {
    switch shared.result {
    case .success(let response)?:
      let count = response.origin == .network ? response.byteCount : 0
      return LoadProgress(completed: count, total: count)
    case .failure?: break
    case nil:
      context.turn { turn in
        if let progress = subscription?.progress(&turn) { shared.note(progress) }
      }
    }
    return shared.progress ?? LoadProgress()
  }

  /// The priority of the load; may be changed while it runs.
  public var priority: Priority {
    get { shared.priority }
    set {
      shared.priority = newValue
      priorityChanged()
    }
  }

  /// Cancels the task: it ends at once with an error of code `.cancelled`; does nothing after its end.
  ///
  /// May be called from any thread, any number of times.
  public func cancel() {
    let error = LoadError(.cancelled, .request, request.name, "cancelled")
    if shared.end(.failure(error)) {
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
  /// They are recorded if ``ImagePipeline/Configuration/collectsMetrics``, an observer or a log is set, and kept as
  /// long as the task. Complexity: O(n) in the number of stages.
  public var metrics: RequestMetrics? { trace?.metrics }

  // MARK: For the pipeline

  /// Limits the priority of the work, whatever ``priority`` is; without a call there is no limit.
  ///
  /// `limit` is called with the task's lock held.
  func limitPriority(_ limit: () -> Priority) {
    shared.limitPriority(limit)
    priorityChanged()
  }

  private func priorityChanged() {
    // The priority is read within the turn: if two threads change it, the job receives the later value last.
    context.turn { subscription?.setPriority(shared.effectivePriority, &$0) }
  }

  /// Adds a closure to be called at the end; at once if the task has ended.
  func whenEnded(_ tell: @escaping @Sendable () -> Void) { shared.whenEnded(tell) }

  var isEnded: Bool { shared.isEnded }

  /// Subscribes to a job.
  ///
  /// If the job serves a stale image, `request` is revalidated, unless it is `nil`. `onCancel` is called when the task
  /// is cancelled, before the task leaves the job.
  func subscribe(
    to job: Job<ImageResponse>,
    for request: ImageRequest?,
    isWatching: Bool,
    _ turn: inout Turn,
    onCancel: (@Sendable (inout Turn) -> Void)?,
  ) {
    let subscription = job.subscribe(
      priority: shared.effectivePriority,
      isWatching: isWatching || shared.hasStreams,
      isCaller: isCaller,
      for: trace,
      &turn,
    ) { [self] event, turn in
      if let request, case .finished(.success(let image)) = event { context.served(image, request, &turn) }
      receive(event, &turn)
    }
    // The task may have ended at once, or been cancelled on another thread.
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
    case .progress(let completed, let total): shared.add(LoadProgress(completed: completed, total: total))
    case .partial(let preview): shared.add(.preview(preview.container))
    case .finished(let result):
      shared.end(result)
      leave(&turn)
    }
    turn.deliver(self)
  }

  /// Ends a task that never waited for a job.
  func end(_ result: Result<ImageResponse, LoadError>) {
    shared.end(result)
    deliver()
  }
}

extension ImageTask: Hashable {
  /// Compares identities: two tasks are equal if they are the same one.
  public static func == (left: ImageTask, right: ImageTask) -> Bool { left === right }

  /// Hashes the ``id``.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension ImageTask: Deliverable {
  var callsOut: Bool { shared.callsOut }

  func deliver() {
    // A trace that has ended ignores this call.
    shared.deliver { trace?.end($0) }
  }
}
