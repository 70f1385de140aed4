import CVitrineCurl
import VitrineRuntime

/// A load, from the queue over its redirects to its end, and the handle for its caller.
final class CurlTransfer: LoadHandle, @unchecked Sendable {
  // Sendable: `requestedPriority` has a lock; all other state belongs to the engine's thread once the transfer was
  // posted, and before that to the starting thread.

  let hooks: LoadHooks
  let cookies: CookieJar?
  private let mailbox: CurlMailbox
  private let hookQueue: WorkQueue
  private let requestedPriority: Lock<Priority>
  private(set) var sink: (any LoadSink)?

  /// The current hop.
  private(set) var chain: RedirectChain
  /// The position in the queue, kept over redirects.
  var place: AdmissionQueue<ObjectIdentifier>.Place?
  /// The time at which this hop was queued.
  var queued = Duration.zero
  /// The host whose slot for ``LoadHooks/willSend`` the load holds until it leaves the queue.
  var preparationHost: String?
  /// Set if the request is ready to be sent: it has no ``LoadHooks/willSend``, or the hook has returned.
  private(set) var isPrepared: Bool
  /// The task of the running hook.
  private var question: Task<Void, Never>?
  /// Set while the response of an unanswered challenge is being delivered.
  private(set) var isDeliveringHeld = false
  var handle: CurlHandle?

  /// The state of a hop, up to the end of its response.
  struct Hop {
    /// The system uptimes at which the hop began, and at which the last bytes arrived.
    let started: Duration
    var lastProgress: Duration
    fileprivate(set) var head: HTTPResponse?
    /// The body of a redirect or of a challenge's response.
    fileprivate var held = Data()
    fileprivate var headerBytes = 0
    fileprivate var received = 0
    /// The number of bytes of the request's body that had been sent at the last check.
    fileprivate var uploaded = 0
    /// The beginning of the window in which the rate is measured, and the number of bytes since.
    ///
    /// `nil` before the first byte, since a server may take long to respond.
    fileprivate var rateWindow: (start: Duration, count: Int)?
    /// The reason why a callback aborted the transfer.
    fileprivate(set) var failure: HTTPError?
  }

  var hop = Hop(started: .zero, lastProgress: .zero)
  /// The chain that asks once more, after the head of a response whose body cannot be decoded.
  private(set) var undecoded: RedirectChain?
  /// The system uptime at which the load first left the queue.
  var started: Duration?
  private(set) var isHeadDelivered = false
  private(set) var isPaused = false
  /// Set if libcurl holds data and must be resumed.
  private var isHeld = false

  init(_ request: HTTPRequest, sink: any LoadSink, cookies: CookieJar?, _ mailbox: CurlMailbox, _ hookQueue: WorkQueue)
  {
    (self.sink, self.cookies) = (sink, cookies)
    (self.mailbox, self.hookQueue) = (mailbox, hookQueue)
    hooks = sink.hooks
    isPrepared = hooks.willSend == nil
    chain = RedirectChain(request)
    requestedPriority = Lock(request.priority)
  }

  // MARK: - For the caller

  var priority: Priority {
    get { requestedPriority.withLock { $0 } }
    set {
      requestedPriority.withLock { $0 = newValue }
      mailbox.post(.reprioritize(self))
    }
  }

  func cancel() {
    mailbox.post(.cancel(self))
  }

  func resume() {
    mailbox.post(.resume(self))
  }

  // MARK: - For the engine

  /// The request of the current hop.
  var request: HTTPRequest { chain.request }
  /// The URL of the current hop.
  var url: HTTPURL { chain.url }

  /// Ends the load and calls the sink, once.
  func end(_ error: HTTPError?) {
    guard let sink else { return }
    self.sink = nil
    sink.finish(error)
    // Cancelling runs the hook's cancellation handlers, which may block.
    if let question = question.take() { hookQueue.add { question.cancel() } }
  }

  /// Ends a load that the closed mailbox did not accept.
  func refuse() {
    if let failure = mailbox.failure {
      end(chain.error(.preparationFailed, "libcurl cannot be used: \(failure)"))
    } else {
      end(chain.error(.cancelled, "the loader was released"))
    }
  }

  /// Resets the state of the last response before the next hop.
  func beginHop(now: Duration) {
    if started == nil { started = now }
    if chain.isFirst { sink?.begin() }
    hop = Hop(started: now, lastProgress: now)
    undecoded = nil
  }

  /// Returns the end of the window in which the rate is measured.
  func endOfRateWindow(now: Duration) -> Duration? {
    let timeouts = request.timeouts
    guard timeouts.minimumRate > 0 else { return nil }
    // A paused transfer is slow because of its sink.
    return (isPaused ? now : hop.rateWindow?.start ?? now) + timeouts.minimumRateWindow
  }

  /// Returns whether enough bytes arrived in the window, and then begins the next one.
  func passesRate(now: Duration) -> Bool {
    guard let rateWindow = hop.rateWindow else { return true }
    let needed = Double(request.timeouts.minimumRate) * (request.timeouts.minimumRateWindow / .seconds(1))
    guard Double(rateWindow.count) >= needed else { return false }
    hop.rateWindow = (now, 0)
    return true
  }

  private func noteReceived(_ count: Int, now: Duration) {
    hop.lastProgress = now
    hop.rateWindow = (hop.rateWindow?.start ?? now, (hop.rateWindow?.count ?? 0) + count)
  }

  /// Counts newly sent bytes of the request's body as progress, and returns whether there were any.
  ///
  /// libcurl reports no progress of an upload by itself, so a long one would look idle.
  func noteUpload(now: Duration) -> Bool {
    guard chain.request.hasBody, let sent = handle?.uploadedCount, sent > hop.uploaded else { return false }
    (hop.uploaded, hop.lastProgress) = (sent, now)
    return true
  }

  /// Ends a pause, with which time-outs begin anew.
  func resume(now: Duration) {
    hop.lastProgress = now
    if hop.rateWindow != nil { hop.rateWindow = (now, 0) }
    let wasHeld = isHeld
    (isPaused, isHeld) = (false, false)
    // libcurl delivers the held bytes within this call.
    if wasHeld { handle?.resume() }
  }

  /// Returns `true` if the response is a challenge that a hook may answer, and complete, up to the length that is kept.
  ///
  /// A partial response is an ordinary failure.
  func isWholeChallenge(_ head: HTTPResponse, _ result: CURLcode) -> Bool {
    chain.isToAnswer(head, hooks) && (result == CURLE_OK || hop.received > 1 << 16)
  }

  // MARK: Hooks

  /// Runs the hook that changes the request, and posts the result.
  func prepare(now: Duration) {
    started = now
    question = Task { [chain, hooks, mailbox] in mailbox.post(.hookEnded(self, await chain.prepared(by: hooks))) }
  }

  /// Runs the hook that answers a challenge, and posts the result.
  func askForAnswer(_ head: HTTPResponse) {
    question = Task { [chain, hooks, mailbox] in
      mailbox.post(.hookEnded(self, await chain.answered(head, by: hooks)))
    }
  }

  /// Adopts the next request, after a hook or a redirect.
  func adopt(_ next: RedirectChain) {
    question = nil
    isPrepared = true
    chain = next
  }

  /// Delivers the response of an unanswered challenge.
  ///
  /// Call it again after a pause.
  ///
  /// - Returns: `true` once the response is delivered.
  func deliverHeld() -> Bool {
    isDeliveringHeld = true
    if !isHeadDelivered, let head = hop.head {
      isHeadDelivered = true
      guard follow(sink?.receive(head) ?? .stop) else { return true }
    }
    guard !isPaused else { return false }
    if !hop.held.isEmpty {
      let body = hop.held
      hop.held = Data()
      guard follow(sink?.receive(body) ?? .stop) else { return true }
    }
    return !isPaused
  }

  // MARK: Response

  /// Receives a line of the head, or returns `false` to abort.
  func receive(headerLine line: UnsafeRawBufferPointer, now: Duration) -> Bool {
    noteReceived(line.count, now: now)
    // Trailers after the body are ignored.
    guard !isHeadDelivered else { return true }
    hop.headerBytes += line.count
    // libcurl limits a line to 100 KB, but before 8.3 not the sum of all lines.
    guard hop.headerBytes <= 300_000 else { return fail(.protocolError, "the response's head is longer than 300 KB") }
    var length = line.count
    while length > 0, unsafe line[length - 1] == 13 || line[length - 1] == 10 { length -= 1 }
    let text = unsafe String(decoding: line[..<length], as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) } ?? 0
      hop.head = HTTPResponse(status: status, url: url)
    } else if text.isEmpty {
      return receiveEndOfHead(now: now)
    } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
      hop.head?.headers.append(name: String(text[..<colon].trimmed), value: String(text[colon...].dropFirst().trimmed))
    }
    return true
  }

  private func receiveEndOfHead(now: Duration) -> Bool {
    // Interim responses (1xx) precede the final one.
    guard var head = hop.head, head.status >= 200 else { return true }
    head.redirects = chain.redirects(at: now)
    hop.head = head
    cookies?.store(head.headers.values(for: "Set-Cookie"), from: url)
    guard !chain.isToFollow(head), !chain.isToAnswer(head, hooks) else { return true }
    undecoded = chain.undecoded(head)
    guard undecoded == nil else { return false }
    if let objection = chain.objection(to: head) {
      hop.failure = objection
      return false
    }
    isHeadDelivered = true
    return follow(sink?.receive(head) ?? .stop)
  }

  /// Receives bytes of the body, and returns whether they were taken: `pause` refuses them for now, and `stop` aborts.
  func receive(body bytes: UnsafeRawBufferPointer, now: Duration) -> LoadFlow {
    noteReceived(bytes.count, now: now)
    if isPaused {
      isHeld = true
      return .pause
    }
    hop.received += bytes.count
    guard isHeadDelivered else {
      // Reading the short body of a redirect or a challenge keeps the connection. A long one costs more than a new
      // connection.
      unsafe hop.held.append(contentsOf: bytes.prefix(1 << 16 - hop.held.count))
      return hop.received <= 1 << 16 ? .proceed : .stop
    }
    guard hop.received <= request.maxResponseBytes else {
      _ = fail(.tooLarge, "the body is larger than the limit of \(request.maxResponseBytes) bytes")
      return .stop
    }
    // The bytes live as long as this call, and so does the span.
    let span = unsafe RawSpan(_unsafeBytes: bytes)
    return follow(sink?.receive(span) ?? .stop) ? .proceed : .stop
  }

  private func follow(_ flow: LoadFlow) -> Bool {
    switch flow {
    case .proceed: return true
    case .pause:
      isPaused = true
      return true
    case .stop: return fail(.cancelled, "was cancelled")
    }
  }

  private func fail(_ code: HTTPError.Code, _ detail: String) -> Bool {
    hop.failure = chain.error(code, detail)
    return false
  }
}
