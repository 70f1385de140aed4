import VitrineImaging

/// The reason why a request is refused, as a client may read it.
///
/// The text names options and values of the URL, and nothing of the server: no path, no key, no host.
public struct RequestError: Error, Hashable, CustomStringConvertible {
  /// The HTTP status: 400 if the request is not understood, 403 if it is not allowed, 404 if there is no such source,
  /// 414 if it is too long, 501 if it asks for something that the server does not do.
  public let status: Int
  /// A short text in ASCII, without line breaks.
  public let text: String
  /// The kind of the error, which logs and metrics name.
  package let code: String
  /// The details for the server's log, which clients do not get.
  package let reason: String?

  /// Makes an error.
  ///
  /// Characters of the text that are not printable ASCII become `?`; at most 200 are kept.
  ///
  /// - Parameters:
  ///   - status: The HTTP status.
  ///   - text: The text for the client.
  public init(_ status: Int, _ text: String) { self.init(status, text, code: nil) }

  /// Makes an error of another kind than the usual one of its status.
  package init(_ status: Int, _ text: String, code: String?, reason: String? = nil) {
    let usual = [400: "badRequest", 403: "forbidden", 404: "notFound", 414: "tooLong", 501: "unsupported"]
    (self.status, self.reason) = (status, reason)
    self.code = code ?? usual[status] ?? "other"
    self.text = String(decoding: text.utf8.prefix(200).map { (32...126).contains($0) ? $0 : 63 }, as: UTF8.self)
  }

  init(_ error: ImageOperationError) { self.init(400, "the option \(error)") }

  /// Errors are equal that look equal to clients.
  public static func == (left: RequestError, right: RequestError) -> Bool {
    (left.status, left.text) == (right.status, right.text)
  }

  /// Hashes the status and the text.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(text)
  }

  /// The status and the text.
  public var description: String { "\(status): \(text)" }
}
