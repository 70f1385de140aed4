import VitrineRuntime

/// The sink of each attempt. An attempt delivers one response, so ``LoadSink/canStartOver`` is `false`.
extension RetryingLoad: LoadSink {
  func begin() {
    let sink: (any LoadSink)? = state.withLock { state in
      guard !state.hasBegun else { return nil }
      state.hasBegun = true
      return state.sink
    }
    sink?.begin()
  }

  // MARK: The head

  func receive(_ response: HTTPResponse) -> LoadFlow {
    guard let error = failure(of: response), request.isIdempotent else { return accept(response) }
    guard !policy.isShort else {
      let wait = policy.delay(attempt(error, response))
      return state.withLock { drops(response, wait, &$0) } ? .proceed : accept(response)
    }
    let number = state.withLock { state in
      state.stage = .asking
      return state.attempt
    }
    ask(error, response) { self.decide(on: response, $0, of: number) }
    return .pause
  }

  /// Returns the error to pass to the policy; `nil` if the response is to be delivered.
  private func failure(of response: HTTPResponse) -> HTTPError? {
    let interruption = state.withLock { $0.answer(response) == .misfit ? $0.failure : nil }
    if let interruption { return interruption }
    guard response.status >= 400 else { return nil }
    let detail = "the server answered with status \(response.status)"
    return HTTPError(.badStatus, url: request.url.string, status: response.status, detail)
  }

  /// Drops a response if another attempt follows after a wait: for the whole body, if this one shows that the server
  /// does not send the rest.
  ///
  /// - Returns: `false` if the policy gives up, or the sink cannot start over.
  private func drops(_ response: HTTPResponse, _ wait: Duration?, _ state: inout State) -> Bool {
    guard let wait, state.answer(response) != .misfit || startsOver(&state) else { return false }
    // Reading the body to its end keeps the connection usable.
    state.mode = .drop(wait: wait, count: 0)
    return true
  }

  /// Makes the next head the first one again, if the sink can start over.
  private func startsOver(_ state: inout State) -> Bool {
    guard startsOverIfNeeded else { return false }
    (state.identity, state.delivered) = (nil, 0)
    return true
  }

  /// Applies the policy's decision to a response while the loader is paused.
  private func decide(on response: HTTPResponse, _ delay: Duration?, of number: Int) {
    let isDropped = state.withLock { state -> Bool? in
      guard state.attempt == number, state.stage == .asking else { return nil }
      state.stage = .delivering
      return drops(response, delay, &state)
    }
    guard let isDropped else { return }
    let flow: LoadFlow = isDropped ? .proceed : accept(response)
    let end = state.change { state -> HTTPError?? in
      state.stage = .loading
      if let end = state.end.take() { return end }
      if flow == .stop {
        state.wrapped.breakOff()
      } else if !state.isPaused {
        state.wrapped.resume()
      }
      return nil
    }
    if let end { finishAttempt(end ?? (flow == .stop ? cancellation : nil)) }
  }

  private func accept(_ response: HTTPResponse) -> LoadFlow {
    let now = wallClock
    let (sink, unseen): ((any LoadSink)?, LoadFlow) = state.withLock { state in
      switch state.answer(response) {
      case .rest(let skipped):
        state.mode = .deliver(skipping: skipped)
        return (nil, .proceed)
      case .whole where !startsOver(&state), .misfit, .refusal:
        state.mode = .refuse
        return (nil, .stop)
      case nil, .whole:
        state.identity = ResponseIdentity(response, now: now)
        return (state.sink, .proceed)
      }
    }
    guard let sink else { return unseen }
    return deliver { sink.receive(response) }
  }

  // MARK: The body

  func receive(_ bytes: RawSpan) -> LoadFlow {
    let count = bytes.byteCount
    let (sink, skipped, unseen): ((any LoadSink)?, Int, LoadFlow) = state.withLock { state in
      // A loader that ignores pauses would deliver bytes before the head.
      guard state.stage == .loading else { return (nil, 0, .stop) }
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

  /// Calls the sink, and remembers a pause in case the attempt fails meanwhile.
  private func deliver(_ call: () -> LoadFlow) -> LoadFlow {
    // The sink may resume before it returns.
    state.withLock { $0.isPaused = true }
    let flow = call()
    if flow != .pause { state.withLock { $0.isPaused = false } }
    return flow
  }

  // MARK: The end

  func finish(_ error: HTTPError?) {
    let isPutOff = state.withLock { state in
      // A cancelled load needs no decision any more.
      if state.stage == .asking, state.wrapped.isCancelled { state.stage = .loading }
      guard state.stage == .asking || state.stage == .delivering else { return false }
      state.end = .some(error)
      return true
    }
    if !isPutOff { finishAttempt(error) }
  }

  private func finishAttempt(_ error: HTTPError?) {
    let (mode, earlier, isCancelled) = state.withLock { ($0.mode, $0.failure, $0.wrapped.isCancelled) }
    switch mode {
    case .drop(let delay, _):
      // The server's failure counts, and not a failure to read its body.
      guard !isCancelled, let number = beginWaiting() else { return end(error ?? earlier ?? cancellation) }
      schedule(delay, after: number)
    case .refuse:
      end(isCancelled ? error : earlier ?? error)
    case .deliver(let rest):
      guard let error else {
        guard rest > 0 else { return end(nil) }
        return end(earlier ?? HTTPError(.truncated, url: request.url.string, "the body is shorter than before"))
      }
      guard !isCancelled, !error.isCancellation, request.isIdempotent else { return end(error) }
      goOn(after: error)
    }
  }

  /// Retries if the policy returns a delay.
  private func goOn(after error: HTTPError) {
    guard let number = beginWaiting() else { return end(cancellation) }
    ask(error) { [self] delay in
      guard let delay, canGoOn() else { return end(error) }
      state.withLock { $0.failure = $0.failure ?? error }
      schedule(delay, after: number)
    }
  }

  /// Returns `true` if another attempt can continue the delivered body, or the sink starts over.
  private func canGoOn() -> Bool {
    state.withLock { state in
      guard let identity = state.identity, state.delivered > 0 else { return true }
      return request.isPlainGet && identity.validator != nil || startsOver(&state)
    }
  }
}
