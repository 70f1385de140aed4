public import VitrineRuntime

/// Tries again what another loader failed to load, as a ``RetryPolicy`` says.
///
/// Its sink sees one response. An attempt of which nothing was delivered is simply repeated. After that, the next attempt asks for what
/// is missing (`Range`, `If-Range`) if the response had a strong entity tag, and goes on where the last one ended; bytes that the
/// server sends once more are left out. Where the file has changed meanwhile, or nothing tells whether it has, the load fails
/// with the first error.
///
/// Responses with a status that the policy wants to try again are not delivered, save the last.
public final class RetryingLoader: DataLoader {
  private let loader: any DataLoader
  private let policy: RetryPolicy
  private let clock: any TimeSource

  /// Wraps a loader.
  ///
  /// - Parameters:
  ///   - loader: Does the work; sees each attempt as a load of its own.
  ///   - policy: Says what is tried again.
  ///   - clock: Measures the waits; the system's by default.
  public init(_ loader: any DataLoader, _ policy: RetryPolicy, clock: any TimeSource = .system) {
    self.loader = loader
    self.policy = policy
    self.clock = clock
  }

  /// Starts the first attempt, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = RetryingLoad(request, sink: sink, loader: loader, policy: policy, clock: clock)
    load.startAttempt()
    return load
  }

  /// Returns what the loader within says.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { loader.obeys(addressGuard) }
}

/// One load with all its attempts; also the handle that its starter keeps.
final class RetryingLoad: LoadHandle {
  /// What the response being delivered is, to tell whether another is the same.
  private struct Identity {
    let head: HTTPResponse
    /// Where its body begins in the file.
    let offset: Int

    init(_ head: HTTPResponse) {
      self.head = head
      offset = ContentRange(head)?.start ?? 0
    }

    /// Names exactly these bytes; nil where nothing does.
    var strongTag: String? {
      head.headers["ETag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
    }

    /// Whether a body that has not begun may come from `other` just as well.
    func hasSameFields(as other: HTTPResponse) -> Bool {
      other.status == head.status
        && ["ETag", "Last-Modified", "Content-Length", "Content-Range", "Content-Type", "Content-Encoding"]
          .allSatisfy { other.headers[$0] == head.headers[$0] }
    }
  }

  /// What is done with what comes.
  private enum Mode {
    /// It goes to the sink, after so many bytes that it has had.
    case deliver(skipping: Int)
    /// It is dropped, as there will be another attempt after the wait.
    case drop(wait: Duration, count: Int)
    /// It is of no use: the load fails with what went wrong before.
    case refuse
  }

  private struct State {
    var attempt = 0
    var handle: (any LoadHandle)?
    var priority: Priority
    var isCancelled = false
    /// Whether the sink wants nothing now, and how often it has said that it wants more.
    var isPaused = false
    var resumes = 0
    /// Whether the next attempt waits for the sink.
    var isHeldBack = false
    /// The next attempt, while it is waited for.
    var alarm: ScheduledAction?
    var started: Duration
    var hasBegun = false
    var mode = Mode.deliver(skipping: 0)
    var identity: Identity?
    var delivered = 0
    var failure: HTTPError?
    var sink: (any LoadSink)?
  }

  private let request: HTTPRequest
  private let loader: any DataLoader
  private let policy: RetryPolicy
  private let clock: any TimeSource
  fileprivate let hooks: LoadHooks
  private let state: Lock<State>

  init(
    _ request: HTTPRequest,
    sink: any LoadSink,
    loader: any DataLoader,
    policy: RetryPolicy,
    clock: any TimeSource,
  ) {
    self.request = request
    self.loader = loader
    self.policy = policy
    self.clock = clock
    hooks = sink.hooks
    state = Lock(State(priority: request.priority, started: clock.uptime, sink: sink))
  }

  // MARK: For the starter

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
      let isWaiting = state.alarm?.cancel() ?? state.isHeldBack
      (state.alarm, state.isHeldBack) = (nil, false)
      return (state.handle, isWaiting)
    }
    handle?.cancel()
    // The sink is not to be called by those who cancel, and there is no loader's thread to do it.
    if isWaiting { Task { self.end(HTTPError(.cancelled, url: self.request.url.string, "was cancelled")) } }
  }

  func resume() {
    let (handle, isHeldBack) = state.withLock { state in
      defer { state.isHeldBack = false }
      state.isPaused = false
      state.resumes += 1
      return (state.handle, state.isHeldBack)
    }
    handle?.resume()
    if isHeldBack { startAttempt() }
  }

  // MARK: Attempts

  func startAttempt() {
    let isHeldBack = state.withLock { state in
      state.alarm = nil
      state.isHeldBack = state.isPaused && !state.isCancelled
      return state.isHeldBack
    }
    guard !isHeldBack else { return }
    let (number, next): (Int, HTTPRequest?) = state.withLock { state in
      state.handle = nil
      state.attempt += 1
      state.mode = .deliver(skipping: 0)
      guard !state.isCancelled else { return (state.attempt, nil) }
      var next = request
      next.priority = state.priority
      if state.delivered > 0, let identity = state.identity {
        let first = identity.offset + state.delivered
        next.headers["Range"] = "bytes=\(first)-\(ContentRange(identity.head).map { "\($0.end)" } ?? "")"
        next.headers["If-Range"] = identity.strongTag
      }
      return (state.attempt, next)
    }
    guard let next else { return end(HTTPError(.cancelled, url: request.url.string, "was cancelled")) }
    let handle = loader.load(next, into: RetryAttemptSink(self))
    let isCancelled = state.withLock { state in
      // A loader that answers at once may have come to the next attempt meanwhile.
      if state.attempt == number { state.handle = handle }
      return state.isCancelled
    }
    if isCancelled { handle.cancel() }
  }

  private func wait(_ delay: Duration) {
    let isCancelled = state.withLock { state in
      state.handle = nil
      guard !state.isCancelled else { return true }
      state.alarm = clock.schedule(after: delay) { self.startAttempt() }
      return false
    }
    if isCancelled { end(HTTPError(.cancelled, url: request.url.string, "was cancelled")) }
  }

  private func end(_ error: HTTPError?) {
    let sink = state.withLock { state in
      defer { (state.sink, state.handle) = (nil, nil) }
      return state.sink
    }
    sink?.finish(error)
  }

  private func delay(after error: HTTPError, _ response: HTTPResponse? = nil) -> Duration? {
    guard !error.isCancellation else { return nil }
    let (number, started) = state.withLock { ($0.attempt, $0.started) }
    let attempt = RetryAttempt(
      number: number,
      elapsed: clock.uptime - started,
      error: error,
      retryAfter: response?.retryAfter(now: clock.now),
    )
    return policy.delay(attempt)
  }

  /// Whether the next attempt could go on from what the sink has.
  private func canGoOn() -> Bool {
    state.withLock { state in
      guard let identity = state.identity, state.delivered > 0 else { return true }
      return request.method == .get && identity.strongTag != nil
    }
  }

  // MARK: What the loader brings

  fileprivate func begin() {
    let sink: (any LoadSink)? = state.withLock { state in
      guard !state.hasBegun else { return nil }
      state.hasBegun = true
      return state.sink
    }
    sink?.begin()
  }

  fileprivate func receive(_ response: HTTPResponse) -> LoadFlow {
    if !response.isSuccess, response.status >= 400 {
      let error = HTTPError(
        .badStatus,
        url: request.url.string,
        status: response.status,
        "the server answered with status \(response.status)",
      )
      if let wait = delay(after: error, response) {
        // Read to its end, the body leaves the connection usable.
        state.withLock { $0.mode = .drop(wait: wait, count: 0) }
        return .proceed
      }
    }
    let sink: (any LoadSink)? = state.withLock { state in
      guard let identity = state.identity else {
        state.identity = Identity(response)
        return state.sink
      }
      if let skipped = Self.overlap(of: response, with: identity, delivered: state.delivered) {
        state.mode = .deliver(skipping: skipped)
      } else {
        state.mode = .refuse
      }
      return nil
    }
    if let sink { return deliver { sink.receive(response) } }
    if case .refuse = state.withLock({ $0.mode }) { return .stop }
    return .proceed
  }

  /// Returns how many bytes of a response's body the sink has had; nil where it does not continue what it has.
  private static func overlap(of response: HTTPResponse, with identity: Identity, delivered: Int) -> Int? {
    guard delivered > 0 else { return identity.hasSameFields(as: response) ? 0 : nil }
    guard let tag = identity.strongTag, response.headers["ETag"].map({ $0 == tag }) ?? true else { return nil }
    let old = ContentRange(identity.head)
    if response.status == 206 {
      guard let new = ContentRange(response), new.start == identity.offset + delivered else { return nil }
      let end = old?.end ?? identity.head.contentLength.map { $0 - 1 }
      return end.map { $0 == new.end } ?? true ? 0 : nil
    }
    // A server without ranges sends the file from its start; that it is the same one must be said.
    guard response.status == 200, identity.head.status == 200, response.headers["ETag"] == tag else { return nil }
    return delivered
  }

  fileprivate func receive(_ bytes: RawSpan) -> LoadFlow {
    let count = bytes.byteCount
    let (sink, skipped, unseen): ((any LoadSink)?, Int, LoadFlow) = state.withLock { state in
      switch state.mode {
      case .deliver(let skipping):
        let skipped = min(skipping, count)
        state.mode = .deliver(skipping: skipping - skipped)
        state.delivered += count - skipped
        return (skipped < count ? state.sink : nil, skipped, .proceed)
      case .drop(let wait, let dropped):
        state.mode = .drop(wait: wait, count: dropped + count)
        return (nil, 0, dropped + count <= 1 << 16 ? .proceed : .stop)
      case .refuse:
        return (nil, 0, .stop)
      }
    }
    guard let sink else { return unseen }
    return deliver { sink.receive(bytes.extracting(droppingFirst: skipped)) }
  }

  /// Calls the sink and remembers whether it wants to pause, for the case that the attempt fails meanwhile.
  private func deliver(_ call: () -> LoadFlow) -> LoadFlow {
    let resumes = state.withLock { $0.resumes }
    let flow = call()
    guard flow == .pause else { return flow }
    state.withLock { state in
      if state.resumes == resumes { state.isPaused = true }
    }
    return flow
  }

  fileprivate func finish(_ error: HTTPError?) {
    let (mode, earlier, isCancelled) = state.withLock { ($0.mode, $0.failure, $0.isCancelled) }
    switch mode {
    case .drop(let delay, _):
      // The server's failure counts, not how reading of it ended.
      return isCancelled ? end(error ?? earlier) : wait(delay)
    case .refuse:
      return end(isCancelled ? error : earlier ?? error)
    case .deliver(let rest):
      guard let error else {
        guard rest > 0 else { return end(nil) }
        return end(earlier ?? HTTPError(.truncated, url: request.url.string, "less came than before"))
      }
      guard !isCancelled, canGoOn(), let delay = delay(after: error) else { return end(error) }
      state.withLock { $0.failure = earlier ?? error }
      wait(delay)
    }
  }
}

/// Takes what one attempt brings.
private final class RetryAttemptSink: LoadSink {
  private let load: RetryingLoad

  init(_ load: RetryingLoad) { self.load = load }

  var hooks: LoadHooks { load.hooks }

  func begin() { load.begin() }

  func receive(_ response: HTTPResponse) -> LoadFlow { load.receive(response) }

  func receive(_ bytes: RawSpan) -> LoadFlow { load.receive(bytes) }

  func finish(_ error: HTTPError?) { load.finish(error) }
}

/// Which part of a file a response of status 206 has.
package struct ContentRange: Hashable, Sendable {
  package let start: Int
  /// The last byte, not the one after it.
  package let end: Int
  /// How many bytes the file has; nil where the server does not know.
  package let total: Int?

  package init?(_ response: HTTPResponse) {
    guard response.status == 206, let value = response.headers["Content-Range"], value.hasPrefix("bytes ") else {
      return nil
    }
    let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, ends.count == 2, let start = Int(ends[0]), let end = Int(ends[1]), 0 <= start, start <= end
    else { return nil }
    (self.start, self.end, total) = (start, end, Int(parts[1]))
  }
}
