public import VitrineImaging
public import VitrineRuntime

/// A caller's load: of an image (``ImageTask``), of encoded bytes (``DataTask``), or of an encoded image.
///
/// ```swift
/// let task = pipeline.imageTask(for: request)
/// for await case .progress(let progress) in task.events { print(progress.fraction) }
/// let image = try await task.image
/// ```
/// Callers of the same image or bytes share the work, and each has a task of its own: cancelling one does not affect
/// the others. A task runs until it ends or is cancelled, even if it is not retained.
public final class LoadTask<Value: Sendable>: Identifiable, Sendable {
  /// The request.
  public let request: ImageRequest

  /// The number of the task, unique in the process.
  public let id: Int

  /// The trace; `nil` if traces are not recorded.
  package let trace: StageTrace?

  /// A Boolean value that indicates whether the task ends with its request, by
  /// ``ImagePipeline/cancel(for:)-(ImageRequest)``.
  private let isCaller: Bool
  /// The queue for the program's closures that are due on a loader's thread; `nil` runs them there.
  private let callbacks: WorkQueue?
  private let shared: TaskState<Value>

  /// Creates a task; `observer` receives the end and, if the task is watching, the events before it, in order.
  init(
    _ request: ImageRequest,
    _ trace: StageTrace?,
    callbacks: WorkQueue?,
    priority: Priority,
    isCaller: Bool = true,
    observer: (@Sendable (LoadEvent<Value>) -> Void)? = nil,
  ) {
    (self.request, self.trace, self.callbacks) = (request, trace, callbacks)
    (self.isCaller, id) = (isCaller, TaskNumber.next())
    shared = TaskState(priority: priority, observer: observer)
  }

  // MARK: For callers

  /// The value, once it has loaded.
  ///
  /// May be awaited any number of times. Cancelling an awaiting `Task` cancels this task.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the task is cancelled.
  public var response: Value {
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
  /// A stream begins with the progress so far, if any, and ends with ``LoadEvent/finished(_:)``, at once if the task
  /// has ended. It buffers up to 64 events; a slow reader misses the oldest, never the last.
  public var events: AsyncStream<LoadEvent<Value>> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      // A stream that is no longer read is removed; the value is still loaded.
      let isRunning = shared.add(continuation) { [weak self] in self?.shared.removeStream($0) }
      guard isRunning else { return }
      shared.subscription?.watch(interest)
      deliver()
    }
  }

  /// The current stage of the task.
  public var state: LoadState { shared.state }

  /// The value or the error; `nil` while the task is running.
  ///
  /// It does not wait; ``response`` does.
  public var result: Result<Value, LoadError>? { shared.result }

  /// The number of bytes received so far, and the number expected.
  ///
  /// Both are 0 before the first byte, and for a value that is not fetched. After the load, both are the number of all
  /// bytes; after an error, this is the last progress that was reported or read. Reading it queries the transfer, so
  /// that it needs no counting, previews or events. Does not wait. Complexity: O(n) in the number of processors.
  public var progress: LoadProgress {
    switch shared.result {
    case .success(let value)?:
      let count = (value as? any LoadedValue)?.fetchedByteCount ?? 0
      return LoadProgress(completed: count, total: count)
    case .failure?: break
    case nil:
      if let progress = shared.subscription?.progress, progress.completed > 0 { shared.note(LoadProgress(progress)) }
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
    if let left = shared.end(.failure(LoadError(.cancelled, .request, request.name, "cancelled"))) {
      left.onCancel?()
      left.subscription?.cancel()
    }
    deliver()
  }

  /// The metrics of the task so far; `nil` if its pipeline records none.
  ///
  /// They are recorded if ``PipelineConfiguration/collectsMetrics``, an observer or a log is set, and kept as
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
    guard let subscription = shared.subscription else { return }
    var priority = shared.effectivePriority
    // If two threads change it, the work receives the later value last.
    while true {
      subscription.setPriority(priority)
      let latest = shared.effectivePriority
      guard latest != priority else { return }
      priority = latest
    }
  }

  private var interest: WorkDemand.Interest { Value.self == ImageResponse.self ? .partials : .progress }

  /// Adds a closure to be called at the end; at once if the task has ended.
  func whenEnded(_ tell: @escaping @Sendable () -> Void) { shared.whenEnded(tell) }

  var isEnded: Bool { shared.isEnded }

  /// Joins or starts shared work; must be called at most once.
  ///
  /// - Parameters:
  ///   - load: The work.
  ///   - works: The table of the work.
  ///   - isWatching: A Boolean value that indicates whether the observer wants the events before the end.
  ///   - onCancel: A closure called when the task is cancelled, before it leaves the work.
  ///   - end: A closure that receives the result of the work, and ends the task.
  func begin<Output: Sendable>(
    _ load: SharedLoad<Output>,
    in works: SharedWork<LoadKey, Output, LoadError>,
    isWatching: Bool = false,
    onCancel: (@Sendable () -> Void)? = nil,
    end: @escaping @Sendable (LoadTask, Result<Output, LoadError>) -> Void,
  ) {
    guard !isEnded else { return }
    let demand = WorkDemand(shared.effectivePriority, isWatching ? interest : .none, storesResult: true)
    let subscribed = { [self] (subscription: SharedWork<LoadKey, Output, LoadError>.Subscription) in
      // The task may have been cancelled on another thread.
      guard shared.attach(subscription, onCancel: onCancel) else { return subscription.cancel() }
      if shared.hasStreams { subscription.watch(interest) }
      if shared.effectivePriority != demand.priority { priorityChanged() }
    }
    let receive = { @Sendable [self] (event: SharedWork<LoadKey, Output, LoadError>.Event) in
      switch event {
      case .identified(let stage): trace?.wait(for: stage as? StageTrace)
      case .progress(let completed, let total):
        shared.add(LoadProgress(completed: completed, total: total))
        deliver()
      case .partial(let value):
        guard let image = value as? ImageResponse else { return }
        shared.add(.preview(image.container))
        deliver()
      case .finished(let result): end(self, result)
      }
    }
    works.subscribe(
      to: load.key,
      demand,
      isCaller: isCaller,
      subscribed: subscribed,
      receive: receive,
      start: load.start,
    )
  }

  /// Ends the task.
  func end(_ result: Result<Value, LoadError>) {
    let left = shared.end(result)
    deliver()
    withExtendedLifetime(left) {}
  }

  /// Delivers events; the program's closures are not called on a thread for which other loads wait.
  private func deliver() {
    guard shared.callsOut, BorrowedThread.isCurrent else { return deliverHere() }
    BorrowedThread.spare(on: callbacks) { [self] in deliverHere() }
  }

  private func deliverHere() { shared.deliver { trace?.end($0) } }
}

/// A load of an image.
public typealias ImageTask = LoadTask<ImageResponse>

/// A load of encoded bytes; tasks for images made from the same bytes share its transfer.
public typealias DataTask = LoadTask<DataResponse>

extension LoadTask where Value == ImageResponse {
  /// The image, once it has loaded; see ``response``.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the task is cancelled.
  public var image: Bitmap {
    get async throws(LoadError) { try await response.image }
  }
}

extension LoadTask where Value == DataResponse {
  /// The bytes, once they have been loaded; see ``response``.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the task is cancelled.
  public var data: Data {
    get async throws(LoadError) { try await response.data }
  }
}

extension LoadTask: Hashable {
  /// Compares identities: two tasks are equal if they are the same one.
  public static func == (left: LoadTask, right: LoadTask) -> Bool { left === right }

  /// Hashes the ``id``.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A caller's handle to a load.
package protocol RunningLoad: AnyObject, Sendable {
  var priority: Priority { get set }

  func cancel()
}

extension LoadTask: RunningLoad {}

extension StageTrace {
  /// Ends a request with its result.
  func end(_ result: Result<some Sendable, LoadError>) {
    switch result {
    case .success(let value):
      guard let loaded = value as? any LoadedValue else { return end() }
      var facts: [String: StageTrace.Fact] = [
        "from": .text(loaded.origin.rawValue), "stale": .flag(loaded.isStale), "bytes": .number(loaded.byteCount),
      ]
      facts["status"] = loaded.status.map(Fact.number)
      if let response = value as? ImageResponse {
        (facts["width"], facts["height"]) = (.number(response.image.width), .number(response.image.height))
        return end(facts, at: nil) { .requestEnded(.image(response), $0) }
      }
      if let image = value as? EncodedImage {
        (facts["width"], facts["height"]) = (.number(image.width), .number(image.height))
        facts["format"] = .text(image.format.name)
      }
      end(facts, at: nil) { .requestEnded(.data(byteCount: loaded.byteCount), $0) }
    case .failure(let error): end(error)
    }
  }
}
