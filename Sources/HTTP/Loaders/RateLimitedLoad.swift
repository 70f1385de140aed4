import VitrineRuntime

/// A load, queued or sent, and the handle for its caller.
final class RateLimitedLoad: LoadHandle {
  private struct State: WrappingState {
    /// The sink; `nil` once the load was sent or cancelled.
    var sink: (any LoadSink)?
    var wrapped: WrappedHandle
    var calls: SerialCalls? { wrapped.calls }
  }

  let request: HTTPRequest
  private let owner: RateLimitedLoader
  private let state: Lock<State>

  init(_ request: HTTPRequest, _ sink: any LoadSink, of owner: RateLimitedLoader) {
    (self.request, self.owner) = (request, owner)
    state = Lock(State(sink: sink, wrapped: WrappedHandle(request.priority)))
  }

  // MARK: For the loader

  /// Sends the load, unless it was cancelled after its admission.
  func start() {
    let (sink, priority) = state.withLock { ($0.sink.take(), $0.wrapped.priority) }
    guard let sink else { return owner.giveBack(self) }
    var request = request
    request.priority = priority
    let handle = owner.loader.load(request, into: sink)
    state.change { $0.wrapped.attach(handle, startedWith: priority) }
  }

  /// Reports the wait to the load's hooks.
  func noteWait() { state.withLock { $0.sink }?.hooks.onRateLimited?() }

  // MARK: For the starter

  var priority: Priority {
    get { state.withLock { $0.wrapped.priority } }
    set {
      let isWaiting = state.change { state in
        state.wrapped.reprioritize(newValue)
        return state.sink != nil
      }
      if isWaiting { owner.reprioritize(self) }
    }
  }

  func cancel() {
    let sink = state.change { state in
      state.wrapped.cancel()
      return state.sink.take()
    }
    guard let sink else { return }
    owner.remove(self)
    // The end does not come from within the call: the caller of `cancel()` may hold a lock that the sink needs.
    Task { [request] in sink.finish(HTTPError(.cancelled, url: request.url.string, "was cancelled")) }
  }

  func resume() { state.change { $0.wrapped.resume() } }
}
