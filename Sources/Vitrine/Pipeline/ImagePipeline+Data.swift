import VitrineCaching
import VitrineHTTP
public import VitrineRuntime

extension ImagePipeline {
  /// Loads the encoded bytes, whatever they are, the same way as those of an image.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting task is cancelled.
  public func data(for request: ImageRequest) async throws(LoadError) -> Data {
    let request = request.prepared(by: context.delegate)
    if let data = context.warmData(request) { return data }
    let outcome = Deferred<Result<Data, LoadError>>()
    let load = DataLoad(context, priority: request.priority, callsOut: false) { outcome.resolve($0.map(\.data)) }
    let result = await withTaskCancellationHandler {
      // Whatever they are, they are what was asked for.
      load.begin(request, isWanted: nil)
      if Task.isCancelled { load.cancel() }
      return await outcome.value()
    } onCancel: {
      outcome.resolve(.failure(LoadError(.cancelled, .fetch, request.name, "cancelled")))
      load.cancel()
    }
    return try result.get()
  }

  /// Loads the bytes of a URL; see ``data(for:)-(ImageRequest)``.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting task is cancelled.
  public func data(for url: URL) async throws(LoadError) -> Data { try await data(for: ImageRequest(url: url)) }
}

extension JobContext {
  /// The bytes of a request that are on disk, fresh, and read without a wait; `nil` leaves the request to a job.
  func warmData(_ request: ImageRequest) -> Data? {
    guard recorder == nil, request.policy != .reload, !request.keys.hasAlternatives, !Task.isCancelled,
      let disk = disk(for: request, .diskReads) as? any WarmDataCaching,
      case .url = request.keys.source.kind, !settlement.pending.isBusy(for: request.keys.fetch),
      case .entry(let entry) = disk.warmEntry(for: request.keys.fetch, countsMiss: false),
      let stored = StoredResponse(encoded: entry.metadata)
    else { return nil }
    var findings = Findings()
    findings.original = Findings.Original(contentID: entry.contentID, stored: stored)
    let plan = BytesPlan(request, "", findings, fields: fields(of: request), now: clock.now)
    guard case .serve = plan.step else { return nil }
    return entry.data
  }

  /// Waits in a leaving caller's place for a download that is under way.
  func keepFetching(_ request: ImageRequest) {
    // Nothing would come of it.
    guard caches(of: request).contains(.diskWrites), turn({ isFetching(request, &$0) }) else { return }
    DataLoad(self, priority: .veryLow) { _ in }.begin(request) { [decoders] in decoders.isImage($0.data, request) }
  }
}

/// A hold on bytes that are being fetched, and whom to tell of them.
final class DataLoad: Deliverable {
  typealias Outcome = Result<FetchedBytes, LoadError>

  private struct State {
    var subscription: Subscription<FetchedBytes>?
    var priority: Priority
    var isCancelled = false
    var trace: StageTrace?
    var onEnd: (@Sendable (Outcome) -> Void)?
    var outcome: Outcome?
  }

  let callsOut: Bool
  private let context: JobContext
  private let state: Lock<State>

  /// `onEnd` is called once with no lock held, unless the load is cancelled before; `callsOut` says whether it is a user's.
  init(
    _ context: JobContext,
    priority: Priority,
    callsOut: Bool = true,
    onEnd: @escaping @Sendable (Outcome) -> Void,
  ) {
    (self.context, self.callsOut) = (context, callsOut)
    state = Lock(State(priority: priority, onEnd: onEnd))
  }

  /// Begins to fetch the bytes of a prepared request.
  ///
  /// `isWanted` says which bytes are stored, on a worker, since it may take its time; without it all are.
  func begin(_ request: ImageRequest, isWanted: (@Sendable (FetchedBytes) -> Bool)?) {
    context.turn { [context] turn in
      let trace = context.recorder?.request(request, for: .data, at: turn.uptime)
      state.withLock { $0.trace = trace }
      let priority = priority
      let job = context.fetchJob(request, &turn)
      let made = job.subscribe(priority: priority, for: trace, &turn) { [self] event, turn in
        trace?.end(event, at: turn.uptime)
        guard case .finished(let outcome) = event else { return }
        if case .success(let bytes) = outcome {
          settle(bytes, isWanted, &turn)
          if bytes.isRevalidationDue { context.revalidate(request, asImage: false, &turn) }
        }
        state.withLock { if !$0.isCancelled { $0.outcome = outcome } }
        turn.deliver(self)
      }
      attach(made, at: priority, &turn)
    }
  }

  private func settle(_ bytes: FetchedBytes, _ isWanted: (@Sendable (FetchedBytes) -> Bool)?, _ turn: inout Turn) {
    guard let answer = bytes.answer else { return }
    guard let isWanted else { return turn.afterwards { answer.accept() } }
    let say: @Sendable () -> Void = { isWanted(bytes) ? answer.accept() : answer.reject() }
    do throws(WorkQueueError) {
      try context.processQueue.enqueue(priority: .veryLow) { _ in say() }
    } catch {
      turn.afterwards(say)
    }
  }

  private func attach(_ subscription: Subscription<FetchedBytes>, at priority: Priority, _ turn: inout Turn) {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.subscription = subscription }
      return state.isCancelled
    }
    // Cancelled on another thread meanwhile, or made more or less urgent.
    if isCancelled {
      subscription.unsubscribe(&turn)
    } else if self.priority != priority {
      subscription.setPriority(self.priority, &turn)
    }
  }

  var priority: Priority {
    get { state.withLock { $0.priority } }
    set {
      let subscription = state.withLock { state in
        state.priority = newValue
        return state.subscription
      }
      // Looked up within the turn: of two changes on two threads the job is told the later one last.
      if let subscription { context.turn { subscription.setPriority(priority, &$0) } }
    }
  }

  func cancel() {
    let left = state.withLock { state in
      state.isCancelled = true
      defer { (state.subscription, state.trace, state.onEnd, state.outcome) = (nil, nil, nil, nil) }
      return state
    }
    left.trace?.end(LoadError(.cancelled, .fetch, left.trace?.source ?? "", "cancelled"))
    if let subscription = left.subscription { context.turn { subscription.unsubscribe(&$0) } }
  }

  // MARK: Telling

  func deliver() {
    let (onEnd, outcome) = state.withLock { state -> ((@Sendable (Outcome) -> Void)?, Outcome?) in
      guard state.outcome != nil else { return (nil, nil) }
      return (state.onEnd.take(), state.outcome.take())
    }
    if let outcome { onEnd?(outcome) }
  }
}
