import VitrineHTTP
public import VitrineRuntime

/// An error of loading an image: the stage at which it failed, the source, and the reason.
///
/// Cancellation is one of the reasons: check ``isCancellation``, beside `catch is CancellationError` for other work.
public struct LoadError: Error, Sendable, CustomStringConvertible {
  /// A stage of loading; the command line prints these names.
  public enum Stage: String, Sendable, Hashable, CaseIterable {
    /// Preparing the request.
    case request
    /// Getting the bytes.
    case fetch
    /// Decoding the bytes.
    case decode
    /// Processing the pixels.
    case process
    /// Encoding the image.
    case encode
  }

  /// The reason for an error, for comparisons.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String

    /// The text is not an http, https, file or data URL.
    public static let invalidURL = Code(name: "invalidURL")
    /// The task was cancelled.
    public static let cancelled = Code(name: "cancelled")
    /// The request allowed only caches, and none has the image.
    public static let notCached = Code(name: "notCached")
    /// The file could not be read, or the closure threw; ``LoadError/cause`` is the error.
    public static let unreadable = Code(name: "unreadable")
    /// The server could not be reached, the transfer failed, or a hook threw; ``LoadError/cause`` is the error below.
    public static let fetchFailed = Code(name: "fetchFailed")
    /// The status of the response is not a success; see ``LoadError/status``.
    public static let badStatus = Code(name: "badStatus")
    /// The response has more bytes than ``PipelineConfiguration/maxResponseBytes`` or the request allows.
    public static let tooLarge = Code(name: "tooLarge")
    /// The bytes could not be decoded; ``LoadError/cause`` is an `ImageError`.
    public static let undecodable = Code(name: "undecodable")
    /// The image could not be encoded, or the format has no encoder; ``LoadError/cause`` is an `ImageError`.
    public static let unencodable = Code(name: "unencodable")
    /// A processor threw; ``LoadError/cause`` is its error.
    public static let processingFailed = Code(name: "processingFailed")
    /// The queue exceeds ``PipelineConfiguration/queueLimit``; a server should answer with status 429 or 503.
    public static let overloaded = Code(name: "overloaded")
    /// The pipeline does not load from this kind of source, or its address guard refuses the target.
    public static let forbidden = Code(name: "forbidden")
    /// `ImagePipeline.Configuration.networkAccess` allows no request, and no usable image is stored.
    public static let offline = Code(name: "offline")
    /// An ``ImageInterceptor`` threw an error other than a ``LoadError``; ``LoadError/cause`` is that error.
    public static let intercepted = Code(name: "intercepted")

    /// The name of the reason.
    public var description: String { name }
  }

  private struct Fields {
    let code: Code
    let stage: Stage
    let source: String
    let detail: String
    let status: Int?
    let cause: (any Error)?
  }

  // The box keeps values that may hold an error, but mostly do not, small.
  private let fields: Box<Fields>

  /// The reason.
  public var code: Code { fields.value.code }
  /// The stage at which loading failed.
  public var stage: Stage { fields.value.stage }
  /// The URL, path or id of the image.
  public var source: String { fields.value.source }
  /// A description of the reason for a person, without the source.
  public var detail: String { fields.value.detail }
  /// The HTTP status, with ``Code/badStatus``.
  public var status: Int? { fields.value.status }
  /// The error that caused this one, if any.
  ///
  /// An error that a hook, a processor, an interceptor or a closure threw is kept as it is. Any other cause is an
  /// `HTTPError`, an `ImageError`, or the system's error for a file.
  public var cause: (any Error)? { fields.value.cause }

  /// Creates an error, for interceptors and fakes to fail with.
  ///
  /// - Parameters:
  ///   - code: The reason.
  ///   - stage: The stage that failed.
  ///   - source: The URL, path or id of the image.
  ///   - status: The HTTP status. Defaults to `nil`.
  ///   - cause: The error below. Defaults to `nil`.
  ///   - detail: A sentence for a person, without the source, a capital at its start and a full stop at its end.
  public init(
    _ code: Code,
    stage: Stage,
    source: String,
    status: Int? = nil,
    cause: (any Error)? = nil,
    _ detail: String,
  ) {
    self.init(code, stage, source, detail, status: status, cause: cause)
  }

  package init(
    _ code: Code,
    _ stage: Stage,
    _ source: String,
    _ detail: String,
    status: Int? = nil,
    cause: (any Error)? = nil,
  ) {
    fields = Box(Fields(code: code, stage: stage, source: source, detail: detail, status: status, cause: cause))
  }

  /// Creates an error from an HTTP error; `prefix` precedes its description.
  init(_ error: HTTPError, _ source: String, _ prefix: String = "") {
    let code: Code =
      switch error.code {
      case .cancelled: .cancelled
      case .invalidURL: .invalidURL
      case .badStatus: .badStatus
      case .addressRefused: .forbidden
      case .overloaded: .overloaded
      case .tooLarge: .tooLarge
      default: .fetchFailed
      }
    // The program's own error says more than `preparationFailed` or `loaderFailed`.
    let cause = [.preparationFailed, .loaderFailed].contains(error.code) ? error.cause : nil
    self.init(code, .fetch, source, prefix + error.detail, status: error.status, cause: cause ?? error)
  }

  /// Returns `true` if a stale image may be served in place of the error (RFC 9111, section 4.2.4).
  ///
  /// A stale image may be served without network access, if `until` is set; before `until`, if the server cannot be
  /// reached; and before `serverError`, if the server answers that it failed (RFC 5861, section 4). If the date is
  /// `nil`, it may not.
  func allowsStale(until: Date?, onServerError serverError: Date?, now: Date) -> Bool {
    func isBefore(_ end: Date?) -> Bool { end.map { now < $0 } ?? false }
    return switch code {
    case .offline: until != nil
    case .fetchFailed: isBefore(until)
    case .overloaded: stage == .fetch && isBefore(until)
    case .badStatus: [500, 502, 503, 504].contains(status) && isBefore(serverError)
    default: false
    }
  }

  func allowsStale(_ decision: Freshness.Decision, now: Date) -> Bool {
    allowsStale(until: decision.usableOnErrorUntil, onServerError: decision.usableOnServerErrorUntil, now: now)
  }

  func allowsStale(_ validity: Validity, now: Date) -> Bool {
    allowsStale(until: validity.usableOnErrorUntil, onServerError: validity.usableOnServerErrorUntil, now: now)
  }

  /// A Boolean value that indicates whether the load was cancelled.
  public var isCancellation: Bool { code == .cancelled }

  /// The source, the stage and the detail.
  public var description: String { "\(source): \(stage.rawValue): \(detail)" }
}

extension LoadError: LocalizedError {
  /// The message for a person: the source, the step that failed, and the reason.
  public var errorDescription: String? {
    guard !isCancellation else { return "Loading \(source) was cancelled" }
    let deed =
      switch stage {
      case .request, .fetch: "loaded"
      case .decode: "decoded"
      case .process: "processed"
      case .encode: "encoded"
      }
    return "\(source) could not be \(deed): \(detail)"
  }

  /// The ``detail``.
  public var failureReason: String? { detail }

  /// The next step for a person, which may come from the ``cause``; `nil` if none is known to help.
  public var recoverySuggestion: String? {
    switch code {
    case .invalidURL: "Check the URL."
    case .notCached, .offline: "Try again when there is a network connection."
    case .overloaded: "Try again later."
    case .unreadable where cause is FileError: "Check that the file exists and can be read."
    case .badStatus: HTTPError(.badStatus, url: source, status: status, detail).recoverySuggestion
    default: (cause as? any LocalizedError)?.recoverySuggestion
    }
  }
}
