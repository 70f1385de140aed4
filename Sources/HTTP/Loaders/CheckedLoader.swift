import VitrineRuntime

/// A custom loader whose calls to the sink are checked.
///
/// A call that violates ``LoadSink`` ends the load with ``HTTPError/Code/protocolError``: bytes before the head, a
/// second head, two calls at once. Calls after the end, or after the sink has refused more, are dropped. A body over
/// the request's limit ends the load with ``HTTPError/Code/tooLarge``.
struct CheckedLoader: DataLoader {
  private let loader: any DataLoader

  /// Wraps a loader in checks, unless it is one of Vitrine's.
  static func checking(_ loader: any DataLoader) -> any DataLoader {
    // The types are compared one by one: a cast to a protocol would search all conformances of the program, which takes
    // a quarter of a millisecond.
    switch loader {
    case is SystemLoader, is RetryingLoader, is RateLimitedLoader, is CheckedLoader: loader
    default: CheckedLoader(loader: loader)
    }
  }

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    loader.load(request, into: CheckedSink(request, sink))
  }

  func obeys(_ addressGuard: AddressGuard) -> Bool { loader.obeys(addressGuard) }
}

/// The sink of a custom loader.
final class CheckedSink: LoadSink {
  private struct State {
    /// The wrapped sink; `nil` after the end.
    var sink: (any LoadSink)?
    var hasBegun = false
    var response: HTTPResponse?
    var byteCount = 0
    /// Set during a call to the sink, which must not be interrupted.
    var isCalling = false
    var isStopped = false
    /// The end that came during a call: an error, or `nil` within for a success.
    var end: HTTPError??
  }

  let hooks: LoadHooks
  let canStartOver: Bool
  private let request: HTTPRequest
  private let state: Lock<State>

  init(_ request: HTTPRequest, _ sink: any LoadSink) {
    self.request = request
    (hooks, canStartOver) = (sink.hooks, sink.canStartOver)
    state = Lock(State(sink: sink))
  }

  func begin() {
    // A second beginning has no effect.
    let hasBegun = state.withLock { state in
      defer { state.hasBegun = true }
      return state.hasBegun
    }
    if hasBegun { return }
    _ = pass({ _ in nil }) { sink in
      sink.begin()
      return .proceed
    }
  }

  func receive(_ response: HTTPResponse) -> LoadFlow {
    pass({ state in
      if state.response != nil, !canStartOver { return objection("delivered two responses", state) }
      (state.hasBegun, state.response, state.byteCount) = (true, response, 0)
      return nil
    }) { $0.receive(response) }
  }

  func receive(_ bytes: RawSpan) -> LoadFlow {
    pass({ state in
      guard state.response != nil else { return objection("delivered bytes before the response", state) }
      state.byteCount = state.byteCount.addingSaturating(bytes.byteCount)
      let limit = request.maxResponseBytes
      guard state.byteCount > max(0, limit) else { return nil }
      return error(.tooLarge, "\(state.byteCount) bytes came, more than the limit of \(limit)", state)
    }) { $0.receive(bytes) }
  }

  /// Passes a call to the sink, unless `objection` returns the error of a call out of order.
  private func pass(_ objection: (inout State) -> HTTPError?, _ body: (any LoadSink) -> LoadFlow) -> LoadFlow {
    let (sink, objection) = state.withLock { state -> ((any LoadSink)?, HTTPError?) in
      guard let sink = state.sink, state.end == nil, !state.isStopped else { return (nil, nil) }
      if state.isCalling { return (nil, self.objection("made two calls at once", state)) }
      if let objection = objection(&state) { return (nil, objection) }
      state.isCalling = true
      return (sink, nil)
    }
    if let objection { finish(objection) }
    guard let sink else { return .stop }
    let flow = body(sink)
    let end = state.withLock { state in
      (state.isCalling, state.isStopped) = (false, flow == .stop)
      return state.end
    }
    if let end { finish(end) }
    return flow
  }

  private func objection(_ what: String, _ state: State) -> HTTPError {
    error(.protocolError, "the program's loader \(what)", state)
  }

  private func error(_ code: HTTPError.Code, _ detail: String, _ state: State) -> HTTPError {
    HTTPError(code, url: request.url.string, status: state.response?.status, detail)
  }

  /// Ends the load, now or after the running call.
  ///
  /// Later ends are ignored.
  func finish(_ error: HTTPError?) {
    let (sink, end) = state.withLock { state in
      let end: HTTPError? = if let earlier = state.end { earlier } else { error }
      state.end = .some(end)
      return (state.isCalling ? nil : state.sink.take(), end)
    }
    sink?.finish(end)
  }
}
