public import VitrineHTTP
import VitrineRuntime

/// A loader without a network: a test decides, for each URL, what arrives and when.
///
/// ```swift
/// let loader = FakeLoader()
/// loader.answer("https://example.org/cat.jpg", with: cat)           // at once, always
///
/// // Or piece by piece:
/// let load = try await loader.nextLoad(of: "https://example.org/dog.jpg")
/// load.respond(headers: ["Content-Length": "\(dog.count)"])
/// load.send(dog.prefix(1000))
/// // … check what was made of a thousand bytes …
/// load.send(dog.dropFirst(1000))
/// load.finish()
/// ```
/// Loads begin at once, without a concurrency limit, or when their hook before sending has run. All other hooks are
/// called too. It may be used from any thread and never waits for a clock.
public final class FakeLoader: DataLoader {
  /// A closure that makes the response to a request.
  public typealias Answer = @Sendable (HTTPRequest) -> FakeResponse

  /// The counts of the loads so far.
  public struct Counts: Sendable, Hashable {
    /// The number of loads that wait for their hook before sending (`LoadHooks.willSend`), and have not begun.
    public internal(set) var preparing = 0
    /// The number of loads that have begun.
    ///
    /// One that is sent again after a challenge counts as another.
    public internal(set) var loads = 0
    /// The number of loads whose sink has not been told the end.
    public internal(set) var running = 0
    /// The largest number of concurrent loads.
    public internal(set) var mostRunning = 0
    /// The number of loads that were cancelled before they had ended.
    public internal(set) var cancelled = 0
  }

  private struct State {
    var answers: [String: Answer] = [:]
    var requests: [HTTPRequest] = []
    var running: [Int: FakeLoad] = [:]
    var counts = Counts()
    // For each URL either loads that no test has taken, or tests that wait for one to begin.
    var unclaimed: [String: [FakeLoad]] = [:]
    var claims: [String: [Deferred<Result<FakeLoad, CancellationError>>]] = [:]
  }

  private let state = Watched(State())

  /// Creates a loader without responses: every load waits for the test.
  public init() {}

  deinit {
    let running = state.change { state in
      state.unclaimed = [:]
      return state.running
    }
    for load in running.values { load.cancel() }
  }

  // MARK: What a test says

  /// Answers every later load of a URL at once.
  ///
  /// The URL `*` stands for all without a response of their own.
  ///
  /// The body arrives in pieces of 16 KiB, from another task. A missing `Content-Length` is added. A `GET` or `HEAD`
  /// whose `If-None-Match` is the response's `ETag` gets 304. A `Range` is left to the closure. A request that no
  /// loader can send, such as one with an invalid method, fails with `HTTPError.Code.invalidRequest` and begins no
  /// load.
  ///
  /// - Parameters:
  ///   - url: The URL, in any form; it is compared in its canonical form.
  ///   - answer: Makes the response; called once for each load.
  public func answer(_ url: String, _ answer: @escaping Answer) {
    state.change { $0.answers[Self.canonical(url)] = answer }
  }

  /// Answers every later load of a URL with the same response.
  public func answer(_ url: String, _ response: FakeResponse) {
    answer(url) { _ in response }
  }

  /// Answers every later load of a URL with status 200 and a body.
  public func answer(_ url: String, with body: Data, headers: HTTPFields = [:]) {
    answer(url, FakeResponse(headers: headers, body: body))
  }

  /// Fails every later load of a URL before there is a response.
  public func answer(_ url: String, failing error: HTTPError.Code) {
    answer(url, FakeResponse(error: error))
  }

  /// Removes the response for a URL: later loads wait for the test again.
  public func removeAnswer(_ url: String) {
    state.change { $0.answers[Self.canonical(url)] = nil }
  }

  // MARK: What a test sees

  /// The counts of the loads so far.
  public var counts: Counts { state.value.counts }

  /// The requests of all loads, in the order in which they began.
  public var requests: [HTTPRequest] { state.value.requests }

  /// Waits until a load of a URL has begun, and returns it.
  ///
  /// Each load is returned once, in the order in which they began.
  ///
  /// Loads with a response are returned too. If none begins, it waits for ever: give the test a time limit, which
  /// cancels its task.
  ///
  /// - Parameter url: The URL, in any form.
  /// - Returns: The load, which may have been cancelled meanwhile.
  /// - Throws: `CancellationError` if the awaiting task is cancelled.
  public func nextLoad(of url: String) async throws(CancellationError) -> FakeLoad {
    let url = Self.canonical(url)
    let claim = Deferred<Result<FakeLoad, CancellationError>>()
    let begun: FakeLoad? = state.change { state in
      if let load = state.unclaimed[url]?.first {
        state.unclaimed[url]?.removeFirst()
        return load
      }
      state.claims[url, default: []].append(claim)
      return nil
    }
    if let begun { return begun }
    let result = await withTaskCancellationHandler {
      await claim.value()
    } onCancel: {
      claim.resolve(.failure(CancellationError()))
    }
    return try result.get()
  }

  /// Waits, without a clock and without blocking a thread, until the counts satisfy `condition`.
  ///
  /// Returns early if the awaiting task is cancelled, as by a test's time limit.
  public func wait(until condition: @escaping @Sendable (Counts) -> Bool) async {
    await state.wait { condition($0.counts) }
  }

  // MARK: What a pipeline does

  /// Starts a load, or first its hook before sending, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let (handle, hooks) = (FakeLoadHandle(request.priority), sink.hooks)
    guard let willSend = hooks.willSend else {
      begin(request, sink, hooks, handle)
      return handle
    }
    state.change { $0.counts.preparing += 1 }
    handle.prepare { [state] in
      state.change { shared in
        shared.counts.preparing -= 1
        shared.counts.cancelled += 1
      }
      // The caller may hold a lock that the sink needs.
      Task { sink.finish(HTTPError(.cancelled, url: request.url.string, "was cancelled")) }
    }
    let preparation = Task { [self] in
      var changed = request
      do {
        try await willSend(&changed)
      } catch {
        guard handle.endPreparation() else { return }
        state.change { $0.counts.preparing -= 1 }
        let detail = "the hook before sending threw: \(error)"
        return sink.finish(HTTPError(.preparationFailed, url: request.url.string, cause: error, detail))
      }
      guard handle.endPreparation() else { return }
      state.change { $0.counts.preparing -= 1 }
      changed.priority = handle.priority
      begin(changed, sink, hooks, handle)
    }
    handle.attach(preparation)
    return handle
  }

  /// Returns `true`: the loader connects to nothing.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { true }

  private func begin(
    _ request: HTTPRequest,
    _ sink: any LoadSink,
    _ hooks: LoadHooks,
    _ handle: FakeLoadHandle,
    answerCount: Int = 0,
  ) {
    let url = request.url.string
    if let objection = request.objection {
      // A real loader tells from a thread of its own.
      Task { sink.finish(HTTPError(.invalidRequest, url: url, objection)) }
      return
    }
    // Before a test can take the load and send.
    if answerCount == 0 { sink.begin() }
    let (load, answer) = state.change { [state, weak self] shared in
      let number = shared.counts.loads
      let load = FakeLoad(request, sink: sink, hooks: hooks, answerCount: answerCount) {
        [weak state, weak self] event in
        if case .answered(let fields) = event {
          var next = request
          next.headers.replace(with: fields)
          self?.begin(next, sink, hooks, handle, answerCount: answerCount + 1)
          return
        }
        state?.change { shared in
          switch event {
          case .cancelled: shared.counts.cancelled += 1
          case .ended:
            shared.running[number] = nil
            shared.counts.running -= 1
          case .answered: break
          }
        }
      }
      shared.requests.append(request)
      shared.running[number] = load
      shared.counts.loads += 1
      shared.counts.running += 1
      shared.counts.mostRunning = max(shared.counts.mostRunning, shared.counts.running)
      if !Self.give(load, to: &shared.claims[url]) { shared.unclaimed[url, default: []].append(load) }
      return (load, shared.answers[url] ?? shared.answers["*"])
    }
    handle.take(load)
    if let answer {
      Task { load.respond(with: answer(request)) }
    }
  }

  /// Returns `true` if a test was waiting that has not been cancelled meanwhile.
  private static func give(
    _ load: FakeLoad,
    to claims: inout [Deferred<Result<FakeLoad, CancellationError>>]?,
  ) -> Bool {
    while let claim = claims?.first {
      claims?.removeFirst()
      if claim.resolve(.success(load)) { return true }
    }
    return false
  }

  private static func canonical(_ url: String) -> String { (try? HTTPURL(url))?.string ?? url }
}

/// A response of a ``FakeLoader``, given in advance.
public struct FakeResponse: Sendable, Hashable {
  /// The status.
  ///
  /// Defaults to 200.
  public var status: Int
  /// The header fields.
  ///
  /// Defaults to none.
  public var headers: HTTPFields
  /// The body.
  ///
  /// Defaults to an empty one.
  public var body: Data
  /// The error after the body, or instead of a response if the body is empty.
  ///
  /// Defaults to `nil`: success.
  public var error: HTTPError.Code?

  /// Creates a response.
  public init(
    status: Int = 200,
    headers: HTTPFields = [:],
    body: Data = Data(),
    error: HTTPError.Code? = nil,
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.error = error
  }
}
