public import VitrineHTTP
public import VitrineRuntime

/// One load of a ``FakeLoader``: a test sends its response in pieces, and sees what the pipeline does.
///
/// A sent piece reaches the sink on the test's thread before the call returns, so that the next line sees its effect.
/// It arrives later only while the load is paused, or while another thread is delivering to the sink; then await
/// ``wait(until:)``. After the end, or after a cancellation, sending does nothing.
public final class FakeLoad: Sendable {
  /// The status of a load.
  public struct Status: Sendable, Hashable {
    /// The priorities that the load has had, starting with that of the request.
    public internal(set) var priorities: [Priority]
    /// A Boolean value that indicates whether the load was cancelled before its end.
    public internal(set) var isCancelled = false
    /// A Boolean value that indicates whether the sink has paused the load.
    public internal(set) var isPaused = false
    /// The number of times that the sink has paused the load.
    public internal(set) var pauses = 0
    /// The number of bytes of the body that the sink has received.
    public internal(set) var taken = 0
    /// The number of bytes of the body that were sent and that the sink has not received.
    public internal(set) var waiting = 0
    /// A Boolean value that indicates whether the sink has been told the end.
    public internal(set) var isEnded = false

    /// The current priority of the load.
    public var priority: Priority { priorities[priorities.count - 1] }
  }

  enum Event {
    case cancelled, ended
    /// A challenge was answered with fields for another attempt; the sink sees only that attempt's response.
    case answered(HTTPFields)
  }

  private enum Piece: Sendable {
    case head(HTTPResponse)
    case bytes(Data)
    case end(HTTPError?)
  }

  private struct State {
    // Released at the end.
    var sink: (any LoadSink)?
    var status: Status
    var pieces: [Piece] = []
    var hasHead = false
    var responseStatus: Int?
    var hasEnd = false
    /// True if a thread is delivering pieces to the sink; there are never two.
    var isDelivering = false
    /// True if the load was resumed while the sink was deciding to pause.
    var isResumed = false
    /// The running challenge hook.
    var question: Task<Void, Never>?
    // Released at the end: it refers to the load's handle, which refers to the load.
    var tell: (@Sendable (Event) -> Void)?
  }

  /// The request of the load.
  public let request: HTTPRequest

  private let state: Watched<State>
  private let hooks: LoadHooks
  /// The number of challenges that were answered before this load.
  private let answerCount: Int

  init(
    _ request: HTTPRequest,
    sink: any LoadSink,
    hooks: LoadHooks,
    answerCount: Int,
    tell: @escaping @Sendable (Event) -> Void,
  ) {
    (self.request, self.hooks, self.answerCount) = (request, hooks, answerCount)
    state = Watched(State(sink: sink, status: Status(priorities: [request.priority]), tell: tell))
  }

  // MARK: What a test sees

  /// The current status.
  public var status: Status { state.value.status }

  /// Waits, without a clock and without blocking a thread, until the status satisfies `condition`.
  ///
  /// ```swift
  /// await load.wait { $0.priority == .high }
  /// ```
  /// Returns early if the awaiting task is cancelled, as by a test's time limit.
  public func wait(until condition: @escaping @Sendable (Status) -> Bool) async {
    await state.wait { condition($0.status) }
  }

  // MARK: What a test says

  /// Sends the head of the response, exactly as given; ``finish()`` ends the load.
  ///
  /// Call it only once a load.
  public func respond(status: Int = 200, headers: HTTPFields = [:]) {
    add(.head(HTTPResponse(status: status, headers: headers, url: request.url)))
  }

  /// Sends the next bytes of the body, after a head of status 200 if there was none.
  ///
  /// A body that passes `maxResponseBytes`, or a head that announces such a body, ends the load with
  /// `HTTPError.Code.tooLarge`, as it would with a real loader.
  public func send(_ bytes: Data) {
    add(.bytes(bytes))
  }

  /// Ends the body successfully, after a head of status 200 if there was none.
  public func finish() {
    add(.end(nil))
  }

  /// Ends the load with an error.
  public func fail(_ code: HTTPError.Code) {
    add(.end(error(code)))
  }

  /// Sends a whole response, as ``FakeLoader/answer(_:_:)-(_,FakeResponse)`` does.
  public func respond(with response: FakeResponse) {
    var (status, headers, body) = (response.status, response.headers, response.body)
    if response.error == nil || !body.isEmpty {
      if let tag = headers["ETag"], request.headers["If-None-Match"] == tag, request.method.allowsConditions {
        (status, body) = (304, Data())
      }
      if status != 304, headers["Content-Length"] == nil { headers["Content-Length"] = "\(body.count)" }
      respond(status: status, headers: headers)
      if request.method == .head { body = Data() }
    }
    var rest = body
    while !rest.isEmpty {
      send(rest.prefix(16 << 10))
      rest = rest.dropFirst(16 << 10)
    }
    add(.end(response.error.map(error)))
  }

  // MARK: What the other side does

  private func tell(_ event: Event) {
    let tell = state.change { state in
      defer { if case .ended = event { state.tell = nil } }
      return state.tell
    }
    tell?(event)
  }

  func cancel() {
    let isFirst = state.change { state in
      guard !state.status.isCancelled, !state.status.isEnded else { return false }
      state.status.isCancelled = true
      return true
    }
    guard isFirst else { return }
    let question = state.change { state in
      // The hook's answer has no more effect, so the end need not wait for it.
      if state.question != nil { state.isDelivering = false }
      defer { state.question = nil }
      return state.question
    }
    question?.cancel()
    tell(.cancelled)
    // The caller may hold a lock that the sink needs, so the sink is called from another task.
    Task { deliver() }
  }

  func resume() {
    let isPaused = state.change { state in
      state.isResumed = true
      defer { state.status.isPaused = false }
      return state.status.isPaused
    }
    if isPaused {
      Task { deliver() }
    }
  }

  func setPriority(_ priority: Priority) {
    state.change { state in
      if state.status.priority != priority { state.status.priorities.append(priority) }
    }
  }

  // MARK: Delivery

  private func error(_ code: HTTPError.Code) -> HTTPError {
    HTTPError(code, url: request.url.string, "a test let it fail (\(code))")
  }

  private func add(_ piece: Piece) {
    state.change { state in
      guard !state.hasEnd, !state.status.isCancelled else { return }
      switch piece {
      case .head(let response):
        precondition(!state.hasHead, "a load has one head")
        state.hasHead = true
        state.responseStatus = response.status
      case .bytes, .end(nil):
        if !state.hasHead {
          state.pieces.append(.head(HTTPResponse(status: 200, url: request.url)))
          state.responseStatus = 200
        }
        state.hasHead = true
        if case .bytes(let bytes) = piece { state.status.waiting += bytes.count }
      case .end: break
      }
      if case .end = piece { state.hasEnd = true }
      state.pieces.append(piece)
    }
    deliver()
  }

  /// Delivers the waiting pieces, until the load is paused or another thread is delivering.
  private func deliver() {
    while let (sink, piece) = takePiece() {
      switch piece {
      case .head(let response):
        if response.status == 401, answerCount < 2, let challenge = hooks.challenge {
          return ask(challenge, response, sink)
        }
        settle(sink.receive(response), taken: 0)
      case .bytes(let bytes): settle(sink.receive(bytes), taken: bytes.count)
      case .end(let error):
        measure()
        sink.finish(error)
        close()
        tell(.ended)
        return
      }
    }
  }

  private func close() {
    state.change { state in
      (state.sink, state.question, state.pieces, state.hasEnd) = (nil, nil, [], true)
      (state.status.isEnded, state.status.isPaused) = (true, false)
    }
  }

  private func measure() {
    guard let didTransfer = hooks.didTransfer else { return }
    var metrics = LoadMetrics(url: request.url)
    (metrics.status, metrics.bytesReceived) = state.change { ($0.responseStatus, $0.status.taken) }
    didTransfer(metrics)
  }

  // MARK: Challenges

  /// Runs the challenge hook; the load pauses meanwhile.
  private func ask(
    _ challenge: @escaping @Sendable (HTTPChallenge) async throws -> HTTPFields?,
    _ response: HTTPResponse,
    _ sink: any LoadSink,
  ) {
    let demand = HTTPChallenge(response: response, sent: request.headers, previousAnswers: answerCount)
    let question = Task {
      do {
        take(.success(try await challenge(demand)), response, sink)
      } catch {
        let detail = "the hook for challenges threw: \(error)"
        let failure = HTTPError(.preparationFailed, url: request.url.string, cause: error, detail)
        take(.failure(failure), response, sink)
      }
    }
    let isOver = state.change { state in
      guard !state.status.isCancelled else {
        state.isDelivering = false
        return true
      }
      // The hook may already have answered.
      if state.isDelivering, !state.status.isEnded { state.question = question }
      return false
    }
    guard isOver else { return }
    question.cancel()
    deliver()
  }

  private func take(_ answer: Result<HTTPFields?, HTTPError>, _ response: HTTPResponse, _ sink: any LoadSink) {
    let isWanted = state.change { state in
      state.question = nil
      return !state.status.isCancelled && !state.status.isEnded
    }
    guard isWanted else { return }
    switch answer {
    case .success(.some(let fields)):
      measure()
      close()
      tell(.answered(fields))
      tell(.ended)
    case .success(.none): settle(sink.receive(response), taken: 0)
    case .failure(let error):
      state.change { state in
        end(error, &state)
        state.isDelivering = false
      }
    }
    deliver()
  }

  private func takePiece() -> (any LoadSink, Piece)? {
    state.change { state in
      guard let sink = state.sink, !state.isDelivering else { return nil }
      if state.status.isCancelled { end(error(.cancelled), &state) }
      guard let next = state.pieces.first, !state.status.isPaused || state.status.isCancelled else { return nil }
      let expected =
        switch next {
        case .head(let response): response.announcedLength(of: request.method) ?? 0
        case .bytes(let bytes): state.status.taken + bytes.count
        case .end: 0
        }
      if expected > request.maxResponseBytes { end(error(.tooLarge), &state) }
      (state.isDelivering, state.isResumed) = (true, false)
      return (sink, state.pieces.removeFirst())
    }
  }

  /// Drops the pieces that have not been delivered.
  private func end(_ error: HTTPError, _ state: inout State) {
    state.pieces = [.end(error)]
    state.hasEnd = true
    state.status.waiting = 0
  }

  private func settle(_ flow: LoadFlow, taken: Int) {
    state.change { state in
      state.isDelivering = false
      state.status.taken += taken
      // Nothing waits any more if the load was cancelled meanwhile.
      state.status.waiting = max(0, state.status.waiting - taken)
      switch flow {
      case .proceed: break
      case .pause:
        state.status.pauses += 1
        state.status.isPaused = !state.isResumed
      case .stop: end(error(.cancelled), &state)
      }
    }
  }
}
