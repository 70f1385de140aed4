import VitrineHTTP
import VitrineRuntime

/// An error of loading an image: the stage at which it failed, the source, and the reason.
///
/// Cancellation is one of the reasons: check ``isCancellation``, beside `catch is CancellationError` for other work.
public struct LoadError: Error, Sendable, CustomStringConvertible {
  /// A stage of loading; the names are those that the command line prints.
  public enum Stage: String, Sendable, Hashable, CaseIterable {
    /// Preparing the request.
    case request
    /// Getting the bytes.
    case fetch
    /// Decoding the bytes.
    case decode
    /// Processing the pixels.
    case process
  }

  /// The reason for an error, to compare with.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String

    /// The text is not an http or https URL.
    public static let invalidURL = Code(name: "invalidURL")
    /// The task was cancelled.
    public static let cancelled = Code(name: "cancelled")
    /// The request allowed only caches, and none has the image.
    public static let notCached = Code(name: "notCached")
    /// The file could not be read, or the closure threw.
    public static let unreadable = Code(name: "unreadable")
    /// The server could not be reached, or the transfer failed.
    public static let fetchFailed = Code(name: "fetchFailed")
    /// The server answered with a status other than success.
    public static let badStatus = Code(name: "badStatus")
    /// The bytes could not be decoded; ``LoadError/cause`` is an `ImageError`.
    public static let undecodable = Code(name: "undecodable")
    /// A processor threw.
    public static let processingFailed = Code(name: "processingFailed")
    /// The queue exceeds ``ImagePipeline/Configuration/queueLimit``; a server should answer with status 429 or 503.
    public static let overloaded = Code(name: "overloaded")
    /// The pipeline does not load from such a source, or its address guard refuses the target.
    public static let forbidden = Code(name: "forbidden")
    /// `ImagePipeline.Configuration.networkAccess` allows no request, and no usable image is stored.
    public static let offline = Code(name: "offline")
    /// An ``ImageInterceptor`` threw an error other than a ``LoadError``; ``LoadError/cause`` is that error.
    public static let intercepted = Code(name: "intercepted")

    /// The name of the reason.
    public var description: String { name }
  }

  /// The reason.
  public let code: Code
  /// The stage at which loading failed.
  public let stage: Stage
  /// The URL, path or id of the image.
  public let source: String
  /// A description of the reason for a person, without the source.
  public let detail: String
  /// The HTTP status, with ``Code/badStatus``.
  public let status: Int?
  /// The underlying error, if there was one.
  public let cause: (any Error)?

  init(
    _ code: Code,
    _ stage: Stage,
    _ source: String,
    _ detail: String,
    status: Int? = nil,
    cause: (any Error)? = nil,
  ) {
    (self.code, self.stage, self.source) = (code, stage, source)
    (self.detail, self.status, self.cause) = (detail, status, cause)
  }

  /// Creates an error from that of a load; `prefix` precedes its description.
  init(_ error: HTTPError, _ source: String, _ prefix: String = "") {
    let code: Code =
      switch error.code {
      case .cancelled: .cancelled
      case .invalidURL: .invalidURL
      case .badStatus: .badStatus
      case .addressRefused: .forbidden
      case .overloaded: .overloaded
      default: .fetchFailed
      }
    self.init(code, .fetch, source, prefix + error.detail, status: error.status, cause: error)
  }

  /// Returns true if a stale image may stand in: without a network always, for a server that fails before `until` (RFC
  /// 5861, section 4); without `until` never.
  func allowsStale(until: Date?, now: Date) -> Bool {
    guard let until else { return false }
    return switch code {
    case .offline: true
    case .fetchFailed: now < until
    case .overloaded: stage == .fetch && now < until
    case .badStatus: now < until && [500, 502, 503, 504].contains(status)
    default: false
    }
  }

  /// A Boolean value that indicates whether the load was cancelled.
  public var isCancellation: Bool { code == .cancelled }

  /// The source, the stage and the detail.
  public var description: String { "\(source): \(stage.rawValue): \(detail)" }
}
