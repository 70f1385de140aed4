public import VitrineRuntime

/// Says why bytes could not become pixels, or pixels bytes.
///
/// It is a struct over private cases, so that a new reason in a later version breaks no one:
/// ```swift
/// do {
///   let image = try DecoderRegistry.standard.decode(data)
/// } catch where error.code == .truncated {
///   // …
/// }
/// ```
public struct ImageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A reason, to compare with.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
      case unrecognised, unsupported, truncated, corrupt, overLimit, invalidSize, noSuchFrame, outOfTime, cancelled
      case notEncodable
    }

    private let value: Value

    /// The bytes begin like no format that is known.
    public static let unrecognised = Code(value: .unrecognised)
    /// The format, or a feature of it, is known but cannot be read by the decoders at hand.
    public static let unsupported = Code(value: .unsupported)
    /// The data ends before the image does.
    public static let truncated = Code(value: .truncated)
    /// The data breaks the rules of its format.
    public static let corrupt = Code(value: .corrupt)
    /// The image, or what is asked of it, passes one of the ``DecodeLimits``.
    public static let overLimit = Code(value: .overLimit)
    /// The size asked for is zero, negative, infinite or not a number.
    public static let invalidSize = Code(value: .invalidSize)
    /// The image has fewer frames than the one asked for.
    public static let noSuchFrame = Code(value: .noSuchFrame)
    /// Decoding took longer than ``DecodeLimits/timeLimit``.
    public static let outOfTime = Code(value: .outOfTime)
    /// The caller asked to stop.
    public static let cancelled = Code(value: .cancelled)
    /// The bitmap cannot be written in the format asked for.
    public static let notEncodable = Code(value: .notEncodable)

    /// The reason's name.
    public var description: String { value.rawValue }
  }

  /// The reason.
  public let code: Code
  /// The format of the data, as far as it is known.
  public let format: ImageFormat?
  /// Which of the ``DecodeLimits`` was passed.
  ///
  /// `nil` where none was, and where what is over is no setting, such as the memory there is.
  public let limit: DecodeLimits.Name?
  /// A sentence for a person, without a capital at its start and a full stop at its end.
  public let detail: String

  /// Makes an error; for decoders and encoders of your own.
  public init(_ code: Code, format: ImageFormat? = nil, limit: DecodeLimits.Name? = nil, _ detail: String) {
    self.code = code
    self.format = format
    self.limit = limit
    self.detail = detail
  }

  /// Whether the caller asked to stop; the counterpart of `catch is CancellationError`.
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
    default: nil
    }
  }
}
