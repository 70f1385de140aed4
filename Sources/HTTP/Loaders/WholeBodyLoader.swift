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

  private let loads: AdmittedLoads

  /// Makes a loader.
  ///
  /// - Parameters:
  ///   - maxConcurrentLoads: The maximum number of concurrent calls of the function. Defaults to 32.
  ///   - clock: The clock for `HTTPTimeouts.total`. Defaults to the system clock.
  ///   - fetch: The function.
  public init(maxConcurrentLoads: Int = 32, clock: any TimeSource = .system, _ fetch: @escaping Fetch) {
    loads = AdmittedLoads(AdmissionQueue(limit: max(1, maxConcurrentLoads)), clock) { loads, request, sink in
      let load = WholeBodyLoad(request, sink, fetch)
      load.start(clock) { loads.release(host: request.url.host) }
      return load
    }
  }

  /// Queues a load, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    loads.load(request, into: CheckedSink(request, sink))
  }
}

/// A running load, and its handle.
private final class WholeBodyLoad: LoadHandle {
  private struct State {
    var task: Task<Void, Never>?
    /// The end of a pause that begins with the last call to the sink.
    var pause: Deferred<Void>?
  }

  private let request: HTTPRequest
  private let sink: any LoadSink
  private let fetch: WholeBodyLoader.Fetch
  private let state = Lock(State())

  private var cancelled: HTTPError { HTTPError(.cancelled, url: request.url.string, "was cancelled") }

  init(_ request: HTTPRequest, _ sink: any LoadSink, _ fetch: @escaping WholeBodyLoader.Fetch) {
    (self.request, self.sink, self.fetch) = (request, sink, fetch)
  }

  /// The priority in the queue, which the load has left.
  var priority: Priority {
    get { request.priority }
    set { _ = newValue }
  }

  func cancel() { state.withLock { $0.task }?.cancel() }

  func resume() { state.withLock { $0.pause }?.resolve(()) }

  /// Starts the load, and calls `leave` once the function has returned.
  func start(_ clock: any TimeSource, leave: @escaping @Sendable () -> Void) {
    let task = Task { await run(clock, leave) }
    state.withLock { $0.task = task }
  }

  private func run(_ clock: any TimeSource, _ leave: @escaping @Sendable () -> Void) async {
    guard !Task.isCancelled else {
      leave()
      return sink.finish(cancelled)
    }
    sink.begin()
    let outcome = Deferred<Result<(HTTPResponse, Data), HTTPError>>()
    let work = Task {
      outcome.resolve(await response())
      leave()
    }
    let alarm = request.timeouts.total.map { limit in
      clock.schedule(after: limit) { [request] in
        let detail = "no response within \(limit)"
        outcome.resolve(.failure(HTTPError(.timedOut, url: request.url.string, timeout: .total, detail)))
        work.cancel()
      }
    }
    let result = await outcome.value(orCancelled: .failure(cancelled)) { work.cancel() }
    alarm?.cancel()
    switch result {
    case .success(let (response, body)): await deliver(response, body)
    case .failure(let error): sink.finish(error)
    }
  }

  /// Calls the hooks and the function.
  private func response() async -> Result<(HTTPResponse, Data), HTTPError> {
    let hooks = sink.hooks
    do {
      var next = try await RedirectChain(request).prepared(by: hooks).get()
      while let chain = next {
        let (response, body) = try await fetch(chain.request)
        next = chain.isToAnswer(response, hooks) ? try await chain.answered(response, by: hooks).get() : nil
        if next == nil { return .success((response, body)) }
      }
      return .failure(cancelled)
    } catch let error as HTTPError {
      return .failure(error)
    } catch is CancellationError {
      return .failure(cancelled)
    } catch {
      let detail = "the loader threw: \(error)"
      return .failure(HTTPError(.loaderFailed, url: request.url.string, cause: error, detail))
    }
  }

  private func deliver(_ response: HTTPResponse, _ body: Data) async {
    guard await pass({ $0.receive(response) }), await pass({ $0.receive(body) }) else {
      return sink.finish(cancelled)
    }
    sink.finish(nil)
  }

  /// Calls the sink, waits while it pauses the load, and returns whether to go on.
  private func pass(_ call: (any LoadSink) -> LoadFlow) async -> Bool {
    let pause = Deferred<Void>()
    state.withLock { $0.pause = pause }
    switch call(sink) {
    case .proceed: return true
    case .stop: return false
    case .pause:
      // The sink may have resumed the load before it returned.
      await pause.value(orCancelled: ())
      return !Task.isCancelled
    }
  }
}
