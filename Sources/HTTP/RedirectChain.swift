/// The redirects of a load, with the request of the current hop.
struct RedirectChain: Sendable {
  /// The chain of the next request, or `nil` if the response is to be delivered.
  typealias Next = Result<RedirectChain?, HTTPError>

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
  /// A Boolean value that indicates whether no response has arrived yet.
  var isFirst: Bool { count == 0 && answerCount == 0 && !isUndecoded }
  /// The redirects so far, and the uptimes of their arrival.
  private var hops: [(status: Int, headers: HTTPFields, arrived: Duration)] = []
  /// The requested URL, for messages.
  private let asked: String

  var url: HTTPURL { request.url }
  /// The number of challenges that a hook was asked to answer.
  private(set) var answerCount = 0
  /// A Boolean value that indicates whether bodies with a content coding are decoded: the request may be sent again, and
  /// asks for no range.
  var decodesBodies: Bool { !isUndecoded && request.isIdempotent && request.headers["Range"] == nil }
  private var isUndecoded = false

  /// Creates a chain that begins with a request.
  init(_ request: HTTPRequest) { (self.request, asked) = (request, request.url.string) }

  /// Returns `true` if the response is a redirect to follow.
  func isToFollow(_ head: HTTPResponse) -> Bool {
    [301, 302, 303, 307, 308].contains(head.status) && request.redirectPolicy.limit != nil
      && head.headers["Location"] != nil
  }

  /// Returns `true` if the response is a challenge that a hook may answer.
  func isToAnswer(_ head: HTTPResponse, _ hooks: LoadHooks) -> Bool {
    head.status == 401 && hooks.challenge != nil && answerCount < 2
  }

  /// Returns the error of a request that must not be sent.
  func objection(by addressGuard: AddressGuard?) -> HTTPError? {
    if let objection = request.objection { return error(.invalidRequest, objection) }
    return addressGuard?.objection(to: url).map { error(.addressRefused, $0) }
  }

  /// Returns the header fields to send, with the cookies of a jar unless they contain some.
  func headers(with cookies: CookieJar?) -> HTTPFields {
    guard request.headers["Cookie"] == nil, let cookie = cookies?.header(for: url) else { return request.headers }
    var fields = request.headers
    fields["Cookie"] = cookie
    return fields
  }

  /// Returns the chain that asks once more without decoding, if a response calls its coding by a name that is none, such
  /// as `utf-8`.
  func undecoded(_ head: HTTPResponse) -> RedirectChain? {
    let known = ["gzip", "x-gzip", "deflate", "br", "zstd"]
    guard decodesBodies, !head.headers.contentCodings.allSatisfy(known.contains) else { return nil }
    var next = self
    next.isUndecoded = true
    return next
  }

  /// Returns the error of a response that must not be delivered.
  func objection(to head: HTTPResponse) -> HTTPError? {
    if let length = head.announcedLength(of: request.method), length > request.maxResponseBytes {
      return error(.tooLarge, "the body has \(length) bytes, more than the limit of \(request.maxResponseBytes)")
    }
    guard head.status == 206, request.headers["Range"] == nil else { return nil }
    return error(.protocolError, "the server sent a partial response (206) without a range request")
  }

  /// Returns the chain with the request as ``LoadHooks/willSend`` changes it.
  func prepared(by hooks: LoadHooks) async -> Next {
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
  func answered(_ head: HTTPResponse, by hooks: LoadHooks) async -> Next {
    var next = self
    next.answerCount += 1
    do {
      let challenge = HTTPChallenge(response: head, sent: request.headers, previousAnswers: answerCount)
      guard let answer = try await hooks.challenge?(challenge) else { return .success(nil) }
      next.request.headers.replace(with: answer)
      return .success(next)
    } catch let cause {
      return .failure(error(.preparationFailed, cause: cause, "the hook for challenges threw: \(cause)"))
    }
  }

  /// Returns the redirects on the way to a response whose head arrived at `now`.
  func redirects(at now: Duration) -> [HTTPRedirect] {
    hops.map { HTTPRedirect(status: $0.status, headers: $0.headers, elapsed: max(.zero, now - $0.arrived)) }
  }

  /// Returns the chain that goes on at the target of a redirect that arrived at `now`, an uptime, or the error if it must
  /// not be followed, to which guard and hooks may object.
  func followed(_ head: HTTPResponse, _ addressGuard: AddressGuard?, _ hooks: LoadHooks, at now: Duration) -> Next {
    let location = head.headers.values(for: "Location").first ?? ""
    let target: HTTPURL
    do throws(HTTPError) {
      target = try url.resolving(location)
    } catch let reason {
      return .failure(error(.redirectRefused, "redirected to \(location): \(reason.detail)"))
    }
    guard target.isSecure || !url.isSecure else {
      return .failure(error(.redirectRefused, "redirected from https to http, \(target.string)"))
    }
    guard let limit = request.redirectPolicy.limit, count < limit else {
      return .failure(error(.tooManyRedirects, "redirected more than \(request.redirectPolicy.limit ?? 0) times"))
    }
    if let objection = addressGuard?.objection(to: target) ?? hooks.redirectObjection?(target) {
      return .failure(error(.addressRefused, "redirected to \(target.string): \(objection)"))
    }
    var next = self
    if turnsIntoGet(head.status) {
      next.request.method = .get
      next.request.body = nil
      for name in Self.bodyFields { next.request.headers.remove(name) }
    }
    if target.origin != url.origin {
      let safe = next.request.hasBody ? Self.safeFields.union(Self.bodyFields) : Self.safeFields
      next.request.headers = next.request.headers.filter { safe.contains($0.name.lowercased()) }
    }
    next.request.url = target
    next.hops.append((head.status, head.headers, now))
    return .success(next)
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
