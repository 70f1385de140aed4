public import VitrineRuntime

/// An error that explains why no complete response to a request arrived.
///
/// Codes are values of a struct, so that new codes in later versions are source-compatible:
/// ```swift
/// do {
///   let (response, data) = try await loader.data(for: request)
/// } catch where error.code == .timedOut {
///   // …
/// }
/// ```
public struct HTTPError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    /// The string is not an http or https URL.
    public static let invalidURL = Code(description: "invalidURL")
    /// The request has a header field or a method that cannot be sent.
    public static let invalidRequest = Code(description: "invalidRequest")
    /// The load was cancelled, or the loader released.
    public static let cancelled = Code(description: "cancelled")
    /// One of the ``HTTPTimeouts`` passed, which ``HTTPError/timeout`` names.
    public static let timedOut = Code(description: "timedOut")
    /// The host name could not be resolved.
    public static let cannotResolve = Code(description: "cannotResolve")
    /// No connection could be established.
    public static let cannotConnect = Code(description: "cannotConnect")
    /// The server's certificate is not trusted, or TLS could not be negotiated.
    public static let tls = Code(description: "tls")
    /// The connection ended before the head of a response arrived.
    public static let connectionLost = Code(description: "connectionLost")
    /// The server redirected from https to http, or to another scheme.
    public static let redirectRefused = Code(description: "redirectRefused")
    /// The server redirected more often than allowed.
    public static let tooManyRedirects = Code(description: "tooManyRedirects")
    /// The status is not in 200 to 299, see ``HTTPError/status``.
    public static let badStatus = Code(description: "badStatus")
    /// The body is larger than ``HTTPRequest/maxResponseBytes``.
    public static let tooLarge = Code(description: "tooLarge")
    /// The body ended before it was complete.
    public static let truncated = Code(description: "truncated")
    /// The ``AddressGuard`` refuses the URL, a redirect, or an address of the host.
    public static let addressRefused = Code(description: "addressRefused")
    /// ``LoadHooks/willSend`` or ``LoadHooks/challenge`` threw an error.
    public static let preparationFailed = Code(description: "preparationFailed")
    /// The function of a ``WholeBodyLoader`` threw an error.
    public static let loaderFailed = Code(description: "loaderFailed")
    /// The queue of loads is full, and nothing was sent.
    public static let overloaded = Code(description: "overloaded")
    /// The response violates HTTP.
    public static let protocolError = Code(description: "protocolError")
  }

  /// The kind of a time-out, one of the ``HTTPTimeouts``.
  public struct Timeout: Hashable, Sendable, CustomStringConvertible {
    /// The name of the property.
    public let description: String

    /// The time-out of ``HTTPTimeouts/connect``.
    public static let connect = Timeout(description: "connect")
    /// The time-out of ``HTTPTimeouts/idle``.
    public static let idle = Timeout(description: "idle")
    /// The time-out of ``HTTPTimeouts/minimumRate``.
    public static let minimumRate = Timeout(description: "minimumRate")
    /// The time-out of ``HTTPTimeouts/total``.
    public static let total = Timeout(description: "total")
  }

  private struct Facts: Hashable {
    let code: Code
    let url: String
    let status: Int?
    let timeout: Timeout?
    let detail: String
  }

  // The fields are boxed, since types that may hold an error, and mostly hold none, should stay small.
  private let fields: Box<(facts: Facts, cause: (any Error)?)>

  private var facts: Facts { fields.value.facts }

  /// The kind of the error.
  public var code: Code { facts.code }
  /// The requested URL.
  public var url: String { facts.url }
  /// The status, with ``Code/badStatus``.
  public var status: Int? { facts.status }
  /// The kind of the time-out, with ``Code/timedOut``.
  public var timeout: Timeout? { facts.timeout }
  /// A description of the cause for people, which starts in lower case and has no full stop.
  public var detail: String { facts.detail }
  /// The underlying error.
  ///
  /// With ``Code/preparationFailed`` and ``Code/loaderFailed`` it is the program's own error.
  public var cause: (any Error)? { fields.value.cause }

  /// Creates an error, for custom loaders.
  public init(
    _ code: Code,
    url: String,
    status: Int? = nil,
    timeout: Timeout? = nil,
    cause: (any Error)? = nil,
    _ detail: String,
  ) {
    fields = Box((Facts(code: code, url: url, status: status, timeout: timeout, detail: detail), cause))
  }

  /// A Boolean value that indicates whether the load was cancelled; the counterpart of `catch is CancellationError`.
  public var isCancellation: Bool { code == .cancelled }

  /// A Boolean value that indicates whether the same request may succeed a little later.
  public var isWorthRetrying: Bool {
    switch code {
    case .timedOut, .cannotResolve, .cannotConnect, .connectionLost, .truncated: true
    case .badStatus: [408, 429, 500, 502, 503, 504].contains(status)
    default: false
    }
  }

  /// Returns the error without its cause, which may be an object of the program's.
  package func withoutCause() -> HTTPError {
    cause == nil ? self : HTTPError(code, url: url, status: status, timeout: timeout, detail)
  }

  /// The URL and the ``detail``.
  public var description: String { "\(url): \(detail)" }
}

extension HTTPError: Hashable {
  /// Compares all properties but the ``cause``, which need not be comparable.
  public static func == (left: HTTPError, right: HTTPError) -> Bool { left.facts == right.facts }

  /// Hashes all properties but the ``cause``.
  public func hash(into hasher: inout Hasher) { hasher.combine(facts) }
}

extension HTTPError: LocalizedError {
  /// The message for a person: the URL and the cause.
  public var errorDescription: String? {
    isCancellation ? "Loading \(url) was cancelled" : "\(url) could not be loaded: \(detail)"
  }

  /// The ``detail``.
  public var failureReason: String? { detail }

  /// The next step for a person; `nil` if none is known to help.
  public var recoverySuggestion: String? {
    switch code {
    case .invalidURL: "Check the URL."
    case .cannotResolve, .cannotConnect: "Check the URL and the network connection, and try again."
    case .timedOut, .connectionLost, .truncated: "Check the network connection, and try again."
    case .overloaded: "Try again later."
    case .badStatus where [401, 403].contains(status): "Sign in with an account that has access."
    case .badStatus where [404, 410].contains(status): "Check the URL."
    case .badStatus where [408, 425, 429].contains(status) || (500...599).contains(status ?? 0): "Try again later."
    case .preparationFailed, .loaderFailed: (cause as? any LocalizedError)?.recoverySuggestion
    default: nil
    }
  }
}
