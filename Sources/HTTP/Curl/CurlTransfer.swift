#if canImport(CVitrineCurl)
import CVitrineCurl
import VitrineRuntime

/// One load, from the queue over its redirects to its end; also the handle that its starter keeps.
final class CurlTransfer: LoadHandle, @unchecked Sendable {
  // Sendable: `requestedPriority` has a lock; everything that changes belongs to the engine's thread once the
  // transfer has been posted, and to the starting thread before.

  /// What is asked for, as it was given or as a hook has changed it.
  private(set) var request: HTTPRequest
  let hooks: LoadHooks
  private let asked: String
  private let cookies: CookieJar?
  private let mailbox: CurlMailbox
  private let hookQueue: WorkQueue
  /// What the hooks are told, and behind it the sink; there once there is something to tell.
  private var hookCalls: HookCalls?
  private let requestedPriority: Lock<Priority>
  private(set) var sink: (any LoadSink)?

  /// The hop that is under way.
  var chain: RedirectChain
  /// The place in the queue, kept over redirects.
  var place: Int?
  /// When it was queued, for this hop.
  var queued = Duration.zero
  /// The host whose turn for ``LoadHooks/willSend`` it holds, until it leaves the queue.
  var preparationHost: String?
  /// Whether it may be sent as it is: there is no such hook, or it has been asked.
  private(set) var isPrepared: Bool
  /// The hook that is being asked.
  private var question: Task<Void, Never>?
  private var answerCount = 0
  /// Whether the response that came with a challenge is being delivered, since nobody has answered it.
  private(set) var isDeliveringHeld = false
  /// The body that came with a challenge.
  private var held = Data()
  var handle: CurlHandle?

  /// When it left the queue first, and when bytes came last, in the system's uptime.
  var started: Duration?
  var lastProgress = Duration.zero
  /// When the hop that is under way began.
  private(set) var hopStarted = Duration.zero

  private var hasBegun = false
  private(set) var head = HTTPResponse?.none
  private(set) var isHeadDelivered = false
  private var headerBytes = 0
  private var received = 0
  /// How much of the request's body had left when that was last looked at.
  private var uploaded = 0
  private(set) var isPaused = false
  /// Whether libcurl was told to hold what it has, and must be told to go on.
  private var isHeld = false
  /// Why the transfer was broken off by us, in a callback.
  private(set) var failure: HTTPError?

  init(
    _ request: HTTPRequest,
    sink: any LoadSink,
    cookies: CookieJar?,
    mailbox: CurlMailbox,
    hookQueue: WorkQueue,
  ) {
    self.request = request
    self.hookQueue = hookQueue
    self.cookies = cookies
    asked = request.url.string
    hooks = sink.hooks
    isPrepared = hooks.willSend == nil
    self.sink = sink
    self.mailbox = mailbox
    chain = RedirectChain(request)
    requestedPriority = Lock(request.priority)
  }

  // MARK: - For the starter

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

  /// Where the hop that is under way goes.
  var url: HTTPURL { chain.url }

  var hasEnded: Bool { sink == nil }

  /// Tells the sink, once.
  func end(_ error: HTTPError?) {
    guard let sink else { return }
    self.sink = nil
    if let hookCalls {
      hookCalls.add { sink.finish(error) }
    } else {
      sink.finish(error)
    }
    // Its handlers of cancellation are the hook's, and run within the call.
    if let question = question.take() { callsOfHooks.add { question.cancel() } }
  }

  /// Tells the hook what a transfer took.
  func tell(_ metrics: LoadMetrics) {
    guard let didTransfer = hooks.didTransfer else { return }
    guard !hooks.measuresInPlace else { return didTransfer(metrics) }
    callsOfHooks.add { didTransfer(metrics) }
  }

  private var callsOfHooks: HookCalls {
    let calls = hookCalls ?? HookCalls(on: hookQueue)
    hookCalls = calls
    return calls
  }

  func error(_ code: HTTPError.Code, timeout: HTTPError.Timeout? = nil, _ detail: String) -> HTTPError {
    chain.error(code, timeout: timeout, detail)
  }

  /// Says why the request cannot be sent at all; nil where it can.
  func objection(_ addressGuard: AddressGuard?) -> HTTPError? {
    if let objection = chain.request.objection { return error(.invalidRequest, objection) }
    return addressGuard?.objection(to: url).map { error(.addressRefused, $0) }
  }

  /// Forgets the last hop's response before the next one.
  func beginHop(now: Duration) {
    if started == nil { started = now }
    if !hasBegun {
      hasBegun = true
      sink?.begin()
    }
    lastProgress = now
    hopStarted = now
    head = nil
    headerBytes = 0
    received = 0
    uploaded = 0
    failure = nil
  }

  /// Takes note of what has left of the request's body since the last look, and says whether that was something.
  ///
  /// Nothing calls when it leaves, so a long one would look like silence.
  func noteUpload(now: Duration) -> Bool {
    guard chain.request.hasBody, let sent = handle?.uploadedCount, sent > uploaded else { return false }
    (uploaded, lastProgress) = (sent, now)
    return true
  }

  func resumeIfPaused() {
    guard isPaused else { return }
    isPaused = false
    guard isHeld else { return }
    isHeld = false
    handle?.resume()
  }

  /// Whether the response only points elsewhere, and we go there.
  var isRedirectToFollow: Bool {
    head.map { chain.isToFollow($0) } ?? false
  }

  /// Whether the response asks who we are, and there is someone to say so.
  var isChallengeToMeet: Bool { head?.status == 401 && hooks.challenge != nil && answerCount < 2 }

  /// Whether all of the response came, or as much as is kept of it; half of one is a failure like any other.
  func isChallengeWhole(_ result: CURLcode) -> Bool {
    result == CURLE_OK || received > 1 << 16
  }

  /// The header fields of the next hop.
  var fieldsToSend: HTTPFields {
    guard chain.headers["Cookie"] == nil, let cookie = cookies?.header(for: url) else { return chain.headers }
    var fields = chain.headers
    fields["Cookie"] = cookie
    return fields
  }

  // MARK: Hooks

  /// Has the hook change the request; the answer comes by mail.
  func prepare(now: Duration) {
    started = now
    question = Task { [request, hooks, mailbox] in
      var changed = request
      do {
        try await hooks.willSend?(&changed)
        mailbox.post(.prepared(self, .success(changed)))
      } catch {
        let failure = HTTPError(.preparationFailed, url: request.url.string, "the hook before sending threw: \(error)")
        mailbox.post(.prepared(self, .failure(failure)))
      }
    }
  }

  /// Takes the request as the hook has changed it.
  func adopt(_ changed: HTTPRequest) {
    question = nil
    isPrepared = true
    request = changed
    chain = RedirectChain(changed, asked: asked)
  }

  /// Has the hook answer the challenge; the answer comes by mail.
  func askForAnswer() {
    guard let head else { return }
    let challenge = HTTPChallenge(response: head, sent: chain.headers, previousAnswers: answerCount)
    answerCount += 1
    question = Task { [asked, hooks, mailbox] in
      do {
        mailbox.post(.answered(self, .success(try await hooks.challenge?(challenge))))
      } catch {
        let failure = HTTPError(.preparationFailed, url: asked, "the hook for challenges threw: \(error)")
        mailbox.post(.answered(self, .failure(failure)))
      }
    }
  }

  /// Takes the answer to a challenge.
  func adopt(_ answer: HTTPFields) {
    question = nil
    held = Data()
    chain.headers.replace(with: answer)
  }

  /// Delivers the response that came with a challenge which nobody answers; to be called again after a pause.
  ///
  /// - Returns: Whether that was all.
  func deliverHeld() -> Bool {
    isDeliveringHeld = true
    if !isHeadDelivered, let head {
      isHeadDelivered = true
      guard follow(sink?.receive(head) ?? .stop) else { return true }
    }
    guard !isPaused else { return false }
    if !held.isEmpty {
      let body = held
      held = Data()
      guard follow(sink?.receive(body) ?? .stop) else { return true }
    }
    return !isPaused
  }

  // MARK: What comes

  /// Takes a line of the head; false to break off.
  func receive(headerLine line: UnsafeRawBufferPointer, now: Duration) -> Bool {
    lastProgress = now
    // Trailers come after the body, and say nothing that anyone asked for.
    guard !isHeadDelivered else { return true }
    headerBytes += line.count
    // libcurl limits a line to 100 KB, and before 8.3 not their sum.
    guard headerBytes <= 300_000 else { return fail(.protocolError, "the head of the response is longer than 300 KB") }
    var length = line.count
    while length > 0, unsafe line[length - 1] == 13 || line[length - 1] == 10 { length -= 1 }
    let text = unsafe String(decoding: line[..<length], as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) } ?? 0
      head = HTTPResponse(status: status, url: url, redirectCount: chain.count)
    } else if text.isEmpty {
      return receiveEndOfHead()
    } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
      head?.headers.append(name: String(text[..<colon].trimmed), value: String(text[colon...].dropFirst().trimmed))
    }
    return true
  }

  private func receiveEndOfHead() -> Bool {
    // Interim responses (1xx) precede the one that counts.
    guard let head, head.status >= 200 else { return true }
    cookies?.store(head.headers.values(for: "Set-Cookie"), from: url)
    guard !isRedirectToFollow, !isChallengeToMeet else { return true }
    if let length = head.announcedLength(of: chain.request.method), length > request.maxResponseBytes {
      return fail(.tooLarge, "the body has \(length) bytes, more than the limit of \(request.maxResponseBytes)")
    }
    if head.status == 206, request.headers["Range"] == nil {
      return fail(.protocolError, "the server answered with a part (206) that nobody asked for")
    }
    isHeadDelivered = true
    return follow(sink?.receive(head) ?? .stop)
  }

  /// What to do with bytes of the body.
  enum Answer {
    case taken
    case hold
    case breakOff
  }

  /// Takes bytes of the body.
  func receive(body bytes: UnsafeRawBufferPointer, now: Duration) -> Answer {
    lastProgress = now
    if isPaused {
      isHeld = true
      return .hold
    }
    received += bytes.count
    if isChallengeToMeet {
      unsafe held.append(contentsOf: bytes.prefix(1 << 16 - held.count))
      return received <= 1 << 16 ? .taken : .breakOff
    }
    if isRedirectToFollow {
      // A short page says where to go, and reading it keeps the connection; a long one is not worth it.
      return received <= 1 << 16 ? .taken : .breakOff
    }
    guard received <= request.maxResponseBytes else {
      _ = fail(.tooLarge, "the body is larger than the limit of \(request.maxResponseBytes) bytes")
      return .breakOff
    }
    guard isHeadDelivered, let sink else { return .breakOff }
    // The bytes live as long as this call, and so does the span.
    let span = unsafe RawSpan(_unsafeBytes: bytes)
    return follow(sink.receive(span)) ? .taken : .breakOff
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
    failure = error(code, detail)
    return false
  }
}
#endif
