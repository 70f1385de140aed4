import Synchronization
import UmbrellaForTests

/// A gate that tasks wait at without blocking, and threads by blocking.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let semaphore = DispatchSemaphore(value: 0)

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
    semaphore.signal()
  }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Waits on a thread that may block.
  func block() {
    semaphore.wait()
    semaphore.signal()
  }
}

/// A delegate that writes down its calls.
final class Recorder: NSObject, URLSessionDataDelegate {
  struct Hooks: Sendable {
    var redirect: (@Sendable (URLRequest) -> URLRequest?)?
    var challenge: (@Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?))?
    var response: (@Sendable (URLSessionTask) -> URLSession.ResponseDisposition?)?
    var data: (@Sendable (URLSessionTask, Data) -> Void)?
    var complete: (@Sendable (URLSessionTask) -> Void)?
  }

  private struct State {
    var events: [String] = []
    var bodies: [Int: Data] = [:]
    var metrics: [Int: URLSessionTaskMetrics] = [:]
    var done: [Int: Gate] = [:]
    var completions: [Int: Int] = [:]
  }

  let hooks: Hooks
  let invalid = Gate()
  let waiting = Gate()
  private let state = Mutex(State())

  init(_ hooks: Hooks = Hooks()) { self.hooks = hooks }

  var events: [String] { state.withLock { $0.events } }
  func body(_ task: URLSessionTask) -> String {
    state.withLock { String(decoding: $0.bodies[task.taskIdentifier] ?? Data(), as: UTF8.self) }
  }
  func metrics(_ task: URLSessionTask) -> URLSessionTaskMetrics? {
    state.withLock { $0.metrics[task.taskIdentifier] }
  }
  func completions(_ task: URLSessionTask) -> Int { state.withLock { $0.completions[task.taskIdentifier] ?? 0 } }

  /// Waits until the task completed.
  func end(of task: URLSessionTask) async {
    await gate(task).pass()
  }

  private func gate(_ task: URLSessionTask) -> Gate {
    state.withLock { state in
      let gate = state.done[task.taskIdentifier] ?? Gate()
      state.done[task.taskIdentifier] = gate
      return gate
    }
  }

  private func note(_ event: String) { state.withLock { $0.events.append(event) } }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    note("invalid")
    invalid.open()
  }

  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    note("waiting")
    waiting.open()
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void,
  ) {
    note("redirect \(response.statusCode)")
    completionHandler(hooks.redirect.map { $0(request) } ?? request)
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void,
  ) {
    note("challenge \(challenge.previousFailureCount)")
    let (disposition, credential) = hooks.challenge?(challenge) ?? (.performDefaultHandling, nil)
    completionHandler(disposition, credential)
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void,
  ) {
    note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
    guard let hook = hooks.response else { return completionHandler(.allow) }
    if let disposition = hook(dataTask) { completionHandler(disposition) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { $0.bodies[dataTask.taskIdentifier, default: Data()] += data }
    hooks.data?(dataTask, data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    state.withLock { $0.metrics[task.taskIdentifier] = metrics }
    note("metrics")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    note("complete")
    state.withLock { $0.completions[task.taskIdentifier, default: 0] += 1 }
    hooks.complete?(task)
    gate(task).open()
  }
}

/// A server, a session and its delegate for one test.
struct Bench {
  let server: LoopbackServer
  let recorder: Recorder
  let session: URLSession

  init(
    _ server: LoopbackServer,
    _ hooks: Recorder.Hooks = Recorder.Hooks(),
    _ configure: (URLSessionConfiguration) -> Void = { _ in },
  ) {
    self.server = server
    recorder = Recorder(hooks)
    let configuration = URLSessionConfiguration.ephemeral
    configure(configuration)
    session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
  }

  func task(_ path: String = "/", _ change: (inout URLRequest) -> Void = { _ in }) throws -> URLSessionDataTask {
    var request = URLRequest(url: try server.url(path))
    change(&request)
    return session.dataTask(with: request)
  }

  /// Loads to the end.
  @discardableResult
  func load(
    _ path: String = "/",
    _ change: (inout URLRequest) -> Void = { _ in },
  ) async throws -> URLSessionDataTask {
    let task = try task(path, change)
    task.resume()
    await recorder.end(of: task)
    return task
  }

  /// Ends the session and then the server.
  func end() async {
    session.invalidateAndCancel()
    await recorder.invalid.pass()
    server.stop()
  }
}

extension URLSessionTask {
  var code: URLError.Code? { (error as? URLError)?.code }
  var http: HTTPURLResponse? { response as? HTTPURLResponse }
}
