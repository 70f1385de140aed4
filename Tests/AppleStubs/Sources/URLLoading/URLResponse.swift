public import Foundation

// Sendable, since nothing in it changes after its creation.
/// A response to a request, without its body.
open class URLResponse: NSObject, NSCopying, @unchecked Sendable {
  private let responseURL: URL?
  private let type: String?
  private let length: Int64
  private let encoding: String?

  /// Creates a response.
  public init(url: URL, mimeType MIMEType: String?, expectedContentLength length: Int, textEncodingName name: String?) {
    responseURL = url
    type = MIMEType
    self.length = Int64(length)
    encoding = name
  }

  /// The URL that was loaded.
  open var url: URL? { responseURL }
  /// The MIME type.
  open var mimeType: String? { type }
  /// The announced number of bytes of the body, or -1 if unknown.
  open var expectedContentLength: Int64 { length }
  /// The name of the encoding of text.
  open var textEncodingName: String? { encoding }
  /// A file name for the body.
  open var suggestedFilename: String? {
    guard let name = responseURL?.lastPathComponent, !name.isEmpty, name != "/" else { return "Unknown" }
    return name
  }

  /// Returns the same response, which never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

// Sendable, since nothing in it changes after its creation.
/// A response over HTTP.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  private let status: Int
  private let fields: [String: String]

  /// Creates a response of its header fields, whose spelling is kept.
  public init?(url: URL, statusCode: Int, httpVersion HTTPVersion: String?, headerFields: [String: String]?) {
    status = statusCode
    fields = headerFields ?? [:]
    let content = fields.first { $0.key.isSameField(as: "Content-Type") }?.value
    let length = fields.first { $0.key.isSameField(as: "Content-Length") }?.value
    let parts = content?.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) } ?? []
    let charset = parts.dropFirst().first { $0.lowercased().hasPrefix("charset=") }?.dropFirst(8)
    super.init(
      url: url,
      mimeType: parts.first?.lowercased(),
      expectedContentLength: length.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? -1,
      textEncodingName: charset.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "\"'")).lowercased() },
    )
  }

  /// The status code.
  open var statusCode: Int { status }

  /// All header fields, spelled as the server did.
  ///
  /// Several fields of one name are joined with `", "`.
  open var allHeaderFields: [AnyHashable: Any] { fields }

  /// Returns the value of a header field, whose name is compared without regard to case.
  open func value(forHTTPHeaderField field: String) -> String? {
    fields.first { $0.key.isSameField(as: field) }?.value
  }

  /// Returns words for a status code.
  open class func localizedString(forStatusCode statusCode: Int) -> String {
    switch statusCode {
    case 200: "no error"
    case 301: "moved permanently"
    case 304: "not modified"
    case 400: "bad request"
    case 401: "unauthorized"
    case 403: "forbidden"
    case 404: "not found"
    case 500: "internal server error"
    case 503: "service unavailable"
    case 100..<200: "informational"
    case 200..<300: "success"
    case 300..<400: "redirected"
    case 400..<500: "client error"
    default: "server error"
    }
  }

  /// The status and the header fields, for logs.
  override open var description: String { "<HTTPURLResponse \(url?.absoluteString ?? "") \(status) \(fields)>" }
}
