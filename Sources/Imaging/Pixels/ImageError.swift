public import VitrineRuntime

/// The reason why an image could not be decoded or encoded.
///
/// Errors are compared by ``code``, a struct with private cases, so that new codes in later versions break no code:
/// ```swift
/// do {
///   let image = try DecoderRegistry.standard.decode(data)
/// } catch where error.code == .truncated {
///   // …
/// }
/// ```
public struct ImageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of an error, for comparison.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
      case unrecognised, unsupported, truncated, corrupt, overLimit, invalidSize, noSuchFrame, outOfTime, cancelled
      case notEncodable, decoderFailed, processingFailed
    }

    private let value: Value

    /// The bytes are not of a known format.
    public static let unrecognised = Code(value: .unrecognised)
    /// The format, or a feature of it, is known, but the available decoders cannot decode it.
    public static let unsupported = Code(value: .unsupported)
    /// The data ends before the image does.
    public static let truncated = Code(value: .truncated)
    /// The data breaks the rules of its format.
    public static let corrupt = Code(value: .corrupt)
    /// The image, or the request, exceeds one of the ``DecodeLimits``.
    public static let overLimit = Code(value: .overLimit)
    /// The requested size is zero, negative, infinite or not a number.
    public static let invalidSize = Code(value: .invalidSize)
    /// The image has no frame with the requested index.
    public static let noSuchFrame = Code(value: .noSuchFrame)
    /// Decoding took longer than ``DecodeLimits/timeLimit``.
    public static let outOfTime = Code(value: .outOfTime)
    /// The caller cancelled.
    public static let cancelled = Code(value: .cancelled)
    /// The process that decodes the image crashed, was killed, broke the rules, or could not be started.
    public static let decoderFailed = Code(value: .decoderFailed)
    /// A processor failed; the detail begins with its identifier.
    public static let processingFailed = Code(value: .processingFailed)
    /// The bitmap cannot be encoded in the requested format.
    public static let notEncodable = Code(value: .notEncodable)

    /// The name of the code.
    public var description: String { value.rawValue }

    /// Makes the code with the given ``description``; `nil` if there is none.
    package init?(_ description: String) {
      guard let value = Value(rawValue: description) else { return nil }
      self.value = value
    }

    private init(value: Value) { self.value = value }
  }

  /// The kind of the error.
  public let code: Code
  /// The format of the data; `nil` if it is not known.
  public let format: ImageFormat?
  /// The limit that was exceeded.
  ///
  /// `nil` if none was, or if it is not a setting, such as the available memory.
  public let limit: DecodeLimits.Name?
  /// The error that a processor of your own threw, with ``Code/processingFailed``.
  ///
  /// Defaults to `nil`. Errors are compared without their causes.
  public let cause: (any Error)?
  /// A message for a person, without an initial capital or a full stop.
  public let detail: String

  /// Makes an error, for decoders and encoders of your own.
  public init(
    _ code: Code,
    format: ImageFormat? = nil,
    limit: DecodeLimits.Name? = nil,
    cause: (any Error)? = nil,
    _ detail: String,
  ) {
    self.code = code
    self.format = format
    self.limit = limit
    self.cause = cause
    self.detail = detail
  }

  /// Returns the error with the name of the failed part before its detail.
  func prefixed(_ name: String) -> ImageError {
    ImageError(code, format: format, limit: limit, cause: cause, "\(name): \(detail)")
  }

  /// Returns `true` if all but the causes are equal.
  public static func == (left: Self, right: Self) -> Bool {
    left.code == right.code && left.format == right.format && left.limit == right.limit && left.detail == right.detail
  }

  /// Hashes all but the cause.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(format)
    hasher.combine(limit)
    hasher.combine(detail)
  }

  /// A Boolean value that indicates whether the file is damaged, so that its decoded part may be shown.
  package var isDamage: Bool { code == .truncated || code == .corrupt }
  /// A Boolean value that indicates whether the error says something about the bytes, unlike a cancellation, too little
  /// time, or a process that crashed.
  package var isOfBytes: Bool { !isCancellation && code != .outOfTime && code != .decoderFailed }

  /// A Boolean value that indicates whether the caller cancelled; the counterpart of `catch is CancellationError`.
  public var isCancellation: Bool { code == .cancelled }

  /// The ``detail``.
  public var description: String { detail }
}

extension ImageError: LocalizedError {
  /// The message for a person: what could not be done, and why.
  public var errorDescription: String? {
    switch code {
    case .cancelled: "Decoding the image was cancelled"
    case .notEncodable: "The image could not be encoded: \(detail)"
    case .processingFailed: "The image could not be processed: \(detail)"
    default: "The image could not be decoded: \(detail)"
    }
  }

  /// The ``detail``.
  public var failureReason: String? { detail }

  /// The next step for a person; `nil` where nothing is known to help.
  public var recoverySuggestion: String? {
    switch code {
    case .truncated, .corrupt: "Get the file again, since it is incomplete or damaged."
    case .overLimit: "Use a smaller image."
    case .unrecognised, .unsupported: "Save the image in another format."
    case .outOfTime: "Try again later, or use a smaller image."
    case .decoderFailed: "Try again later, or use another image."
    default: nil
    }
  }
}
