public import VitrineRuntime

/// A request to a server, with the limits of its load.
public struct HTTPRequest: Sendable, Hashable {
  /// The URL of the resource.
  public var url: HTTPURL
  /// The method.
  ///
  /// Defaults to `GET`.
  public var method: HTTPMethod
  /// The header fields.
  ///
  /// A redirect to another origin keeps only fields that contain no secret.
  public var headers: HTTPFields
  /// The body to send.
  ///
  /// Defaults to none. The loader sends its length: a request with `Content-Length` or `Transfer-Encoding` in
  /// ``headers`` is refused with ``HTTPError/Code/invalidRequest``, since a wrong one would let the body be read as the
  /// next request (RFC 9112, section 11.2). Set `Content-Type` yourself. A `HEAD` request has no body, and on Apple's
  /// systems neither has a `GET`.
  public var body: Data?
  /// The priority in the loader's queue.
  ///
  /// Defaults to `Priority.normal`.
  public var priority: Priority
  /// The maximum number of bytes of the response's body, counted as they arrive.
  ///
  /// Defaults to 100 MB.
  public var maxResponseBytes = 100_000_000
  /// The time-outs.
  public var timeouts = HTTPTimeouts()
  /// The handling of redirects.
  ///
  /// Defaults to following up to 10.
  public var redirectPolicy = RedirectPolicy.follow(limit: 10)
  /// The value that ``isIdempotent`` was set to, if any.
  package var idempotence: Bool?

  /// A Boolean value that indicates whether sending the request twice has the effect of sending it once.
  ///
  /// Defaults to ``HTTPMethod/isIdempotent`` of the ``method``. Idempotent requests are the only ones that are resent
  /// automatically: by a ``RetryingLoader``, or when a reused connection turns out to be closed.
  public var isIdempotent: Bool {
    get { idempotence ?? method.isIdempotent }
    set { idempotence = newValue }
  }

  /// Creates a request.
  public init(
    _ url: HTTPURL,
    method: HTTPMethod = .get,
    headers: HTTPFields = [:],
    body: Data? = nil,
    priority: Priority = .normal,
  ) {
    (self.url, self.method, self.headers, self.body, self.priority) = (url, method, headers, body, priority)
  }

  /// Creates a `GET` request from a string.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL``.
  public init(_ string: String, headers: HTTPFields = [:]) throws(HTTPError) {
    self.init(try HTTPURL(string), headers: headers)
  }
}

/// The time-outs of a load, none of which runs while it is queued.
public struct HTTPTimeouts: Sendable, Hashable {
  /// The limit for a connection, from the name look-up to the end of the TLS handshake.
  ///
  /// Defaults to 10 seconds.
  public var connect = Duration.seconds(10)
  /// The limit for the next byte on a connection.
  ///
  /// Defaults to 30 seconds.
  public var idle = Duration.seconds(30)
  /// The minimum rate in bytes a second, of head and body.
  ///
  /// Defaults to 1,024; 0 disables it. A load whose average over 30 seconds is lower ends with
  /// ``HTTPError/Timeout/minimumRate``, so that a server cannot hold a connection with a trickle. A `URLSessionLoader`
  /// does not measure it.
  public var minimumRate = 1024
  /// The time over which the rate is measured, from the first byte on and without pauses.
  ///
  /// Defaults to 30 seconds.
  package var minimumRateWindow = Duration.seconds(30)
  /// The limit for the whole load, with redirects, pauses and ``LoadHooks``.
  ///
  /// Defaults to `nil`, no limit.
  public var total: Duration?

  /// Creates the default time-outs.
  public init() {}
}

/// The handling of redirects.
///
/// Under either policy, a redirect from https to http, or to another scheme, is an error. As in browsers, 301 and 302
/// turn a `POST` into a `GET` without its body, and 303 does so with any method but `HEAD`; 307 and 308 resend method
/// and body, also to another origin.
public struct RedirectPolicy: Sendable, Hashable {
  /// The maximum number of redirects to follow, or `nil` to deliver a redirect like any other response.
  let limit: Int?

  /// Follows up to `limit` redirects.
  ///
  /// A further redirect is an error.
  public static func follow(limit: Int) -> RedirectPolicy {
    RedirectPolicy(limit: max(0, limit))
  }

  /// Delivers the redirect itself.
  public static let deliver = RedirectPolicy(limit: nil)
}

/// A redirect that was followed on the way to a response.
package struct HTTPRedirect: Sendable, Hashable {
  /// The status code, such as 302.
  package var status: Int
  /// The header fields.
  package var headers: HTTPFields = [:]
  /// The time from its arrival to the arrival of the response's head.
  package var elapsed = Duration.zero
}

/// The head of a response.
public struct HTTPResponse: Sendable, Hashable {
  /// The status code, such as 200.
  public var status: Int
  /// The header fields.
  public var headers: HTTPFields
  /// The final URL, after redirects.
  public var url: HTTPURL
  /// The redirects that were followed, the first one first.
  ///
  /// A cache needs them: a response is no fresher under the requested URL than the redirects that lead to it. Defaults
  /// to none.
  package var redirects: [HTTPRedirect] = []

  /// Creates a response, for fakes.
  public init(status: Int, headers: HTTPFields = [:], url: HTTPURL) {
    self.status = status
    self.headers = headers
    self.url = url
  }

  /// The number of redirects.
  package var redirectCount: Int { redirects.count }

  /// The announced length of the body, if there is one; `nil` for a body with a content coding, which loaders decode.
  public var contentLength: Int? {
    guard headers.contentCodings.isEmpty else { return nil }
    return headers["Content-Length"].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
  }

  /// Returns the announced length of the body if a limit applies to it.
  ///
  /// The limit does not apply to error pages, since a refusal would hide the status.
  package func announcedLength(of method: HTTPMethod) -> Int? {
    method == .head || status == 304 || status >= 400 ? nil : contentLength
  }

  /// A Boolean value that indicates whether the status is in 200 to 299.
  public var isSuccess: Bool { (200...299).contains(status) }

  /// Throws unless the status is in 200 to 299.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/badStatus`` for any other status.
  public func requireSuccess() throws(HTTPError) {
    guard !isSuccess else { return }
    throw HTTPError(.badStatus, url: url.string, status: status, "the server answered with status \(status)")
  }
}
