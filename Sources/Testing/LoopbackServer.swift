import VitrineRuntime

/// An HTTP/1.1 server on 127.0.0.1 for tests, which can misbehave on demand.
///
/// ```swift
/// let server = try LoopbackServer()
/// server.route("/cat.jpg", LoopbackResponse(body: cat))
/// server.route("/slow") { exchange in
///   gate.wait()                                  // until the test opens it
///   exchange.respond(LoopbackResponse(body: cat))
/// }
/// // … load server.url("/cat.jpg") …
/// #expect(server.counts.requests == 1)
/// ```
/// Every connection has a thread of its own, so a route may block. The server stops when it is released.
public final class LoopbackServer: Sendable {
  /// A closure that responds to one request; called on the thread of the connection.
  public typealias Route = @Sendable (LoopbackExchange) -> Void

  /// The counts so far.
  public struct Counts: Sendable, Hashable {
    /// The number of accepted connections.
    public var connections = 0
    /// The number of open connections.
    public var openConnections = 0
    /// The number of requests, including those without a response yet.
    public var requests = 0
    /// The number of responses in progress.
    public var running = 0
    /// The largest number of concurrent responses.
    public var mostRunning = 0
  }

  private let state: LoopbackState

  /// Starts a server on a free port.
  ///
  /// Paths without a route get 404.
  ///
  /// - Throws: `POSIXError` if the system refuses a socket or a thread.
  public init() throws {
    state = try LoopbackState()
    guard startThread(named: "loopback", { [state] in state.acceptConnections() }) else { throw POSIXError(.EAGAIN) }
  }

  deinit {
    state.stop()
  }

  /// The port that the server listens on.
  public var port: Int { state.port }

  /// The counts so far.
  public var counts: Counts { state.shared.value.counts }

  /// The requests so far, in order.
  public var requests: [LoopbackRequest] { state.shared.value.requests }

  /// Returns the URL of a path, such as `http://127.0.0.1:40123/cat.jpg`.
  public func url(_ path: String) -> String {
    "http://127.0.0.1:\(port)\(path)"
  }

  /// Sets the route for a path, whatever the query.
  ///
  /// The path `*` stands for all without a route of their own.
  ///
  /// Data that is not HTTP, such as the beginning of TLS, counts as a request with an empty method and path.
  public func route(_ path: String, _ route: @escaping Route) {
    state.shared.change { $0.routes[path] = route }
  }

  /// Sets a fixed response for a path.
  public func route(_ path: String, _ response: LoopbackResponse) {
    route(path) { $0.respond(response) }
  }

  /// Makes a gate at which routes can wait.
  ///
  /// It opens when the server stops.
  public func makeGate() -> LoopbackGate {
    let gate = LoopbackGate()
    let isStopped = state.shared.change { state in
      state.gates.append(gate)
      return state.isStopped
    }
    if isStopped { gate.open() }
    return gate
  }

  /// Waits, without a clock and without blocking a thread, until the counts satisfy `condition`.
  ///
  /// Returns early if the awaiting task is cancelled, as by a test's time limit.
  public func wait(until condition: @escaping @Sendable (Counts) -> Bool) async {
    await state.shared.wait { condition($0.counts) }
  }

  /// Waits until `count` requests have arrived.
  public func wait(forRequests count: Int) async {
    await wait { $0.requests >= count }
  }

  /// Closes the port and every connection, and opens the gates.
  ///
  /// Returns at once; the threads end a moment later.
  public func stop() {
    state.stop()
  }
}

/// A gate that holds routes until a test opens it.
public final class LoopbackGate: Sendable {
  private struct State {
    var permits = 0
    var isOpen = false
  }

  private let monitor = Monitor(State())

  /// Opens the gate for good.
  public func open() {
    monitor.withLock { $0.isOpen = true }
    monitor.broadcast()
  }

  /// Lets `count` waiters pass, now or later, each once.
  public func pass(_ count: Int = 1) {
    monitor.withLock { $0.permits += count }
    monitor.broadcast()
  }

  /// Blocks until there is a permit, and takes it, or until the gate is open.
  public func wait() {
    monitor.wait { state in
      if state.isOpen { return .leave(()) }
      guard state.permits > 0 else { return .wait }
      state.permits -= 1
      return .leave(())
    }
  }
}
