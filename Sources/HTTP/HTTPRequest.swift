public import VitrineRuntime

/// A request, with its limits.
public struct HTTPRequest: Sendable, Hashable {
  /// The URL.
  public var url: HTTPURL
  /// The method.
  ///
  /// Defaults to `GET`.
  public var method: HTTPMethod
  /// The header fields.
  ///
  /// A redirect to another origin keeps only those that contain no secret.
  public var headers: HTTPFields
  /// The priority in the loader's queue.
  ///
  /// Defaults to `Priority.normal`.
  public var priority: Priority
  /// The maximum number of bytes of the body, counted as they arrive.
  ///
  /// Defaults to 100 MB.
  public var bodyLimit: Int
  /// The time-outs.
  public var timeouts: HTTPTimeouts
  /// The handling of redirects.
  ///
  /// Defaults to following up to 10.
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

  /// Creates a `GET` request from a string.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL``.
  public init(_ string: String, headers: HTTPFields = [:]) throws(HTTPError) {
    self.init(try HTTPURL(string), headers: headers)
  }
}

/// The method of a request.
public struct HTTPMethod: Sendable, Hashable {
  /// The name in the request line.
  public let name: String

  /// The method that returns the head and the body.
  public static let get = HTTPMethod(name: "GET")
  /// The method that returns only the head.
  public static let head = HTTPMethod(name: "HEAD")
}

/// The time-outs of a load, none of which runs while it is queued.
public struct HTTPTimeouts: Sendable, Hashable {
  /// The limit for a connection, from the name look-up to the end of the TLS handshake.
  ///
  /// Defaults to 10 seconds.
  public var connect: Duration
  /// The limit for the next byte on a connection.
  ///
  /// Defaults to 30 seconds.
  public var idle: Duration
  /// The minimum rate in bytes a second.
  ///
  /// Defaults to 100. A load below that rate for ``idle``, rounded up to a second, counts as silent.
  public var minimumRate: Int
  /// The limit for the whole load, with redirects, pauses and ``LoadHooks``.
  ///
  /// Defaults to `nil`, no limit.
  public var total: Duration?

  /// Creates a set of time-outs.
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

/// The handling of redirects.
///
/// A redirect from https to http, or to another scheme, is always an error.
public struct RedirectPolicy: Sendable, Hashable {
  /// The maximum number of redirects to follow, or `nil` to deliver a redirect like any other response.
  let limit: Int?

  /// Follows up to `limit` redirects.
  ///
  /// One more is an error.
  public static func follow(limit: Int) -> RedirectPolicy {
    RedirectPolicy(limit: max(0, limit))
  }

  /// Delivers the redirect itself.
  public static let deliver = RedirectPolicy(limit: nil)
}

/// The head of a response.
public struct HTTPResponse: Sendable, Hashable {
  /// The status code, such as 200.
  public var status: Int
  /// The header fields.
  public var headers: HTTPFields
  /// The final URL, after redirects.
  public var url: HTTPURL
  /// The number of redirects.
  public var redirectCount: Int

  /// Creates a response, for fakes.
  public init(status: Int, headers: HTTPFields = [:], url: HTTPURL, redirectCount: Int = 0) {
    self.status = status
    self.headers = headers
    self.url = url
    self.redirectCount = redirectCount
  }

  /// The announced length of the body, if there is one.
  public var contentLength: Int? {
    headers["Content-Length"].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
  }

  /// A Boolean value that indicates whether the status is in 200 to 299.
  public var isSuccess: Bool { (200...299).contains(status) }

  /// Does nothing if the status is in 200 to 299.
  ///
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/badStatus`` for any other status.
  public func requireSuccess() throws(HTTPError) {
    guard !isSuccess else { return }
    throw HTTPError(.badStatus, url: url.string, status: status, "the server answered with status \(status)")
  }
}
