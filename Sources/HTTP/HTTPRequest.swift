public import VitrineRuntime

/// A request to a server, and the bounds of its load.
public struct HTTPRequest: Sendable, Hashable {
  /// The URL of the resource.
  public var url: HTTPURL
  /// The method; `GET` by default.
  public var method: HTTPMethod
  /// The header fields to send; on a redirect to another origin only those go along that hold no secret.
  public var headers: HTTPFields
  /// The body to send.
  ///
  /// Defaults to none. Its length is sent with it: `Content-Length` and `Transfer-Encoding` in ``headers`` are left out. Its type is up to you
  /// (`Content-Type`). With `HEAD` there can be none, and on Apple's systems with `GET` neither.
  public var body: Data?
  /// How soon it starts, compared to others that wait; `Priority.normal` by default.
  public var priority: Priority
  /// The maximum number of bytes of the response's body, counted as they come; 100 MB by default.
  public var maxResponseBytes: Int
  /// How long to wait for what.
  public var timeouts: HTTPTimeouts
  /// What to do when the server points elsewhere; up to 10 redirects are followed by default.
  public var redirectPolicy: RedirectPolicy
  /// What ``isIdempotent`` was set to.
  package var idempotence: Bool?

  /// A Boolean value that indicates whether sending the request twice has the effect of sending it once.
  ///
  /// Defaults to what the ``method`` says. Only such a request is sent again by itself: by a ``RetryingLoader``, or where a connection turns out to be closed.
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
    maxResponseBytes: Int = 100_000_000,
    timeouts: HTTPTimeouts = HTTPTimeouts(),
    redirectPolicy: RedirectPolicy = .follow(limit: 10),
  ) {
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
    self.priority = priority
    self.maxResponseBytes = maxResponseBytes
    self.timeouts = timeouts
    self.redirectPolicy = redirectPolicy
  }

  /// Creates a `GET` request for what a string says.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL``.
  public init(_ string: String, headers: HTTPFields = [:]) throws(HTTPError) {
    self.init(try HTTPURL(string), headers: headers)
  }
}

/// How long a load may wait for what; each is counted from when it left the queue.
public struct HTTPTimeouts: Sendable, Hashable {
  /// For a connection, from the look-up of the name to the end of the TLS handshake; 10 seconds by default.
  public var connect: Duration
  /// For the next byte once there is a connection; 30 seconds by default.
  public var idle: Duration
  /// How many bytes a second must come, or for ``idle``, rounded up to a second, it counts as silence; 100 by default.
  public var minimumRate: Int
  /// For all of it, redirects, pauses and ``LoadHooks`` included; without limit by default.
  public var total: Duration?

  /// Creates a set of them.
  public init(
    connect: Duration = .seconds(10),
    idle: Duration = .seconds(30),
    minimumRate: Int = 100,
    total: Duration? = nil,
  ) {
    self.minimumRate = minimumRate
    self.connect = connect
    self.idle = idle
    self.total = total
  }
}

/// What to do when a server points elsewhere.
///
/// Followed or not, a redirect from https to http, or to anything that is neither, is an error. As browsers do, 301 and 302 turn
/// a `POST` into a `GET` without its body, and 303 anything but a `HEAD`; 307 and 308 send method and body again.
public struct RedirectPolicy: Sendable, Hashable {
  /// How many are followed; nil when a redirect is a response like any other.
  let limit: Int?

  /// Follows up to `limit` of them; the next is an error.
  public static func follow(limit: Int) -> RedirectPolicy {
    RedirectPolicy(limit: max(0, limit))
  }

  /// Delivers the redirect itself.
  public static let deliver = RedirectPolicy(limit: nil)
}

/// The head of what a server answered.
public struct HTTPResponse: Sendable, Hashable {
  /// The status code, such as 200.
  public var status: Int
  /// The header fields.
  public var headers: HTTPFields
  /// Where it came from, after redirects.
  public var url: HTTPURL
  /// How many redirects led there.
  public var redirectCount: Int

  /// Creates a response; for fakes.
  public init(status: Int, headers: HTTPFields = [:], url: HTTPURL, redirectCount: Int = 0) {
    self.status = status
    self.headers = headers
    self.url = url
    self.redirectCount = redirectCount
  }

  /// The length of the body that the server announced, if it did.
  public var contentLength: Int? {
    headers["Content-Length"].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
  }

  /// The length of the body that counts for a limit, if the server announced it: of one that comes, and of no error page, which
  /// would hide the status.
  package func announcedLength(of method: HTTPMethod) -> Int? {
    method == .head || status == 304 || status >= 400 ? nil : contentLength
  }

  /// Whether the status is one of 200 to 299.
  public var isSuccess: Bool { (200...299).contains(status) }

  /// Does nothing if the status is one of 200 to 299.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/badStatus`` otherwise.
  public func requireSuccess() throws(HTTPError) {
    guard !isSuccess else { return }
    throw HTTPError(.badStatus, url: url.string, status: status, "the server answered with status \(status)")
  }
}
