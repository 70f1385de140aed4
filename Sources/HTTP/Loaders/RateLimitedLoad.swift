import VitrineRuntime

/// A load, queued or sent, and the handle for its caller.
///
/// Calls to the wrapped loader's handle are decided under the lock and made after it, in the same order.
final class RateLimitedLoad: LoadHandle {
  private struct State {
    /// The sink; `nil` once the load was sent or cancelled.
    var sink: (any LoadSink)?
    var handle: (any LoadHandle)?
    var priority: Priority
    var isCancelled = false
    /// A Boolean value that indicates whether to resume the load once its handle is known.
    var owesResume = false
  }

  let host: String
  private let request: HTTPRequest
  private let gate: RateLimitGate
  private let state: Lock<State>
  private let calls = SerialCalls()

  init(_ request: HTTPRequest, _ sink: any LoadSink, _ gate: RateLimitGate) {
    (host, self.request, self.gate) = (request.url.host, request, gate)
    state = Lock(State(sink: sink, priority: request.priority))
  }

  // MARK: For the gate

  /// Sends the load, unless it was cancelled after its admission.
  func start() {
    let (sink, priority) = state.withLock { ($0.sink.take(), $0.priority) }
    guard let sink else { return gate.giveBack(self) }
    var request = request
    request.priority = priority
    let handle = gate.loader.load(request, into: sink)
    state.withLock { state in
      state.handle = handle
      let wanted = state.priority
      if wanted != priority { calls.add { handle.priority = wanted } }
      if state.isCancelled { calls.add { handle.cancel() } }
      if state.owesResume { calls.add { handle.resume() } }
    }
    calls.run()
  }

  /// Reports the wait to the load's hooks.
  func noteWait() { state.withLock { $0.sink }?.hooks.isHeldBack?() }

  // MARK: For the starter

  var priority: Priority {
    get { state.withLock { $0.priority } }
    set {
      let isWaiting = state.withLock { state in
        state.priority = newValue
        tell(state) { $0.priority = newValue }
        return state.sink != nil
      }
      calls.run()
      if isWaiting { gate.reprioritize(self) }
    }
  }

  func cancel() {
    let sink = state.withLock { state in
      state.isCancelled = true
      tell(state) { $0.cancel() }
      return state.sink.take()
    }
    calls.run()
    guard let sink else { return }
    gate.remove(self)
    // The end does not come from within the call: the caller of `cancel()` may hold a lock that the sink needs.
    Task { [request] in sink.finish(HTTPError(.cancelled, url: request.url.string, "was cancelled")) }
  }

  func resume() {
    state.withLock { state in
      if state.handle == nil { state.owesResume = true }
      tell(state) { $0.resume() }
    }
    calls.run()
  }

  private func tell(_ state: borrowing State, _ call: @escaping @Sendable (any LoadHandle) -> Void) {
    guard let handle = state.handle else { return }
    calls.add { call(handle) }
  }
}
