import VitrineHTTP
import VitrineRuntime

/// The load of an object or of a bucket's query, and the handle for its caller.
///
/// The request is rewritten and signed just before it is sent. If the server rejects the region, the host, the time or
/// the credentials, the request is corrected and sent again, once for each reason. A range of an unchanged object is
/// requested with `If-Match`, since S3 does not support `If-Range` and would send a range of another object.
///
/// Foreign code is neither called nor released under the lock.
final class S3Load: LoadHandle {
  /// The maximum number of bytes of a refusal that are read.
  ///
  /// A refusal of S3 has some 500 bytes.
  private static let readLimit = 1 << 16

  private struct State {
    var sink: (any LoadSink)?
    var handle: (any LoadHandle)?
    var number = 0
    var priority: Priority
    var isCancelled = false
    var hasBegun = false
    /// Set if the attempt must be resumed once its handle is known, since the loader responded synchronously.
    var owesResume = false
    var resumes = 0
    var done: Set<Correction> = []
    var authority: HTTPURL?
    var region = ""
    var url: HTTPURL?
    var isConditional = false
    var signed: S3Transport.Signed?
    /// The refusal that is being read, or delivered.
    var held: Held?
  }

  private struct Held {
    let response: HTTPResponse
    var body = Data()
    var isHeadDelivered = false
    var isBodyDelivered = false
    /// A Boolean value that indicates whether the sink has paused the delivery.
    var isWaiting = false
  }

  private let request: HTTPRequest
  private let target: S3Target
  private let transport: S3Transport
  private let hooks: LoadHooks
  private let canStartOver: Bool
  private let state: Lock<State>

  init(_ request: HTTPRequest, _ target: S3Target, _ sink: any LoadSink, _ transport: S3Transport) {
    (self.request, self.target, self.transport) = (request, target, transport)
    (hooks, canStartOver) = (sink.hooks, sink.canStartOver)
    state = Lock(State(sink: sink, priority: request.priority))
  }

  private var cancellation: HTTPError { HTTPError(.cancelled, url: target.text, "was cancelled") }

  // MARK: For the caller

  var priority: Priority {
    get { state.withLock { $0.priority } }
    set {
      let handle = state.withLock { state in
        state.priority = newValue
        return state.handle
      }
      handle?.priority = newValue
    }
  }

  func cancel() {
    let (handle, isWaiting) = state.withLock { state in
      state.isCancelled = true
      let isWaiting = state.held?.isWaiting ?? false
      state.held?.isWaiting = false
      return (state.handle, isWaiting)
    }
    handle?.cancel()
    // No loader's thread serves the load now, and a caller must not call the sink itself.
    if isWaiting { Task { self.end(self.cancellation) } }
  }

  func resume() {
    let (handle, isWaiting) = state.withLock { state in
      state.resumes += 1
      if state.held?.isWaiting == true {
        state.held?.isWaiting = false
        return ((any LoadHandle)?.none, true)
      }
      if state.handle == nil { state.owesResume = true }
      return (state.handle, false)
    }
    handle?.resume()
    if isWaiting { Task { self.deliverHeld() } }
  }

  // MARK: Attempts

  func start() { send() }

  private func send() {
    let (next, number, old) = state.withLock { state -> (HTTPRequest?, Int, (any LoadHandle)?) in
      let old = state.handle.take()
      guard !state.isCancelled else { return (nil, state.number, old) }
      state.number += 1
      (state.signed, state.owesResume) = (nil, false)
      return (nextRequest(&state), state.number, old)
    }
    withExtendedLifetime(old) {}
    guard let next else { return end(cancellation) }
    let region = state.withLock { $0.region }
    let handle = transport.loader.load(next, into: AttemptSink(self, hooks(number, region), canStartOver))
    attach(handle, number)
  }

  private func nextRequest(_ state: inout State) -> HTTPRequest {
    var next = request
    state.region = transport.region(of: target.bucket)
    next.url = target.url(region: state.region, at: state.authority, transport.configuration)
    state.url = next.url
    next.redirectPolicy = .deliver
    next.priority = state.priority
    state.isConditional = false
    guard let validator = next.headers["If-Range"], next.headers["Range"] != nil else { return next }
    next.headers["If-Range"] = nil
    guard !state.done.contains(.whole) else {
      next.headers["Range"] = nil
      return next
    }
    next.headers[validator.hasPrefix("\"") ? "If-Match" : "If-Unmodified-Since"] = validator
    state.isConditional = true
    return next
  }

  private func hooks(_ number: Int, _ region: String) -> LoadHooks {
    var hooks = hooks
    hooks.willSend = { [self, own = hooks.willSend] request in
      let url = request.url
      try await own?(&request)
      (request.url, request.redirectPolicy) = (url, .deliver)
      let signed = try await transport.sign(&request, region: region)
      state.withLock { if $0.number == number { $0.signed = signed } }
    }
    return hooks
  }

  private func attach(_ handle: any LoadHandle, _ number: Int) {
    let (isCancelled, owesResume, priority) = state.withLock { state in
      // A loader that responds synchronously may be past this attempt.
      guard state.number == number, state.sink != nil else { return (false, false, Priority?.none) }
      state.handle = handle
      return (state.isCancelled, state.owesResume, state.priority)
    }
    if let priority, handle.priority != priority { handle.priority = priority }
    if isCancelled { handle.cancel() }
    if owesResume { handle.resume() }
  }

  // MARK: The attempt's sink

  private final class AttemptSink: LoadSink {
    private let load: S3Load
    let hooks: LoadHooks
    let canStartOver: Bool

    init(_ load: S3Load, _ hooks: LoadHooks, _ canStartOver: Bool) {
      (self.load, self.hooks, self.canStartOver) = (load, hooks, canStartOver)
    }

    func begin() { load.begin() }

    func receive(_ response: HTTPResponse) -> LoadFlow { load.receive(response) }

    func receive(_ bytes: RawSpan) -> LoadFlow { load.receive(bytes) }

    func finish(_ error: HTTPError?) { load.finish(error) }
  }

  private func begin() {
    let sink = state.withLock { state -> (any LoadSink)? in
      guard !state.hasBegun else { return nil }
      state.hasBegun = true
      return state.sink
    }
    sink?.begin()
  }

  private func receive(_ response: HTTPResponse) -> LoadFlow {
    var response = response
    response.url = request.url
    let sink = state.withLock { state -> (any LoadSink)? in
      guard S3Transport.mayCorrect(response) else { return state.sink }
      state.held = Held(response: response)
      return nil
    }
    return sink?.receive(response) ?? .proceed
  }

  private func receive(_ bytes: RawSpan) -> LoadFlow {
    let sink = state.withLock { state -> (any LoadSink)? in
      guard var held = state.held.take() else { return state.sink }
      let count = min(bytes.byteCount, Self.readLimit - held.body.count)
      // The pointer is used only within the closure.
      unsafe bytes.extracting(first: count).withUnsafeBytes { unsafe held.body.append(contentsOf: $0) }
      state.held = held
      return nil
    }
    return sink?.receive(bytes) ?? .proceed
  }

  private func finish(_ error: HTTPError?) {
    let unsigned = S3Transport.Signed(credentials: nil, date: transport.now)
    let (attempt, held) = state.withLock { state -> (S3Transport.Attempt?, Held?) in
      guard let held = state.held, error == nil, let url = state.url else { return (nil, nil) }
      let attempt = S3Transport.Attempt(
        target: target,
        method: request.method,
        region: state.region,
        url: url,
        signed: state.signed ?? unsigned,
        done: state.done,
        isConditional: state.isConditional,
      )
      return (attempt, held)
    }
    guard let attempt, let held else { return end(error) }
    guard let (correction, authority) = transport.correction(after: attempt, held.response, held.body) else {
      return deliverHeld()
    }
    state.withLock { state in
      state.held = nil
      state.done.insert(correction)
      if let authority { state.authority = authority }
      // A redirect's host belongs to the old region.
      if correction == .region { state.authority = nil }
    }
    send()
  }

  /// Delivers a refusal that could not be corrected.
  ///
  /// It is called again after a pause.
  private func deliverHeld() {
    while true {
      let (sink, piece, resumes) = state.withLock { state -> ((any LoadSink)?, Held?, Int) in
        guard let held = state.held, let sink = state.sink, !state.isCancelled else { return (nil, nil, 0) }
        if held.isHeadDelivered { state.held?.isBodyDelivered = true }
        state.held?.isHeadDelivered = true
        return (sink, held, state.resumes)
      }
      guard let sink, let piece else { return end(cancellation) }
      guard !piece.isBodyDelivered else { return end(nil) }
      let flow: LoadFlow
      if !piece.isHeadDelivered {
        flow = sink.receive(piece.response)
      } else {
        flow = piece.body.isEmpty ? .proceed : sink.receive(piece.body)
      }
      if flow == .stop { return end(cancellation) }
      let isWaiting = state.withLock { state in
        guard flow == .pause, state.resumes == resumes, !state.isCancelled else { return false }
        state.held?.isWaiting = true
        return true
      }
      if isWaiting { return }
    }
  }

  /// Ends the load, once.
  private func end(_ error: HTTPError?) {
    let (sink, handle) = state.withLock { ($0.sink.take(), $0.handle.take()) }
    withExtendedLifetime(handle) {}
    let shown = error.map { error in
      HTTPError(
        error.code,
        url: target.text,
        status: error.status,
        timeout: error.timeout,
        cause: error.cause,
        error.detail,
      )
    }
    sink?.finish(shown)
  }
}
