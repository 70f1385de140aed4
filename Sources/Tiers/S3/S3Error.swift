public import VitrineHTTP
import VitrineRuntime
public import VitrineTiers

/// An error of a request to a bucket, with the object and the cause.
///
/// It contains no secret keys and no tokens.
public struct S3Error: Error, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
      case invalidConfiguration, invalidObject, missingCredentials, notFound, denied, unavailable, refused, transport
      case damaged, tooLarge, cancelled, timedOut
    }

    private let value: Value

    /// A setting is missing or wrong.
    public static let invalidConfiguration = Code(value: .invalidConfiguration)
    /// The name of the bucket or the key is invalid.
    public static let invalidObject = Code(value: .invalidObject)
    /// No credentials are available.
    public static let missingCredentials = Code(value: .missingCredentials)
    /// There is no such object or bucket.
    public static let notFound = Code(value: .notFound)
    /// The server denies access.
    public static let denied = Code(value: .denied)
    /// The server is unavailable (500, 503), also after all attempts.
    public static let unavailable = Code(value: .unavailable)
    /// The server refuses the request for another reason, which ``S3Error/serviceCode`` names.
    public static let refused = Code(value: .refused)
    /// No complete response arrived; see ``S3Error/cause``.
    public static let transport = Code(value: .transport)
    /// The object differs from the stored one.
    public static let damaged = Code(value: .damaged)
    /// The object or the response is larger than allowed.
    public static let tooLarge = Code(value: .tooLarge)
    /// The call was cancelled.
    public static let cancelled = Code(value: .cancelled)
    /// The deadline passed.
    public static let timedOut = Code(value: .timedOut)

    /// The name of the code.
    public var description: String { value.rawValue }
  }

  /// The kind of the error.
  public let code: Code
  /// The bucket or the object, as `s3://bucket/key`; `nil` if there is none.
  public let object: String?
  /// The status of the response, if there was one.
  public let status: Int?
  /// The server's code, such as `AccessDenied`, if it gave one.
  public let serviceCode: String?
  /// The error of the transfer, with ``Code/transport``.
  public let cause: HTTPError?
  /// A description for people, which starts in lower case and has no full stop.
  public let detail: String

  /// Creates an error, for unavailable credentials and for fakes.
  public init(_ code: Code, _ detail: String) {
    self.init(code, nil, detail)
  }

  init(
    _ code: Code,
    _ object: String?,
    status: Int? = nil,
    serviceCode: String? = nil,
    cause: HTTPError? = nil,
    _ detail: String,
  ) {
    (self.code, self.object, self.status, self.serviceCode) = (code, object, status, serviceCode)
    (self.cause, self.detail) = (cause, detail)
  }

  /// Creates the error of a response without success.
  init(_ response: HTTPResponse, _ body: Data, _ object: String) {
    let document = S3ErrorDocument(body)
    let code: Code =
      switch response.status {
      case 404: .notFound
      case 401, 403: .denied
      case 500, 502, 503, 504, 429: .unavailable
      default: .refused
      }
    let words = [document.code, document.message].compactMap(\.self).joined(separator: ": ")
    let detail = "the server answered with status \(response.status)\(words.isEmpty ? "" : " (\(words))")"
    self.init(code, object, status: response.status, serviceCode: document.code, detail)
  }

  /// Creates the error of a transfer.
  init(_ error: HTTPError, _ object: String) {
    // The signing hook has thrown it.
    if let own = error.cause as? S3Error {
      self.init(own.code, object, own.detail)
      return
    }
    let code: Code =
      switch error.code {
      case .cancelled: .cancelled
      case .tooLarge: .tooLarge
      case .timedOut where error.timeout == .total: .timedOut
      default: .transport
      }
    self.init(code, object, status: error.status, cause: error.withoutCause(), error.detail)
  }

  /// A Boolean value that indicates whether the call was cancelled.
  public var isCancellation: Bool { code == .cancelled }

  /// The object and the ``detail``.
  public var description: String { object.map { "\($0): \(detail)" } ?? detail }
}

extension S3Error: DataCacheFailure {
  /// A Boolean value that indicates whether the server works, and has refused this one object.
  ///
  /// For example, the object is too large or archived, or the server is full. Errors that concern all requests, such as
  /// denied access or a missing bucket, are failures.
  public var isRefusal: Bool {
    switch code {
    case .tooLarge, .invalidObject: true
    case .refused, .notFound, .denied:
      serviceCode.map { Self.refusals.contains($0) } ?? false
        || code == .refused && status.map { Self.refusingStatuses.contains($0) } ?? false
    default: false
    }
  }

  /// The server's codes that concern one object.
  private static let refusals: Set = [
    "EntityTooLarge", "EntityTooSmall", "KeyTooLongError", "MetadataTooLarge", "InvalidDigest", "BadDigest",
    "InvalidObjectState", "InvalidRange", "NoSuchKey", "NoSuchVersion",
  ]

  /// The statuses that concern one object: method not allowed, as for a version that is gone; conflict; length
  /// required; precondition failed; too large; name too long; wrong range; head too large; full.
  private static let refusingStatuses: Set = [405, 409, 411, 412, 413, 414, 416, 431, 507]
}

/// The error in the body of a server's response.
struct S3ErrorDocument {
  private(set) var code: String?
  private(set) var message: String?
  private(set) var region: String?

  /// Reads a body, which may not be an error document.
  init(_ body: Data) {
    // Messages may quote control characters of a request, which XML does not allow.
    var reader = XMLReader(Data(body.prefix(1 << 16).map { max($0, UInt8(ascii: " ")) }))
    while let element = try? reader.next() {
      switch element.path {
      case ["Error", "Code"]: code = Self.shown(element.text, 64)
      // Amazon's message about a wrong signature continues with the signed text, in elements of its own.
      case ["Error", "Message"]: message = Self.shown(element.text, 200)
      case ["Error", "Region"]: region = element.text
      default: break
      }
    }
  }

  private static func shown(_ text: String, _ limit: Int) -> String {
    let scalars = text.unicodeScalars.prefix(limit).map { scalar in
      scalar.properties.generalCategory == .control ? " " : scalar
    }
    return String(String.UnicodeScalarView(scalars))
  }
}
