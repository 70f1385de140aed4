public import VitrineRuntime

/// What to ask a server for, and within which bounds.
public struct HTTPRequest: Sendable, Hashable {
  /// What to get.
  public var url: HTTPURL
  /// How to ask; `GET` by default.
  public var method: HTTPMethod
  /// The header fields to send; on a redirect to another origin only those go along that hold no secret.
  public var headers: HTTPFields
  /// How soon it starts, compared to others that wait; `Priority.normal` by default.
  public var priority: Priority
  /// How many bytes the body may have, counted as they come; 100 MB by default.
  public var bodyLimit: Int
  /// How long to wait for what.
  public var timeouts: HTTPTimeouts
  /// What to do when the server points elsewhere; up to 10 redirects are followed by default.
  public var redirects: RedirectPolicy

  /// Creates a request.
  public init(
    _ url: HTTPURL,
    method: HTTPMethod = .get,
    headers: HTTPFields = [:],
    priority: Priority = .normal,
    bodyLimit: Int = 100_000_000,
    timeouts: HTTPTimeouts = HTTPTimeouts(),
    redirects: RedirectPolicy = .follow(limit: 10),
  ) {
    self.url = url
    self.method = method
    self.headers = headers
    self.priority = priority
    self.bodyLimit = bodyLimit
    self.timeouts = timeouts
    self.redirects = redirects
  }

  /// Creates a `GET` request for what a string says.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL``.
  public init(_ string: String, headers: HTTPFields = [:]) throws(HTTPError) {
    self.init(try HTTPURL(string), headers: headers)
  }
}

/// How a request asks.
public struct HTTPMethod: Sendable, Hashable {
  /// The name that is sent.
  public let name: String

  /// Asks for the head and the body.
  public static let get = HTTPMethod(name: "GET")
  /// Asks for the head alone.
  public static let head = HTTPMethod(name: "HEAD")
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
/// Followed or not, a redirect from https to http, or to anything that is neither, is an error.
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
