import VitrineRuntime

/// One load with all its attempts; also the handle that its starter keeps.
///
/// Nothing of a user's is called or released under its lock. What the handle of an attempt is to be told is decided there and
/// told behind it, in that order; what leaves the state is handed out.
final class RetryingLoad: LoadHandle {
  /// What is under way.
  enum Stage {
    /// An attempt, or nothing any more.
    case loading
    /// The policy is asked about a response, whose attempt is paused until it answers.
    case asking
    /// The response about which it was asked is being delivered.
    case delivering
    /// No attempt: the policy is asked about the last one, or the time of the next has not come.
    case waiting
    /// No attempt: the next one waits for the sink.
    case heldBack
  }

  /// What is done with what comes.
  enum Mode {
    /// It goes to the sink, after so many bytes that it has had.
    case deliver(skipping: Int)
    /// It is dropped, as there will be another attempt after the wait.
    case drop(wait: Duration, count: Int)
    /// It is of no use: the load fails with what went wrong before.
    case refuse
  }

  struct State {
    var attempt = 0
    var stage = Stage.loading
    var handle: (any LoadHandle)?
    var priority: Priority
    var isCancelled = false
    /// Whether the attempt is to end, since nobody wants what comes.
    var isBrokenOff = false
    /// Whether the sink wants nothing now, and how often it has said that it wants more.
    var isPaused = false
    var resumes = 0
    /// Whether the attempt is to go on once its handle is there.
    var owesResume = false
    /// The next attempt, while it is waited for.
    var alarm: ScheduledAction?
    var hasBegun = false
    var mode = Mode.deliver(skipping: 0)
    var identity: ResponseIdentity?
    var delivered = 0
    var failure: HTTPError?
    /// How the attempt ended while the policy was asked about its response.
    var end: AttemptEnd?
    /// What handles are told; there once there is something to tell.
    var calls: SerialCalls?
    var sink: (any LoadSink)?
  }

  /// How an attempt has ended.
  struct AttemptEnd {
    /// Nil when all of it came.
    let error: HTTPError?
  }

  let request: HTTPRequest
  let policy: RetryPolicy
  let hooks: LoadHooks
  let state: Lock<State>
  private let loader: any DataLoader
  private let clock: any TimeSource
  private let questions: WorkQueue
  private let started: Duration

  init(
    _ request: HTTPRequest,
    sink: any LoadSink,
    loader: any DataLoader,
    policy: RetryPolicy,
    clock: any TimeSource,
    questions: WorkQueue,
  ) {
    self.request = request
    self.loader = loader
    self.policy = policy
    self.clock = clock
    self.questions = questions
    hooks = sink.hooks
    started = clock.uptime
    state = Lock(State(priority: request.priority, sink: sink))
  }

  /// That somebody has cancelled it.
  var cancellation: HTTPError { HTTPError(.cancelled, url: request.url.string, "was cancelled") }

  // MARK: For the starter

  var priority: Priority {
    get { state.withLock { $0.priority } }
    set {
      state.withLock { state in
        state.priority = newValue
        tell(&state) { $0.priority = newValue }
      }
      runCalls()
    }
  }

  func cancel() {
    let (alarm, isIdle) = state.withLock { state -> (ScheduledAction?, Bool) in
      state.isCancelled = true
      tell(&state) { $0.cancel() }
      switch state.stage {
      case .waiting, .heldBack: break
      case .asking where state.end != nil: break
      case .loading, .asking, .delivering: return (nil, false)
      }
      state.stage = .loading
      return (state.alarm.take(), true)
    }
    runCalls()
    alarm?.cancel()
    // The sink is not to be called by those who cancel, and there is no loader's thread to do it.
    if isIdle { Task { self.end(self.cancellation) } }
  }

  func resume() {
    let heldBack = state.withLock { state -> Int? in
      state.isPaused = false
      state.resumes += 1
      switch state.stage {
      case .loading: goOn(&state)
      case .asking, .delivering, .waiting: break
      case .heldBack:
        state.stage = .waiting
        return state.attempt
      }
      return nil
    }
    runCalls()
    if let heldBack { startAttempt(after: heldBack) }
  }

  // MARK: The attempt's handle

  /// Has the handle of the attempt told something by the next ``runCalls()``.
  func tell(_ state: inout State, _ call: @escaping @Sendable (any LoadHandle) -> Void) {
    guard let handle = state.handle else { return }
    let calls = state.calls ?? SerialCalls()
    state.calls = calls
    calls.add { call(handle) }
  }

  /// Has the attempt go on after a pause.
  func goOn(_ state: inout State) {
    if state.handle == nil { state.owesResume = true }
    tell(&state) { $0.resume() }
  }

  /// Tells the handle what there is to tell, with no lock held.
  func runCalls() { state.withLock { $0.calls }?.run() }

  // MARK: Attempts

  /// Starts the attempt after one that has ended, unless the load is no longer waiting for that.
  func startAttempt(after previous: Int = 0) {
    let (next, _, _) = state.withLock { state -> (HTTPRequest?, ScheduledAction?, (any LoadHandle)?) in
      guard state.attempt == previous, previous == 0 || state.stage == .waiting else { return (nil, nil, nil) }
      let past = (state.alarm.take(), state.handle.take())
      guard !state.isPaused else {
        state.stage = .heldBack
        return (nil, past.0, past.1)
      }
      state.attempt += 1
      state.stage = .loading
      state.mode = .deliver(skipping: 0)
      state.owesResume = false
      return (nextRequest(state), past.0, past.1)
    }
    guard let next else { return }
    attach(loader.load(next, into: RetryAttemptSink(self)), of: previous + 1, next)
  }

  /// The request, or one for what the sink has not had.
  private func nextRequest(_ state: borrowing State) -> HTTPRequest {
    var next = request
    next.priority = state.priority
    if state.delivered > 0, let identity = state.identity {
      let first = identity.offset + state.delivered
      next.headers["Range"] = "bytes=\(first)-\(ContentRange(identity.head).map { "\($0.end)" } ?? "")"
      next.headers["If-Range"] = identity.strongTag
    }
    return next
  }

  private func attach(_ handle: any LoadHandle, of number: Int, _ request: HTTPRequest) {
    state.withLock { state in
      // A loader that answers at once may be past this attempt.
      guard state.attempt == number, state.sink != nil, state.stage != .waiting, state.stage != .heldBack else {
        return
      }
      state.handle = handle
      let priority = state.priority
      if priority != request.priority { tell(&state) { $0.priority = priority } }
      if state.isCancelled || state.isBrokenOff { tell(&state) { $0.cancel() } }
      if state.owesResume { tell(&state) { $0.resume() } }
    }
    runCalls()
  }

  /// Ends the attempt's part in the load.
  ///
  /// - Returns: The number of the attempt; nil if the load has been cancelled.
  func beginWaiting() -> Int? {
    let (number, _) = state.withLock { state -> (Int?, (any LoadHandle)?) in
      let handle = state.handle.take()
      guard !state.isCancelled else { return (nil, handle) }
      state.stage = .waiting
      return (state.attempt, handle)
    }
    return number
  }

  /// Has the next attempt begin after a wait, unless the load is no longer waiting for that.
  func schedule(_ delay: Duration, after number: Int) {
    let alarm = clock.schedule(after: delay) { self.startAttempt(after: number) }
    let isLate = state.withLock { state in
      guard state.attempt == number, state.stage == .waiting else { return true }
      state.alarm = alarm
      return false
    }
    if isLate { alarm.cancel() }
  }

  /// Gives a wait up.
  ///
  /// - Returns: Whether it was still the caller's to do so.
  func endWaiting(after number: Int) -> Bool {
    state.withLock { state in
      guard state.attempt == number, state.stage == .waiting else { return false }
      state.stage = .loading
      return true
    }
  }

  /// Tells the sink the end, once.
  func end(_ error: HTTPError?) {
    let (sink, _) = state.withLock { ($0.sink.take(), $0.handle.take()) }
    sink?.finish(error)
  }

  // MARK: The policy

  /// Asks the policy on the calling thread, for those that are known to be short.
  func delay(after error: HTTPError, _ response: HTTPResponse? = nil) -> Duration? {
    guard !error.isCancellation else { return nil }
    return policy.delay(attempt(error, response))
  }

  /// Asks the policy where it may block, and gives the answer there.
  func ask(
    _ error: HTTPError,
    _ response: HTTPResponse? = nil,
    _ answer: @escaping @Sendable (Duration?) -> Void,
  ) {
    let attempt = attempt(error, response)
    do throws(WorkQueueError) {
      try questions.enqueue { [policy] _ in answer(policy.delay(attempt)) }
    } catch {
      // Without a thread nothing can be tried again either.
      answer(nil)
    }
  }

  private func attempt(_ error: HTTPError, _ response: HTTPResponse?) -> RetryAttempt {
    RetryAttempt(
      number: state.withLock { $0.attempt },
      elapsed: clock.uptime - started,
      error: error,
      retryAfter: response?.retryAfter(now: clock.now),
    )
  }
}
