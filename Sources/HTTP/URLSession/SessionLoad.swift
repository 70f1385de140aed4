import VitrineRuntime

/// A load, over its redirects to its end, and the handle for its caller.
final class SessionLoad: LoadHandle {
  private struct State {
    var hop: RedirectChain
    var sink: (any LoadSink)?
    var task: URLSessionDataTask?
    var question: Task<Void, Never>?
    var alarm: ScheduledAction?
    /// The number of times that the sink resumed.
    var resumes = 0
    // The fields below belong to the current hop.
    var head: HTTPResponse?
    var isHeadDelivered = false
    var received = 0
    /// The body of a redirect or of a challenge's response.
    var held = Data()
    /// The rest of that response's delivery, while the sink has paused it.
    var onResume: (@Sendable () -> Void)?
    /// The reason why this type aborted the load.
    var failure: HTTPError?
  }

  private let hooks: LoadHooks
  private let session: URLSession
  private let delegate: SessionDelegate
  private let state: Lock<State>
  /// The calls to the task, in the order in which they were decided.
  private let taskCalls = SerialCalls()

  private var options: URLSessionLoader.Options { delegate.options }

  init(_ request: HTTPRequest, sink: any LoadSink, session: URLSession, delegate: SessionDelegate) {
    hooks = sink.hooks
    (self.session, self.delegate) = (session, delegate)
    state = Lock(State(hop: RedirectChain(request), sink: sink))
  }

  // MARK: For the caller

  var priority: Priority {
    get { state.withLock { $0.hop.request.priority } }
    set {
      state.withLock { state in
        state.hop.request.priority = newValue
        guard let task = state.task else { return }
        taskCalls.add { task.priority = newValue.taskPriority }
      }
      taskCalls.run()
    }
  }

  func cancel() { abort(error(.cancelled, "was cancelled")) }

  /// Ends the load with an error, unless it has failed already.
  private func abort(_ failure: HTTPError) {
    let task = state.withLock { state in
      state.failure = state.failure ?? failure
      return state.task
    }
    task?.cancel()
    // While a hook runs there is no task, so no end would be reported.
    if task == nil { Task { self.end(failure) } }
  }

  /// Stores the task of a hook, which the end of the load cancels.
  private func keep(_ question: Task<Void, Never>) {
    let hasEnded = state.withLock { state in
      if state.sink != nil { state.question = question }
      return state.sink == nil
    }
    if hasEnded { cancel(question) }
  }

  /// Cancels the task of a hook on a thread for hooks: cancellation handlers run at once, and may block.
  private func cancel(_ question: Task<Void, Never>) { delegate.hookQueue.add { question.cancel() } }

  func resume() {
    let onResume = state.withLock { state in
      state.resumes += 1
      if let task = state.task { taskCalls.add { task.resume() } }
      return state.onResume.take()
    }
    taskCalls.run()
    if let onResume { delegate.hookQueue.add(onResume) }
  }

  // MARK: Start

  func start() {
    delegate.begin(self)
    let hop = state.withLock { $0.hop }
    if let total = hop.request.timeouts.total {
      let alarm = SystemClock().schedule(after: total) { [weak self] in
        guard let self else { return }
        abort(error(.timedOut, timeout: .total, "it took longer than allowed"))
      }
      state.withLock { $0.alarm = alarm }
    }
    guard hooks.willSend != nil else { return startHop() }
    keep(Task { resume(after: await hop.prepared(by: hooks)) })
  }

  private func resume(after result: RedirectChain.Next) {
    switch result {
    case .success(var next?):
      state.withLock { state in
        next.request.priority = state.hop.request.priority
        state.hop = next
      }
      startHop()
    case .success(nil): deliverHeld()
    case .failure(let error): end(error)
    }
  }

  private func startHop() {
    // Values removed from the state are released without the lock.
    let (hop, failure, hasEnded, _) = state.withLock { state in
      let question = state.question.take()
      (state.head, state.isHeadDelivered, state.received, state.held) = (nil, false, 0, Data())
      return (state.hop, state.failure, state.sink == nil, question)
    }
    // The load may have timed out while a hook ran.
    guard !hasEnded else { return }
    if let failure { return end(failure) }
    if let objection = hop.objection(by: options.addressGuard) { return end(objection) }
    guard hop.request.method != .get || !hop.request.hasBody else {
      return end(error(.invalidRequest, "the system sends no body with a GET"))
    }
    guard let addressGuard = options.addressGuard, !hop.url.isAddress else { return send(hop) }
    // URLSession reports the address only after it has connected. The look-up blocks, as a hook may.
    delegate.hookQueue.add { [self] in
      if let objection = addressGuard.objection(toAddressesOf: hop.url.host) {
        end(error(.addressRefused, objection))
      } else {
        send(hop)
      }
    }
  }

  private func send(_ hop: RedirectChain) {
    guard let url = URL(string: hop.url.string) else { return end(error(.invalidURL, "URLSession rejects it")) }
    var wanted = URLRequest(url: url, timeoutInterval: hop.request.timeouts.idle / .seconds(1))
    wanted.httpMethod = hop.request.method.name
    if hop.request.announcesBody { wanted.httpBody = hop.request.body ?? Data() }
    wanted.httpShouldHandleCookies = false
    // URLSession would request gzip by itself.
    wanted.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    wanted.setValue(options.userAgent, forHTTPHeaderField: "User-Agent")
    let headers = hop.headers(with: options.cookies)
    for field in headers { wanted.setValue(headers[field.name], forHTTPHeaderField: field.name) }
    // The loader may have been released while a hook ran.
    guard let task = delegate.makeTask(wanted, in: session, for: self) else {
      return end(error(.cancelled, "the loader was released"))
    }
    task.priority = hop.request.priority.taskPriority
    let (isLate, sink) = state.withLock { state in
      state.task = task
      // The end may have come during the look-up of an address.
      let isLate = state.failure != nil || state.sink == nil
      return (isLate, !isLate && hop.isFirst ? state.sink : nil)
    }
    sink?.begin()
    // A task that never ran reports its end only once it is resumed.
    if isLate { task.cancel() }
    task.resume()
  }

  // MARK: Response

  func receive(_ response: URLResponse) -> Bool {
    guard let response = response as? HTTPURLResponse else {
      return fail(error(.protocolError, "not an HTTP response"))
    }
    let (hop, hasHead) = state.withLock { ($0.hop, $0.head != nil) }
    // URLSession reports each part of a `multipart/x-mixed-replace` as a response of its own.
    guard !hasHead else { return fail(error(.protocolError, "the server sent a second response to one request")) }
    var head = HTTPResponse(status: response.statusCode, url: hop.url)
    for (name, value) in response.allHeaderFields {
      // URLSession joins fields of one name with commas.
      let values = "\(name)".lowercased() == "set-cookie" ? CookieJar.split("\(value)") : ["\(value)"]
      for value in values { head.headers.append(name: "\(name)", value: value) }
    }
    guard !head.headers.contains(where: { $0.value.contains("\0") }) else {
      return fail(error(.protocolError, "a header field has a NUL"))
    }
    head.redirects = hop.redirects(at: systemUptime())
    options.cookies?.store(head.headers.values(for: "Set-Cookie"), from: hop.url)
    state.withLock { $0.head = head }
    if hop.isToFollow(head) || hop.isToAnswer(head, hooks) { return true }
    if let objection = hop.objection(to: head) { return fail(objection) }
    state.withLock { $0.isHeadDelivered = true }
    return deliver { $0.receive(head) }
  }

  func receive(_ data: Data) {
    let (received, isDelivered, limit) = state.withLock { state in
      state.received += data.count
      if !state.isHeadDelivered { state.held.append(data.prefix(1 << 16 - state.held.count)) }
      return (state.received, state.isHeadDelivered, state.hop.request.maxResponseBytes)
    }
    // Reading the short body of a redirect or challenge keeps the connection. A long one costs more than a new
    // connection.
    guard isDelivered else { return received <= 1 << 16 ? () : state.withLock { $0.task }?.cancel() ?? () }
    let goesOn =
      received <= limit
      ? deliver { $0.receive(data) }
      : fail(error(.tooLarge, "the body is larger than the limit of \(limit) bytes"))
    if !goesOn { state.withLock { $0.task }?.cancel() }
  }

  func measure(_ figures: URLSessionTaskTransactionMetrics) {
    hooks.didTransfer?(LoadMetrics(figures, of: state.withLock { $0.hop.url }))
  }

  func complete(_ problem: (any Error)?) {
    let (hop, head, failure, isDelivered, _) = state.withLock { state in
      (state.hop, state.head, state.failure, state.isHeadDelivered, state.task.take())
    }
    if let failure { return end(failure) }
    // The body of a redirect or challenge is broken off if it is too long to be read to its end.
    guard let head, !isDelivered, problem == nil || (problem as? URLError)?.code == .cancelled else {
      return end(problem.map { error(for: $0, isHeadDelivered: isDelivered) })
    }
    if hop.isToFollow(head) {
      resume(after: hop.followed(head, options.addressGuard, hooks, at: systemUptime()))
    } else {
      keep(Task { resume(after: await hop.answered(head, by: hooks)) })
    }
  }

  /// Delivers the response of an unanswered challenge.
  private func deliverHeld() {
    let (head, held) = state.withLock { ($0.head, $0.held) }
    guard let head else { return }
    deliverHeld([{ $0.receive(head) }] + (held.isEmpty ? [] : [{ $0.receive(held) }]))
  }

  /// Makes calls to the sink, each once the sink does not pause, and ends the load.
  private func deliverHeld(_ calls: [@Sendable (any LoadSink) -> LoadFlow]) {
    guard let first = calls.first else { return end(nil) }
    let next = { @Sendable [self] in deliverHeld(Array(calls.dropFirst())) }
    // There is no task to suspend any more.
    switch call(first, onPause: { $0.onResume = next }) {
    case .stop: end(error(.cancelled, "was cancelled"))
    case .proceed: next()
    case .pause: break
    }
  }

  // MARK: End

  /// Calls the sink and applies the flow that it returns, or returns `false` to abort.
  private func deliver(_ body: (any LoadSink) -> LoadFlow) -> Bool {
    let flow = call(body) { state in
      if let task = state.task { taskCalls.add { task.suspend() } }
    }
    taskCalls.run()
    return flow != .stop || fail(error(.cancelled, "was cancelled"))
  }

  /// Calls the sink, and returns how the load goes on: without a pause, if the sink has resumed before it returned.
  private func call(_ body: (any LoadSink) -> LoadFlow, onPause pause: (inout State) -> Void) -> LoadFlow {
    let (sink, resumes) = state.withLock { ($0.sink, $0.resumes) }
    let flow = sink.map(body) ?? .stop
    guard flow == .pause else { return flow }
    return state.withLock { state in
      guard state.resumes == resumes else { return .proceed }
      pause(&state)
      return .pause
    }
  }

  private func fail(_ failure: HTTPError) -> Bool {
    state.withLock { $0.failure = failure }
    return false
  }

  private func end(_ error: HTTPError?) {
    let (sink, alarm, question, _, _) = state.withLock { state in
      (state.sink.take(), state.alarm.take(), state.question.take(), state.task.take(), state.onResume.take())
    }
    alarm?.cancel()
    delegate.end(self)
    sink?.finish(error)
    if let question { cancel(question) }
  }

  private func error(_ code: HTTPError.Code, timeout: HTTPError.Timeout? = nil, _ detail: String) -> HTTPError {
    state.withLock { $0.hop }.error(code, timeout: timeout, detail)
  }

  private func error(for problem: any Error, isHeadDelivered: Bool) -> HTTPError {
    let code = HTTPError.Code(of: problem, isHeadDelivered: isHeadDelivered)
    guard code != .cancelled else { return error(.cancelled, "the loader was released") }
    return error(code, timeout: code == .timedOut ? .idle : nil, problem.localizedDescription)
  }
}
