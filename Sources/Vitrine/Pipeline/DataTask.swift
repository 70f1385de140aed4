import VitrineCaching
public import VitrineHTTP
public import VitrineRuntime

/// Encoded bytes with their response.
public struct DataResponse: Sendable {
  /// The bytes.
  public let data: Data
  /// The origin of the bytes.
  public let origin: ImageResponse.Origin
  /// A Boolean value that indicates whether the bytes were stale when they were served.
  public let isStale: Bool
  /// The HTTP status of the response; `nil` for other sources.
  public let status: Int?
  /// The header fields of the response.
  ///
  /// Bytes from the network have all fields. Bytes from the disk have `Content-Type` and the fields that caching
  /// depends on.
  public let headers: HTTPFields
  /// The URL that the bytes came from, after redirects; `nil` for other sources.
  ///
  /// For bytes from the disk this is the URL of the request, since the cache keeps no redirects.
  public var url: URL? { location.flatMap { URL(string: $0) } }
  private let location: String?

  /// Creates a response, for fakes.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - origin: The origin of the bytes. Defaults to ``ImageResponse/Origin/local``.
  ///   - isStale: A Boolean value that indicates whether the bytes are stale. Defaults to `false`.
  ///   - status: The HTTP status. Defaults to `nil`.
  ///   - headers: The header fields. Defaults to none.
  ///   - url: The URL after redirects. Defaults to `nil`.
  public init(
    _ data: Data,
    from origin: ImageResponse.Origin = .local,
    isStale: Bool = false,
    status: Int? = nil,
    headers: HTTPFields = [:],
    url: URL? = nil,
  ) {
    (self.data, self.origin, self.isStale, self.status) = (data, origin, isStale, status)
    (self.headers, location) = (headers, url?.absoluteString)
  }

  /// Creates a response from stored bytes, which need no job.
  init(_ entry: CachedData, _ stored: StoredResponse, isStale: Bool, of request: ImageRequest) {
    (data, origin, self.isStale, status) = (entry.data, .disk, isStale, stored.status)
    (headers, location) = (stored.headers, request.keys.url?.string)
  }

  init(_ bytes: FetchedBytes) {
    (data, origin, isStale, status) = (bytes.data, bytes.origin, bytes.isStale, bytes.status)
    (headers, location) = (bytes.headers, bytes.url)
  }
}

/// An event in the life of a ``DataTask``.
public enum DataEvent: Sendable {
  /// More bytes have arrived.
  case progress(LoadProgress)
  /// The task has ended.
  case finished(Result<DataResponse, LoadError>)
}

extension DataEvent: TaskEvent {
  typealias Response = DataResponse
}

/// A load of encoded bytes; the counterpart of ``ImageTask``.
///
/// ```swift
/// let task = pipeline.dataTask(for: request)
/// for await case .progress(let progress) in task.events { print(progress.fraction) }
/// let response = try await task.response
/// ```
/// Each caller has a task of its own. Tasks for the same bytes share one transfer, also with tasks for images made from
/// those bytes. A task runs until it ends or is cancelled, even if it is not retained.
public final class DataTask: Identifiable, @unchecked Sendable {
  // @unchecked: `subscription` is guarded by the jobs' lock, as every access is within a turn.

  /// A stage in the life of a task.
  public typealias State = ImageTask.State

  /// The request of the task.
  public let request: ImageRequest

  /// The number of the task, unique in the process.
  public let id: Int

  private let trace: StageTrace?
  private let context: JobContext
  private let shared: TaskState<DataEvent>
  /// The subscription to the job, while the job runs.
  private var subscription: Subscription<FetchedBytes>?

  init(_ request: ImageRequest, _ context: JobContext, priority: Priority) {
    (self.request, self.context, id) = (request, context, TaskNumber.next())
    trace = context.recorder?.request(request, for: .data)
    shared = TaskState(priority: priority)
  }

  // MARK: For callers

  /// The bytes, once they have been loaded; see ``response``.
  public var data: Data {
    get async throws(LoadError) { try await response.data }
  }

  /// The bytes with their response, once they have been loaded.
  ///
  /// May be awaited more than once. Cancelling the awaiting `Task` cancels this task.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the task is cancelled.
  public var response: DataResponse {
    get async throws(LoadError) {
      let result = await withTaskCancellationHandler {
        await shared.outcome()
      } onCancel: {
        cancel()
      }
      return try result.get()
    }
  }

  /// The events from now on; every call returns a new stream.
  ///
  /// The stream begins with the progress so far, if any. Its last event is ``DataEvent/finished(_:)``. If more than 64
  /// events wait to be read, the oldest are dropped.
  public var events: AsyncStream<DataEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let isRunning = shared.add(continuation) { [weak self] in self?.shared.removeStream($0) }
      guard isRunning else { return }
      context.turn { subscription?.watch(&$0) }
      deliver()
    }
  }

  /// The current stage of the task.
  public var state: State { shared.state }

  /// The response or the error; `nil` while the task runs.
  ///
  /// It does not wait; ``response`` does.
  public var result: Result<DataResponse, LoadError>? { shared.result }

  /// The number of bytes received so far, and the number expected.
  ///
  /// Both are 0 before the first byte, and for bytes that do not come from the network. After an error this is the last
  /// known progress. Does not block.
  public var progress: LoadProgress {
    switch shared.result {
    case .success(let response)?:
      let count = response.origin == .network ? response.data.count : 0
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
      // The priority is read within the turn: if two threads change it, the job receives the later value last.
      context.turn { subscription?.setPriority(shared.priority, &$0) }
    }
  }

  /// Cancels the task at once, with an error of code `.cancelled`; does nothing after the end.
  ///
  /// May be called from any thread, any number of times.
  public func cancel() {
    let error = LoadError(.cancelled, .fetch, request.name, "cancelled")
    if shared.end(.failure(error)) {
      context.turn { turn in
        trace?.end(error, at: turn.uptime)
        subscription?.unsubscribe(&turn)
        leave(&turn)
      }
    }
    deliver()
  }

  /// The stages of the task so far; see ``ImageTask/metrics``.
  public var metrics: RequestMetrics? { trace?.metrics }

  // MARK: For the pipeline

  /// Begins to fetch the bytes of a prepared request; must be called once.
  func begin(_ request: ImageRequest, _ turn: inout Turn) {
    guard !shared.isEnded else { return }
    let job = context.fetchJob(request, &turn)
    let subscription = job.subscribe(priority: shared.priority, isCaller: true, for: trace, &turn) {
      [self] event, turn in
      receive(event, of: request, &turn)
    }
    // The job or the task may have ended at once.
    guard job.isRunning, !shared.isEnded else { return subscription.unsubscribe(&turn) }
    self.subscription = subscription
  }

  private func receive(_ event: JobEvent<FetchedBytes>, of request: ImageRequest, _ turn: inout Turn) {
    switch event {
    case .progress(let completed, let total): shared.add(LoadProgress(completed: completed, total: total))
    case .partial: return
    case .finished(let result):
      trace?.end(result, at: turn.uptime)
      if case .success(let bytes) = result {
        // Any bytes are accepted.
        if let answer = bytes.answer { turn.afterwards { answer.accept() } }
        if bytes.isRevalidationDue { context.revalidate(request, asImage: false, &turn) }
      }
      // The task ends after the acceptance, so that `flush` waits for bytes that a caller has already received.
      turn.afterwards { [shared] in shared.end(result.map(DataResponse.init)) }
      leave(&turn)
    }
    turn.deliver(self)
  }

  /// Ends a task that needs no job.
  func end(_ response: DataResponse) {
    shared.end(.success(response))
    deliver()
  }

  private func leave(_ turn: inout Turn) {
    if let subscription = subscription.take() { turn.keep(subscription) }
  }
}

extension DataTask: Hashable {
  /// Compares identities: two tasks are equal if they are the same one.
  public static func == (left: DataTask, right: DataTask) -> Bool { left === right }

  /// Hashes the ``id``.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension DataTask: Deliverable {
  var callsOut: Bool { shared.callsOut }

  func deliver() { shared.deliver { _ in } }
}
