import VitrineHTTP
import VitrineRuntime

/// Says at which stage loading an image failed, for which source, and why.
///
/// Cancellation is one of the reasons, so a `catch` that looks for it asks ``isCancellation``, beside
/// `catch is CancellationError` for what else is awaited.
public struct LoadError: Error, Sendable, CustomStringConvertible {
  /// A stage of an image's way; the names are those that the command line prints.
  public enum Stage: String, Sendable, Hashable, CaseIterable {
    /// Making sense of the request.
    case request
    /// Getting the bytes.
    case fetch
    /// Making pixels of them.
    case decode
    /// Changing the pixels.
    case process
  }

  /// A reason, to compare with.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String

    /// The text given is no http or https address.
    public static let invalidURL = Code(name: "invalidURL")
    /// The task was cancelled.
    public static let cancelled = Code(name: "cancelled")
    /// Only the caches were to be asked, and they have it not.
    public static let notCached = Code(name: "notCached")
    /// The file could not be read, or the closure threw.
    public static let unreadable = Code(name: "unreadable")
    /// The server could not be reached, or the transfer failed.
    public static let fetchFailed = Code(name: "fetchFailed")
    /// The server answered with a status that is none of success.
    public static let badStatus = Code(name: "badStatus")
    /// The response has more bytes than ``ImagePipeline/Configuration/maxResponseBytes`` or the request allows.
    public static let tooLarge = Code(name: "tooLarge")
    /// The bytes could not be decoded; ``LoadError/cause`` is an `ImageError`.
    public static let undecodable = Code(name: "undecodable")
    /// A processor threw.
    public static let processingFailed = Code(name: "processingFailed")
    /// More is waiting than ``ImagePipeline/Configuration/queueLimit`` lets; a server answers with status 429 or 503.
    public static let overloaded = Code(name: "overloaded")
    /// The pipeline does not load from such a source, or its address guard refuses where that leads to.
    public static let forbidden = Code(name: "forbidden")
    /// No request may be sent now, as `ImagePipeline.Configuration.networkAccess` says, and nothing is stored.
    public static let offline = Code(name: "offline")
    /// An ``ImageInterceptor`` threw what is no error of loading; ``LoadError/cause`` is what it threw.
    public static let intercepted = Code(name: "intercepted")

    /// The reason's name.
    public var description: String { name }
  }

  /// The reason.
  public let code: Code
  /// Where it happened.
  public let stage: Stage
  /// The address, path or id of what was loaded.
  public let source: String
  /// A sentence for a person, without the source.
  public let detail: String
  /// The HTTP status, with ``Code/badStatus``.
  public let status: Int?
  /// The error below, where there was one.
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

  /// What a load has ended with, in the words of a pipeline; `prefix` comes before what happened.
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
    self.init(code, .fetch, source, prefix + error.detail, status: error.status, cause: error)
  }

  /// Whether what is stored may stand in for what this is an error of: without a network for any time, for a server that
  /// cannot be reached or fails `until` then (RFC 5861, section 4), and where that is `nil` not at all.
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

  /// Whether the caller no longer wanted the image.
  public var isCancellation: Bool { code == .cancelled }

  /// The source, the stage and what happened.
  public var description: String { "\(source): \(stage.rawValue): \(detail)" }
}
