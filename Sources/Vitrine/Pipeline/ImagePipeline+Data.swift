import VitrineHTTP
public import VitrineRuntime

extension ImagePipeline {
  /// Loads the encoded bytes, whatever they are, the same way as those of an image.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting task is cancelled.
  public func data(for request: ImageRequest) async throws(LoadError) -> Data {
    let outcome = Deferred<Result<Data, LoadError>>()
    let load = ByteLoad(context, priority: request.priority)
    let result = await withTaskCancellationHandler {
      // Whatever they are, they are what was asked for.
      begin(load, request, isWanted: { _, _ in true }, onEnd: { outcome.resolve($0.map(\.data)) })
      if Task.isCancelled { load.cancel() }
      return await outcome.value()
    } onCancel: {
      outcome.resolve(.failure(LoadError(.cancelled, .fetch, request.name, "cancelled")))
      load.cancel()
    }
    return try result.get()
  }

  /// Loads the bytes of an address; see ``data(for:)-(ImageRequest)``.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting task is cancelled.
  public func data(for url: URL) async throws(LoadError) -> Data { try await data(for: ImageRequest(url: url)) }

  /// Waits in a leaving caller's place for a download that is under way.
  func keepFetching(_ request: ImageRequest) {
    // Nothing would come of it.
    guard context.caches(of: request).contains(.diskWrites) else { return }
    let isUnderWay = context.engine.turn { turn in isFetching(request, &turn) }
    guard isUnderWay else { return }
    begin(ByteLoad(context, priority: .veryLow), request, isWanted: isImage) { _ in }
  }

  /// Whether bytes begin as an image does; their pixels are not looked at.
  func isImage(_ bytes: FetchedBytes, _ request: ImageRequest) -> Bool {
    (try? context.decoders(for: request, of: bytes.data).info(of: bytes.data)) != nil
  }

  /// Begins to fetch the bytes of a request; those for which `isWanted` says so are stored.
  ///
  /// `onEnd` is called once, unless the load is cancelled before, and may be called with the engine's lock held.
  func begin(
    _ load: ByteLoad,
    _ request: ImageRequest,
    isWanted: @escaping @Sendable (FetchedBytes, ImageRequest) -> Bool,
    onEnd: @escaping @Sendable (Result<FetchedBytes, LoadError>) -> Void,
  ) {
    let request = request.prepared(by: context.delegate)
    context.engine.turn { turn in
      let trace = context.recorder?.request(request, for: .data)
      load.attach(trace)
      let priority = load.priority
      let made = fetchJob(request, &turn).subscribe(priority: priority, for: trace, &turn) { [self] event, turn in
        trace?.end(event)
        guard case .finished(let result) = event else { return }
        withExtendedLifetime(self) {}
        if case .success(let bytes) = result {
          if isWanted(bytes, request) {
            bytes.verdict?(true)
            if bytes.isRevalidationDue { revalidate(request, asImage: false, &turn) }
          } else {
            bytes.verdict?(false)
          }
        }
        onEnd(result)
      }
      load.attach(made, at: priority, &turn)
    }
  }
}

/// A hold on bytes that are being fetched.
final class ByteLoad: Sendable {
  private struct State {
    var subscription: Subscription<FetchedBytes, LoadError>?
    var priority: Priority
    var isCancelled = false
    var trace: StageTrace?
  }

  private let context: JobContext
  private let state: Lock<State>

  init(_ context: JobContext, priority: Priority) {
    self.context = context
    state = Lock(State(priority: priority))
  }

  var priority: Priority {
    get { state.withLock { $0.priority } }
    set {
      let subscription = state.withLock { state in
        state.priority = newValue
        return state.subscription
      }
      // Looked up within the turn: of two changes on two threads the job is told the later one last.
      if let subscription { context.engine.turn { subscription.setPriority(priority, &$0) } }
    }
  }

  func cancel() {
    let (subscription, trace) = state.withLock { state in
      state.isCancelled = true
      defer { (state.subscription, state.trace) = (nil, nil) }
      return (state.subscription, state.trace)
    }
    trace?.end(LoadError(.cancelled, .fetch, trace?.source ?? "", "cancelled"))
    if let subscription { context.engine.turn { subscription.unsubscribe(&$0) } }
  }

  fileprivate func attach(_ trace: StageTrace?) { state.withLock { $0.trace = trace } }

  fileprivate func attach(
    _ subscription: Subscription<FetchedBytes, LoadError>,
    at priority: Priority,
    _ turn: inout Turn,
  ) {
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
}
