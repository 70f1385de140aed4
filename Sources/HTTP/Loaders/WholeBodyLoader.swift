public import VitrineRuntime

/// A loader made of one asynchronous function that returns a response and its whole body.
///
/// ```swift
/// let loader = WholeBodyLoader { request in
///   let (status, body) = try await client.get(request.url.string)
///   return (HTTPResponse(status: status, url: request.url), body)
/// }
/// ```
/// The loader queues the requests by priority, runs the hooks, and keeps to `HTTPRequest.maxResponseBytes` and to
/// `HTTPTimeouts.total`; the function does the rest, redirects included. Bodies are held in memory, and views see no
/// progress and no previews. A transport that delivers pieces, resumes, or obeys an ``AddressGuard`` implements
/// ``DataLoader``.
public final class WholeBodyLoader: DataLoader {
  /// A function that sends a request.
  ///
  /// It must not block its thread. When its load is cancelled or out of time, its task is cancelled, and its result is
  /// not awaited; it keeps its place among the concurrent loads until it returns.
  ///
  /// An `HTTPError` that it throws is passed on. Any other error becomes one of code ``HTTPError/Code/loaderFailed``,
  /// which names the URL and has that error as its cause, and is not retried.
  public typealias Fetch = @Sendable (HTTPRequest) async throws -> (HTTPResponse, Data)

  private struct State {
    var queue: AdmissionQueue<ObjectIdentifier>
    var waiting: [ObjectIdentifier: Load] = [:]
  }

  private let fetch: Fetch
  private let clock: any TimeSource
  private let state: Lock<State>

  /// Makes a loader.
  ///
  /// - Parameters:
  ///   - maxConcurrentLoads: The maximum number of concurrent calls of the function. Defaults to 32.
  ///   - clock: The clock for `HTTPTimeouts.total`. Defaults to the system clock.
  ///   - fetch: The function.
  public init(maxConcurrentLoads: Int = 32, clock: any TimeSource = .system, _ fetch: @escaping Fetch) {
    (self.fetch, self.clock) = (fetch, clock)
    state = Lock(State(queue: AdmissionQueue(limit: max(1, maxConcurrentLoads))))
  }

  /// Queues a load, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = Load(request, CheckedSink(request, sink), of: self)
    let id = ObjectIdentifier(load)
    state.withLock { state in
      state.queue.add(id, host: request.url.host, priority: request.priority)
      state.waiting[id] = load
    }
    load.attach(Task { await run(load) })
    admit()
    return load
  }

  private func admit() {
    while true {
      let next = state.withLock { state in
        state.queue.admit().flatMap { state.waiting.removeValue(forKey: $0) }
      }
      guard let next else { return }
      next.admission.resolve(true)
    }
  }

  /// Returns the place of a load, or has it wait for none.
  private func leave(_ load: Load) {
    let id = ObjectIdentifier(load)
    let waiting = state.withLock { state -> Load? in
      if !state.queue.remove(id) { state.queue.release(host: load.request.url.host) }
      return state.waiting.removeValue(forKey: id)
    }
    withExtendedLifetime(waiting) {}
    admit()
  }

  fileprivate func reprioritize(_ load: Load, _ priority: Priority) {
    state.withLock { $0.queue.reprioritize(ObjectIdentifier(load), priority) }
  }

  private func run(_ load: Load) async {
    guard await load.admission.value(orCancelled: false), !Task.isCancelled else {
      leave(load)
      return load.sink.finish(load.cancelled)
    }
    load.sink.begin()
    let outcome = Deferred<Result<(HTTPResponse, Data), HTTPError>>()
    let work = Task {
      outcome.resolve(await response(to: load))
      leave(load)
    }
    let alarm = load.request.timeouts.total.map { limit in
      clock.schedule(after: limit) {
        let detail = "no response within \(limit)"
        outcome.resolve(.failure(HTTPError(.timedOut, url: load.request.url.string, timeout: .total, detail)))
        work.cancel()
      }
    }
    let result = await outcome.value(orCancelled: .failure(load.cancelled)) { work.cancel() }
    alarm?.cancel()
    switch result {
    case .success(let (response, body)): await load.deliver(response, body)
    case .failure(let error): load.sink.finish(error)
    }
  }

  /// Calls the hooks and the function.
  private func response(to load: Load) async -> Result<(HTTPResponse, Data), HTTPError> {
    var (request, code) = (load.request, HTTPError.Code.preparationFailed)
    do {
      try await load.sink.hooks.willSend?(&request)
      var previousAnswers = 0
      while true {
        code = .loaderFailed
        let (response, body) = try await fetch(request)
        guard response.status == 401, previousAnswers < 2, let challenge = load.sink.hooks.challenge else {
          return .success((response, body))
        }
        code = .preparationFailed
        let demand = HTTPChallenge(response: response, sent: request.headers, previousAnswers: previousAnswers)
        guard let answer = try await challenge(demand) else { return .success((response, body)) }
        for field in answer { request.headers[field.name] = field.value }
        previousAnswers += 1
      }
    } catch let error as HTTPError {
      return .failure(error)
    } catch is CancellationError {
      return .failure(load.cancelled)
    } catch {
      let name = code == .loaderFailed ? "loader" : "hook"
      return .failure(HTTPError(code, url: load.request.url.string, cause: error, "the \(name) threw: \(error)"))
    }
  }
}

extension WholeBodyLoader {
  /// A queued or running load.
  fileprivate final class Load: LoadHandle {
    private struct State {
      var priority: Priority
      var task: Task<Void, Never>?
      var isCancelled = false
      /// Set by a resume since the last call to the sink.
      var isResumed = false
      var pause: Deferred<Void>?
    }

    let request: HTTPRequest
    let sink: CheckedSink
    /// Set to `true` when the load may start.
    let admission = Deferred<Bool>()
    private let loader: WholeBodyLoader
    private let state: Lock<State>

    var cancelled: HTTPError { HTTPError(.cancelled, url: request.url.string, "was cancelled") }

    init(_ request: HTTPRequest, _ sink: CheckedSink, of loader: WholeBodyLoader) {
      (self.request, self.sink, self.loader) = (request, sink, loader)
      state = Lock(State(priority: request.priority))
    }

    var priority: Priority {
      get { state.withLock { $0.priority } }
      set {
        state.withLock { $0.priority = newValue }
        loader.reprioritize(self, newValue)
      }
    }

    func attach(_ task: Task<Void, Never>) {
      let isCancelled = state.withLock { state in
        state.task = task
        return state.isCancelled
      }
      if isCancelled { task.cancel() }
    }

    func cancel() {
      let task = state.withLock { state in
        state.isCancelled = true
        return state.task
      }
      task?.cancel()
    }

    func resume() {
      let pause = state.withLock { state in
        state.isResumed = true
        return state.pause.take()
      }
      pause?.resolve(())
    }

    func deliver(_ response: HTTPResponse, _ body: Data) async {
      guard await pass({ $0.receive(response) }), await pass({ $0.receive(body) }) else {
        return sink.finish(cancelled)
      }
      sink.finish(nil)
    }

    /// Calls the sink, waits while it pauses the load, and returns whether to go on.
    private func pass(_ call: (CheckedSink) -> LoadFlow) async -> Bool {
      state.withLock { $0.isResumed = false }
      switch call(sink) {
      case .proceed: return true
      case .stop: return false
      case .pause:
        let pause = Deferred<Void>()
        let isResumed = state.withLock { state in
          if !state.isResumed { state.pause = pause }
          return state.isResumed
        }
        if !isResumed { await pause.value(orCancelled: ()) }
        return !Task.isCancelled
      }
    }
  }
}
