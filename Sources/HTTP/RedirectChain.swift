/// The redirects of a load, with the request of the current hop.
struct RedirectChain: Sendable {
  /// The chain as a hook has changed it, or `nil` if the response is to be delivered.
  typealias HookResult = Result<RedirectChain?, HTTPError>

  /// The fields that are sent to any origin: they contain no secret, and conditional requests must survive a redirect.
  private static let safeFields: Set<String> = [
    "accept", "accept-language", "user-agent", "cache-control",
    "if-none-match", "if-modified-since", "range", "if-range",
  ]

  /// The fields that describe the body; they are sent with it and dropped with it.
  private static let bodyFields: Set<String> = [
    "content-type", "content-encoding", "content-language", "content-location",
  ]

  /// The request of the current hop.
  var request: HTTPRequest
  /// The number of redirects so far.
  var count: Int { hops.count }
  /// The redirects so far, and the uptimes of their arrival.
  private var hops: [(status: Int, headers: HTTPFields, arrived: Duration)] = []
  /// The requested URL, for messages.
  private let asked: String

  var url: HTTPURL { request.url }
  var headers: HTTPFields {
    get { request.headers }
    set { request.headers = newValue }
  }
  /// The number of challenges that a hook was asked to answer.
  private(set) var answerCount = 0
  private var policy: RedirectPolicy { request.redirectPolicy }

  /// Creates a chain that begins with a request.
  init(_ request: HTTPRequest) { (self.request, asked) = (request, request.url.string) }

  /// Returns `true` if the response is a redirect to follow.
  func isToFollow(_ head: HTTPResponse) -> Bool {
    policy.limit != nil && [301, 302, 303, 307, 308].contains(head.status) && head.headers["Location"] != nil
  }

  /// Returns `true` if the response is a challenge that a hook may answer.
  func isToAnswer(_ head: HTTPResponse, _ hooks: LoadHooks) -> Bool {
    head.status == 401 && hooks.challenge != nil && answerCount < 2
  }

  /// Returns the error of a response that must not be delivered.
  func objection(to head: HTTPResponse) -> HTTPError? {
    if let length = head.announcedLength(of: request.method), length > request.maxResponseBytes {
      return error(.tooLarge, "the body has \(length) bytes, more than the limit of \(request.maxResponseBytes)")
    }
    guard head.status == 206, headers["Range"] == nil else { return nil }
    return error(.protocolError, "the server sent a partial response (206) without a range request")
  }

  /// Returns the chain with the request as ``LoadHooks/willSend`` changes it.
  func prepared(by hooks: LoadHooks) async -> HookResult {
    var next = self
    do {
      try await hooks.willSend?(&next.request)
      return .success(next)
    } catch let cause {
      return .failure(error(.preparationFailed, cause: cause, "the hook before sending threw: \(cause)"))
    }
  }

  /// Returns the chain with the fields by which ``LoadHooks/challenge`` answers a response, or `nil` if the response is
  /// to be delivered.
  func answered(_ head: HTTPResponse, by hooks: LoadHooks) async -> HookResult {
    var next = self
    next.answerCount += 1
    do {
      let challenge = HTTPChallenge(response: head, sent: headers, previousAnswers: answerCount)
      guard let answer = try await hooks.challenge?(challenge) else { return .success(nil) }
      next.headers.replace(with: answer)
      return .success(next)
    } catch let cause {
      return .failure(error(.preparationFailed, cause: cause, "the hook for challenges threw: \(cause)"))
    }
  }

  /// Returns the redirects on the way to a response whose head arrived at `now`.
  func redirects(at now: Duration) -> [HTTPRedirect] {
    hops.map { HTTPRedirect(status: $0.status, headers: $0.headers, elapsed: max(.zero, now - $0.arrived)) }
  }

  /// Moves to the target of a redirect that arrived at `now`, an uptime, unless guard or hooks object.
  ///
  /// - Throws: ``HTTPError`` if the redirect must not be followed.
  mutating func follow(
    _ head: HTTPResponse,
    _ addressGuard: AddressGuard?,
    _ hooks: LoadHooks,
    at now: Duration,
  ) throws(HTTPError) {
    let location = head.headers.values(for: "Location").first ?? ""
    let next: HTTPURL
    do throws(HTTPError) {
      next = try url.resolving(location)
    } catch let reason {
      throw error(.redirectRefused, "redirected to \(location): \(reason.detail)")
    }
    guard next.isSecure || !url.isSecure else {
      throw error(.redirectRefused, "redirected from https to http, \(next.string)")
    }
    guard count < policy.limit ?? 0 else {
      throw error(.tooManyRedirects, "redirected more than \(policy.limit ?? 0) times")
    }
    if let objection = addressGuard?.objection(to: next) ?? hooks.redirectObjection?(next) {
      throw error(.addressRefused, "redirected to \(next.string): \(objection)")
    }
    if turnsIntoGet(head.status) {
      request.method = .get
      request.body = nil
      for name in Self.bodyFields { headers.remove(name) }
    }
    if next.origin != url.origin {
      headers.keepOnly(request.hasBody ? Self.safeFields.union(Self.bodyFields) : Self.safeFields)
    }
    request.url = next
    hops.append((head.status, head.headers, now))
  }

  /// Returns whether a redirect of this status is followed with a `GET` without a body (Fetch standard, 4.4).
  private func turnsIntoGet(_ status: Int) -> Bool {
    switch status {
    case 301, 302: request.method == .post
    case 303: request.method != .head
    default: false
    }
  }

  /// Returns an error that names the requested URL, and the current one after redirects.
  func error(
    _ code: HTTPError.Code,
    timeout: HTTPError.Timeout? = nil,
    cause: (any Error)? = nil,
    _ detail: String,
  ) -> HTTPError {
    let detour = count > 0 && code != .cancelled ? " (after \(count) redirects, at \(url.string))" : ""
    return HTTPError(code, url: asked, timeout: timeout, cause: cause, detail + detour)
  }
}
