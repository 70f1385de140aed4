/// Says why no complete response came, and for which URL.
///
/// It is a struct over private cases, so that a new reason in a later version breaks no one:
/// ```swift
/// do {
///   let (response, data) = try await loader.data(for: request)
/// } catch where error.code == .timedOut {
///   // …
/// }
/// ```
public struct HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A reason, to compare with.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
      case invalidURL, invalidRequest, cancelled, timedOut, cannotResolve, cannotConnect, tls, connectionLost
      case redirectRefused, tooManyRedirects, badStatus, tooLarge, truncated, protocolError
      case addressRefused, preparationFailed, overloaded
    }

    private let value: Value

    /// The string is no URL, or none of http or https.
    public static let invalidURL = Code(value: .invalidURL)
    /// The request has a header field or a method that cannot be sent.
    public static let invalidRequest = Code(value: .invalidRequest)
    /// The caller asked to stop, or the loader was released.
    public static let cancelled = Code(value: .cancelled)
    /// One of the ``HTTPTimeouts`` passed; ``HTTPError/timeout`` says which.
    public static let timedOut = Code(value: .timedOut)
    /// The host's name was not found.
    public static let cannotResolve = Code(value: .cannotResolve)
    /// No connection could be made.
    public static let cannotConnect = Code(value: .cannotConnect)
    /// The server could not be trusted, or no secure connection be agreed on.
    public static let tls = Code(value: .tls)
    /// The connection ended before the head of a response had come.
    public static let connectionLost = Code(value: .connectionLost)
    /// The server pointed to where Vitrine does not follow: from https to http, or to another scheme.
    public static let redirectRefused = Code(value: .redirectRefused)
    /// The server pointed elsewhere once too often.
    public static let tooManyRedirects = Code(value: .tooManyRedirects)
    /// The status is not one of 200 to 299; ``HTTPError/status`` has it.
    public static let badStatus = Code(value: .badStatus)
    /// The body is larger than ``HTTPRequest/maxResponseBytes``.
    public static let tooLarge = Code(value: .tooLarge)
    /// The body ended before it was whole.
    public static let truncated = Code(value: .truncated)
    /// The ``AddressGuard`` allows neither the URL, or that to which it led, nor an address of its host.
    public static let addressRefused = Code(value: .addressRefused)
    /// ``LoadHooks/willSend`` or ``LoadHooks/challenge`` threw.
    public static let preparationFailed = Code(value: .preparationFailed)
    /// More loads wait for their turn than may; nothing was sent.
    public static let overloaded = Code(value: .overloaded)
    /// What the server sent breaks the rules of HTTP.
    public static let protocolError = Code(value: .protocolError)

    /// The reason's name.
    public var description: String { value.rawValue }
  }

  /// Which of the ``HTTPTimeouts`` passed.
  public struct Timeout: Hashable, Sendable, CustomStringConvertible {
    /// The property's name.
    public let description: String

    /// ``HTTPTimeouts/connect``.
    public static let connect = Timeout(description: "connect")
    /// ``HTTPTimeouts/idle``.
    public static let idle = Timeout(description: "idle")
    /// ``HTTPTimeouts/total``.
    public static let total = Timeout(description: "total")
  }

  /// The reason.
  public let code: Code
  /// The URL that was asked for.
  public let url: String
  /// The status, with ``Code/badStatus``.
  public let status: Int?
  /// Which wait was too long, with ``Code/timedOut``.
  public let timeout: Timeout?
  /// What happened, for a person, without a capital at its start and a full stop at its end.
  public let detail: String

  /// Makes an error; for loaders of your own.
  public init(
    _ code: Code,
    url: String,
    status: Int? = nil,
    timeout: Timeout? = nil,
    _ detail: String,
  ) {
    self.code = code
    self.url = url
    self.status = status
    self.timeout = timeout
    self.detail = detail
  }

  /// Whether the caller asked to stop; the counterpart of `catch is CancellationError`.
  public var isCancellation: Bool { code == .cancelled }

  /// Whether the same request may well succeed a little later.
  public var isWorthRetrying: Bool {
    switch code {
    case .timedOut, .cannotResolve, .cannotConnect, .connectionLost, .truncated: true
    case .badStatus: [408, 429, 500, 502, 503, 504].contains(status)
    default: false
    }
  }

  /// The URL and the ``detail``.
  public var description: String { "\(url): \(detail)" }
}
