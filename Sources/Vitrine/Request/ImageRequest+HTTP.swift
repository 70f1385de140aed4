public import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

/// How a request is sent, beside its URL and its header fields.
struct HTTPOptions: Hashable, Sendable {
  /// What changes when an answer comes, and not which.
  struct Bounds: Hashable, Sendable {
    var timeouts = HTTPTimeouts()
    var redirectPolicy = RedirectPolicy.follow(limit: 10)
    var maxResponseBytes: Int?
    /// Whether it may be sent twice; `nil` for what its method says.
    var idempotence: Bool?
  }

  var method = HTTPMethod.get
  var body: Data?
  var bounds = Bounds()

  /// Whether the URL and the header fields say all of it.
  var isPlainGet: Bool { method == .get && body?.isEmpty != false }
}

extension ImageRequest {
  /// Creates a request of an HTTP request: of its method, header fields, body, time-outs and redirect policy.
  ///
  /// ```swift
  /// var http = try HTTPRequest("https://example.org/render", headers: ["Content-Type": "application/json"])
  /// http.method = .post
  /// http.body = try JSONEncoder().encode(chart)
  /// let image = try await pipeline.image(for: ImageRequest(http, size: .pixels(300, 300)))
  /// ```
  /// The response may have as many bytes as both ``HTTPRequest/maxResponseBytes`` and
  /// ``ImagePipeline/Configuration/maxResponseBytes`` allow.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - size: The size that is shown. Defaults to the image's own.
  ///   - processors: The processors to run, in order.
  ///   - priority: The urgency. Defaults to that of `request`.
  public init(
    _ request: HTTPRequest,
    size: TargetSize? = nil,
    processors: [ImageProcessor] = [],
    priority: Priority? = nil,
  ) {
    self.init(
      url: request.url.string,
      size: size,
      processors: processors,
      priority: priority ?? request.priority,
    )
    headers = request.headers
    http = HTTPOptions(
      method: request.method,
      body: request.body,
      bounds: HTTPOptions.Bounds(
        timeouts: request.timeouts,
        redirectPolicy: request.redirectPolicy,
        maxResponseBytes: request.maxResponseBytes,
        idempotence: request.idempotence,
      ),
    )
  }

  /// The method with which a URL is loaded.
  ///
  /// Defaults to `GET`. Method and ``body`` are part of what an answer is cached under, so that no two of them share one. An answer to anything
  /// but a `GET` without a body is cached only where the server says for how long (`max-age`, `Expires`). After a method that is
  /// not safe, what is cached of the same URL for `GET` is removed, as RFC 9111 (section 4.4) asks. Such a request is never sent
  /// behind an image that is shown meanwhile (`stale-while-revalidate`), and no request but a `GET` continues a broken
  /// download.
  public var method: HTTPMethod {
    get { http.method }
    set { http.method = newValue }
  }

  /// The body to send.
  ///
  /// Defaults to none. Say what it is in ``headers`` (`Content-Type`). Its length is sent with it.
  public var body: Data? {
    get { http.body }
    set { http.body = newValue }
  }

  /// The time that a load of a URL may take.
  ///
  /// Defaults to `HTTPTimeouts()`.
  public var timeouts: HTTPTimeouts {
    get { http.bounds.timeouts }
    set { http.bounds.timeouts = newValue }
  }

  /// The answer to a server that points elsewhere.
  ///
  /// Defaults to following 10 redirects.
  public var redirectPolicy: RedirectPolicy {
    get { http.bounds.redirectPolicy }
    set { http.bounds.redirectPolicy = newValue }
  }

  /// The maximum number of bytes of a response, where it is less than ``ImagePipeline/Configuration/maxResponseBytes``.
  ///
  /// Defaults to `nil`, for that of the pipeline.
  public var maxResponseBytes: Int? {
    get { http.bounds.maxResponseBytes }
    set { http.bounds.maxResponseBytes = newValue }
  }

  /// A Boolean value that indicates whether sending the request twice has the effect of sending it once.
  ///
  /// Defaults to what the ``method`` says. Only such a request is tried again when it fails. Set it where a `POST` only renders an image.
  public var isIdempotent: Bool {
    get { http.bounds.idempotence ?? method.isIdempotent }
    set { http.bounds.idempotence = newValue }
  }

  /// Whether the URL and the header fields say all that is sent.
  var isPlainGet: Bool { http.isPlainGet }

  /// The same request as a `GET`, for what is cached of the resource.
  var asGet: ImageRequest {
    var request = self
    (request.method, request.body) = (.get, nil)
    return request
  }

  /// What is sent for the request, to one of its URLs.
  func httpRequest(_ url: HTTPURL, _ fields: HTTPFields, priority: Priority, limit: Int) -> HTTPRequest {
    let bounds = http.bounds
    var request = HTTPRequest(url, method: method, headers: fields, body: body, priority: priority)
    request.maxResponseBytes = max(0, min(limit, bounds.maxResponseBytes ?? limit))
    (request.timeouts, request.redirectPolicy) = (bounds.timeouts, bounds.redirectPolicy)
    request.idempotence = bounds.idempotence
    return request
  }
}
