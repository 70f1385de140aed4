import VitrineRuntime

/// A load with all its attempts, and the handle for its caller.
///
/// Foreign code is neither called nor released under the lock. Values that leave the state are moved out of it.
final class RetryingLoad: LoadHandle {
  /// The state of the load.
  enum Stage {
    /// The stage in which an attempt is running, or the load has ended.
    case loading
    /// The policy is deciding about a response, whose attempt is paused meanwhile.
    case asking
    /// The response that the policy accepted is being delivered.
    case delivering
    /// No attempt is running: the policy is deciding about the last one, or its delay has not passed.
    case waiting
    /// No attempt is running: the next one waits for the sink.
    case heldBack
  }

  /// The handling of received data.
  enum Mode {
    /// Delivers it to the sink, after skipping the bytes that the sink already has.
    case deliver(skipping: Int)
    /// Drops it, since another attempt follows after a delay.
    case drop(wait: Duration, count: Int)
    /// Refuses it, so that the load fails with the earlier error.
    case refuse
  }

  struct State: WrappingState {
    var attempt = 0
    var stage = Stage.loading
    /// The handle of the attempt.
    var wrapped: WrappedHandle
    /// Set while the sink is paused, or called and not resumed since.
    var isPaused = false
    /// The timer of the next attempt.
    var alarm: ScheduledAction?
    var hasBegun = false
    var mode = Mode.deliver(skipping: 0)
    var identity: ResponseIdentity?
    var delivered = 0
    var failure: HTTPError?
    /// The end of the attempt, if it ended while the policy was deciding about its response: an error, or `nil` within
    /// for a success.
    var end: HTTPError??
    var sink: (any LoadSink)?

    /// Returns the relation of a response to the interrupted one, if there is one.
    func answer(_ response: HTTPResponse) -> ResponseIdentity.Answer? {
      identity?.answer(response, delivered: delivered)
    }
  }

  let request: HTTPRequest
  let hooks: LoadHooks
  /// ``LoadSink/canStartOver`` of the sink.
  let startsOverIfNeeded: Bool
  let state: Lock<State>
  private let owner: RetryingLoader
  private let started: Duration

  init(_ request: HTTPRequest, sink: any LoadSink, of owner: RetryingLoader) {
    (self.request, self.owner) = (request, owner)
    (hooks, startsOverIfNeeded) = (sink.hooks, sink.canStartOver)
    started = owner.clock.uptime
    state = Lock(State(wrapped: WrappedHandle(request.priority), sink: sink))
  }

  var policy: RetryPolicy { owner.policy }

  /// The error of a cancelled load.
  var cancellation: HTTPError { HTTPError(.cancelled, url: request.url.string, "was cancelled") }

  /// The time of day.
  var wallClock: Date { owner.clock.now }

  // MARK: For the caller

  var priority: Priority {
    get { state.withLock { $0.wrapped.priority } }
    set { state.change { $0.wrapped.reprioritize(newValue) } }
  }

  func cancel() {
    let (alarm, isIdle) = state.change { state -> (ScheduledAction?, Bool) in
      state.wrapped.cancel()
      guard [.waiting, .heldBack].contains(state.stage) || state.stage == .asking && state.end != nil else {
        return (nil, false)
      }
      state.stage = .loading
      return (state.alarm.take(), true)
    }
    alarm?.cancel()
    // A caller that cancels must not call the sink itself, and there is no loader's thread for it.
    if isIdle { Task { self.end(self.cancellation) } }
  }

  func resume() {
    let heldBack = state.change { state -> Int? in
      state.isPaused = false
      switch state.stage {
      case .loading: state.wrapped.resume()
      case .asking, .delivering, .waiting: break
      case .heldBack:
        state.stage = .waiting
        return state.attempt
      }
      return nil
    }
    if let heldBack { startAttempt(after: heldBack) }
  }

  // MARK: Attempts

  /// Starts the next attempt, unless the load no longer waits for it.
  func startAttempt(after previous: Int = 0) {
    let (next, _, _) = state.withLock { state -> (HTTPRequest?, ScheduledAction?, (any LoadHandle)?) in
      guard state.attempt == previous, previous == 0 || state.stage == .waiting else { return (nil, nil, nil) }
      let past = (state.alarm.take(), state.wrapped.reset())
      guard !state.isPaused else {
        state.stage = .heldBack
        return (nil, past.0, past.1)
      }
      state.attempt += 1
      state.stage = .loading
      state.mode = .deliver(skipping: 0)
      return (nextRequest(state), past.0, past.1)
    }
    guard let next else { return }
    attach(owner.loader.load(next, into: self), of: previous + 1, next)
  }

  /// Returns the request, or a request for the bytes that the sink does not have yet.
  private func nextRequest(_ state: borrowing State) -> HTTPRequest {
    var next = request
    next.priority = state.wrapped.priority
    if state.delivered > 0, let identity = state.identity {
      let first = identity.offset + state.delivered
      next.headers["Range"] = "bytes=\(first)-\(ContentRange(identity.head).map { "\($0.end)" } ?? "")"
      next.headers["If-Range"] = identity.validator
    }
    return next
  }

  private func attach(_ handle: any LoadHandle, of number: Int, _ request: HTTPRequest) {
    state.change { state in
      // A loader that answers synchronously may be past this attempt.
      guard state.attempt == number, state.sink != nil, state.stage != .waiting, state.stage != .heldBack else {
        return
      }
      state.wrapped.attach(handle, startedWith: request.priority)
    }
  }

  /// Ends the running attempt, and waits for the next one.
  ///
  /// - Returns: The number of the attempt, or `nil` if the load was cancelled.
  func beginWaiting() -> Int? {
    let (number, _) = state.withLock { state -> (Int?, (any LoadHandle)?) in
      let handle = state.wrapped.detach()
      guard !state.wrapped.isCancelled else { return (nil, handle) }
      state.stage = .waiting
      return (state.attempt, handle)
    }
    return number
  }

  /// Starts the next attempt after a delay, unless the load no longer waits for it.
  func schedule(_ delay: Duration, after number: Int) {
    let alarm = owner.clock.schedule(after: delay) { self.startAttempt(after: number) }
    let isLate = state.withLock { state in
      guard state.attempt == number, state.stage == .waiting else { return true }
      state.alarm = alarm
      return false
    }
    if isLate { alarm.cancel() }
  }

  /// Ends the load, once.
  func end(_ error: HTTPError?) {
    let (sink, _) = state.withLock { ($0.sink.take(), $0.wrapped.detach()) }
    sink?.finish(error)
  }

  // MARK: The policy

  /// Applies the policy, and calls `answer`: at once if the policy is short, or else on a thread that may block.
  func ask(
    _ error: HTTPError,
    _ response: HTTPResponse? = nil,
    _ answer: @escaping @Sendable (Duration?) -> Void,
  ) {
    let attempt = attempt(error, response)
    guard !policy.isShort else { return answer(policy.delay(attempt)) }
    owner.questions.add { [policy] in answer(policy.delay(attempt)) }
  }

  func attempt(_ error: HTTPError, _ response: HTTPResponse?) -> RetryAttempt {
    RetryAttempt(
      number: state.withLock { $0.attempt },
      elapsed: owner.clock.uptime - started,
      error: error,
      retryAfter: response?.retryAfter(now: wallClock),
    )
  }
}
