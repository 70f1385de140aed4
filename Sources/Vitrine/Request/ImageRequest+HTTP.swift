public import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

/// The parts of an HTTP request besides its URL and header fields.
struct HTTPOptions: Hashable, Sendable {
  /// The parts that do not change the response, and so belong to no key.
  struct Bounds: Hashable, Sendable {
    var timeouts = HTTPTimeouts()
    var redirectPolicy = RedirectPolicy.follow(limit: 10)
    var maxResponseBytes: Int?
    /// The value of ``ImageRequest/isIdempotent``, if it was set.
    var idempotence: Bool?
  }

  var method = HTTPMethod.get
  var body: Data?
  var bounds = Bounds()

  /// A Boolean value that indicates whether URL and header fields make up the whole request.
  var isPlainGet: Bool { method == .get && body?.isEmpty != false }
}

extension ImageRequest {
  /// Creates a request from an HTTP request, with its method, header fields, body, time-outs and redirect policy.
  ///
  /// ```swift
  /// var http = try HTTPRequest("https://example.org/render", headers: ["Content-Type": "application/json"])
  /// http.method = .post
  /// http.body = try JSONEncoder().encode(chart)
  /// let image = try await pipeline.image(for: ImageRequest(http, size: .pixels(300, 300)))
  /// ```
  /// The smaller of `HTTPRequest.maxResponseBytes` and ``PipelineConfiguration/maxResponseBytes`` bounds the
  /// response.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - size: The size to show. Defaults to the image's own.
  ///   - processors: The processors to run, in order.
  ///   - priority: The priority. Defaults to the priority of `request`.
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
  /// Defaults to `GET`. Responses are cached by method and ``body``, so two different requests never share one. For any
  /// request other than a `GET` without a body:
  /// - A response is cached only if the server sets its lifetime (`max-age`, `Expires`).
  /// - A broken download starts over instead of continuing.
  ///
  /// For a method that is not safe:
  /// - A successful response removes the cached responses for a `GET` of the same URL (RFC 9111, section 4.4).
  /// - No request is sent in the background (`stale-while-revalidate`).
  public var method: HTTPMethod {
    get { http.method }
    set { http.method = newValue }
  }

  /// The body to send.
  ///
  /// Defaults to none. Set its `Content-Type` in ``headers``; its length is sent automatically.
  public var body: Data? {
    get { http.body }
    set { http.body = newValue }
  }

  /// The time-outs of a load.
  ///
  /// Defaults to `HTTPTimeouts()`.
  public var timeouts: HTTPTimeouts {
    get { http.bounds.timeouts }
    set { http.bounds.timeouts = newValue }
  }

  /// The policy for redirects.
  ///
  /// Defaults to following 10 redirects.
  public var redirectPolicy: RedirectPolicy {
    get { http.bounds.redirectPolicy }
    set { http.bounds.redirectPolicy = newValue }
  }

  /// The maximum number of bytes of a response, if less than ``PipelineConfiguration/maxResponseBytes``.
  ///
  /// Defaults to `nil`, the pipeline's maximum.
  public var maxResponseBytes: Int? {
    get { http.bounds.maxResponseBytes }
    set { http.bounds.maxResponseBytes = newValue }
  }

  /// A Boolean value that indicates whether sending the request twice has the effect of sending it once.
  ///
  /// Defaults to the idempotence of the ``method``. Only idempotent requests are retried. Set it for a `POST` that only
  /// renders an image.
  public var isIdempotent: Bool {
    get { http.bounds.idempotence ?? method.isIdempotent }
    set { http.bounds.idempotence = newValue }
  }

  /// A Boolean value that indicates whether URL and header fields make up the whole request.
  var isPlainGet: Bool { http.isPlainGet }

  /// The directives of `Cache-Control` in ``headers``, if there are any.
  private var directives: CacheControl? { headers.isEmpty ? nil : CacheControl(headers) }

  /// A Boolean value that indicates whether ``headers`` limit the age of a response, so that the stored response must
  /// be read.
  var limitsAge: Bool { directives?.concernsAge ?? false }

  /// A Boolean value that indicates whether ``headers`` forbid storing the response (RFC 9111, section 5.2.1.5).
  var forbidsStoring: Bool { directives?.noStore ?? false }

  /// The plain `GET` request for the same resource.
  var asGet: ImageRequest {
    var request = self
    (request.method, request.body) = (.get, nil)
    return request
  }

  /// Returns the HTTP request for a URL of this request.
  func httpRequest(_ url: HTTPURL, _ fields: HTTPFields, priority: Priority, limit: Int) -> HTTPRequest {
    let bounds = http.bounds
    var request = HTTPRequest(url, method: method, headers: fields, body: body, priority: priority)
    request.maxResponseBytes = max(0, min(limit, bounds.maxResponseBytes ?? limit))
    (request.timeouts, request.redirectPolicy) = (bounds.timeouts, bounds.redirectPolicy)
    request.idempotence = bounds.idempotence
    return request
  }
}
