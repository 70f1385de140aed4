import VitrineCaching
import VitrineHTTP
public import VitrineRuntime

extension ImagePipeline {
  /// Loads the encoded bytes of a request, which need not be an image, through the same caches as an image.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func data(for request: ImageRequest) async throws(LoadError) -> Data {
    let prepared = context.prepared(request)
    if let warm = context.warmData(prepared) { return warm.data }
    return try await start(DataTask(request, context, priority: prepared.priority), prepared).data
  }

  /// Loads the bytes of a URL; see ``data(for:)-(ImageRequest)``.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func data(for url: some URLConvertible) async throws(LoadError) -> Data {
    try await data(for: ImageRequest(url.imageSource))
  }

  /// Starts to load encoded bytes, which need not be an image.
  ///
  /// ```swift
  /// let response = try await pipeline.dataTask(for: request).response
  /// print(response.data.count, response.origin, response.headers["Content-Type"] ?? "")
  /// ```
  /// The task runs until it ends, even if it is not retained.
  public func dataTask(for request: ImageRequest) -> DataTask {
    let prepared = context.prepared(request)
    let task = DataTask(request, context, priority: prepared.priority)
    guard let warm = context.warmData(prepared) else { return start(task, prepared) }
    task.end(warm)
    return task
  }

  /// Starts to load the bytes of a URL; see ``dataTask(for:)-(ImageRequest)``.
  public func dataTask(for url: some URLConvertible) -> DataTask { dataTask(for: ImageRequest(url.imageSource)) }

  private func start(_ task: DataTask, _ prepared: ImageRequest) -> DataTask {
    context.turn { task.begin(prepared, &$0) }
    return task
  }
}

extension JobContext {
  /// Returns bytes that are on disk, fresh, and readable without a wait; `nil` if a job is needed.
  func warmData(_ request: ImageRequest) -> DataResponse? {
    guard recorder == nil, request.cachePolicy != .reload, !request.keys.hasAlternatives, !Task.isCancelled,
      let disk = disk(for: request, .diskReads) as? any WarmDataCaching,
      case .url = request.keys.source.kind, !settlement.pending.isBusy(for: request.keys.fetch),
      case .entry(let entry) = disk.warmEntry(for: request.keys.fetch, countsMiss: false),
      let stored = StoredResponse(encoded: entry.metadata)
    else { return nil }
    var findings = Findings()
    findings.original = Findings.Original(contentID: entry.contentID, stored: stored)
    let plan = bytesPlan(request, "", findings, now: clock.now)
    guard case .serve(let isStale) = plan.step else { return nil }
    return DataResponse(entry, stored, isStale: isStale, of: request)
  }

  /// Keeps a running download going in place of a leaving caller.
  func keepFetching(_ request: ImageRequest, _ turn: inout Turn) {
    // Without access to the disk, nothing would be stored.
    guard caches(of: request).contains(.diskWrites), isTransferring(request, &turn) else { return }
    DataLoad(self) { _ in }.begin(request, priority: .veryLow, &turn)
  }
}

/// A subscription to the bytes of an image that are fetched for the disk.
// @unchecked: `subscription` and `trace` are guarded by the jobs' lock, as every access is within a turn.
final class DataLoad: Deliverable, RunningLoad, @unchecked Sendable {
  typealias Outcome = Result<FetchedBytes, LoadError>

  private struct State {
    var onEnd: (@Sendable (Outcome) -> Void)?
    var outcome: Outcome?
  }

  var callsOut: Bool { true }
  private let context: JobContext
  private let state: Lock<State>
  private var subscription: Subscription<FetchedBytes>?
  private var trace: StageTrace?

  /// Creates a load; `onEnd` is called once with no lock held, unless the load is cancelled first.
  init(_ context: JobContext, onEnd: @escaping @Sendable (Outcome) -> Void) {
    (self.context, state) = (context, Lock(State(onEnd: onEnd)))
  }

  /// Begins to fetch the bytes of a prepared request; must be called once, before the load is shared.
  func begin(_ request: ImageRequest, priority: Priority, _ turn: inout Turn) {
    trace = context.recorder?.request(request, for: .data, at: turn.uptime)
    let job = context.fetchJob(request, &turn)
    let made = job.subscribe(priority: priority, for: trace, &turn) { [self, context] event, turn in
      guard case .finished(let outcome) = event else { return }
      trace?.end(outcome, at: turn.uptime)
      subscription = nil
      guard case .success(let bytes) = outcome else { return end(outcome, &turn) }
      if bytes.isRevalidationDue { context.revalidate(request, asImage: false, &turn) }
      settle(bytes, of: request, priority: priority, &turn)
    }
    if job.isRunning { subscription = made }
  }

  private func end(_ outcome: Outcome, _ turn: inout Turn) {
    state.withLock { $0.outcome = outcome }
    turn.deliver(self)
  }

  /// Accepts the bytes if they are an image, else rejects them, then ends the load.
  private func settle(_ bytes: FetchedBytes, of request: ImageRequest, priority: Priority, _ turn: inout Turn) {
    guard let answer = bytes.answer else { return end(.success(bytes), &turn) }
    let say: @Sendable () -> Void = { [self] in
      context.decoders.isImage(bytes.data, request) ? answer.accept() : answer.reject()
      state.withLock { $0.outcome = .success(bytes) }
    }
    // The verdict is a pending write, so that `flush` waits for prefetched bytes.
    turn.afterwards { [self] in
      context.settlement.pending.add { [self] in
        let queue = context.processQueue
        // The verdict needs a worker, since a delegate may choose the decoders.
        if (try? await queue.run(priority: priority, { _ in say() })) == nil { say() }
        // The delivery is not awaited, since its receiver may wait for pending writes.
        if (try? queue.enqueue(priority: priority, { [self] _ in deliver() })) == nil { deliver() }
      }
    }
  }

  var priority: Priority {
    get { context.turn { _ in subscription?.priority ?? .veryLow } }
    set { context.turn { subscription?.setPriority(newValue, &$0) } }
  }

  func cancel() {
    let left = state.withLock { state in
      defer { state = State() }
      return state
    }
    context.turn { turn in
      trace?.end(LoadError(.cancelled, .fetch, trace?.source ?? "", "cancelled"), at: turn.uptime)
      subscription.take()?.unsubscribe(&turn)
    }
    withExtendedLifetime(left) {}
  }

  // MARK: Delivery

  func deliver() {
    let ended = state.withLock { state in
      guard state.outcome != nil else { return State() }
      defer { state = State() }
      return state
    }
    if let outcome = ended.outcome { ended.onEnd?(outcome) }
  }
}
