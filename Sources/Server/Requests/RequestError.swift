import VitrineImaging

/// The reason why a request is refused, as a client may read it.
///
/// The text names options and values of the URL, and nothing of the server: no path, no key, no host.
public struct RequestError: Error, Hashable, CustomStringConvertible {
  /// The HTTP status: 400 if the request is not understood, 403 if it is not allowed, 404 if there is no such source,
  /// 414 if it is too long.
  public let status: Int
  /// A short text in ASCII, without line breaks.
  public let text: String

  /// Makes an error.
  ///
  /// Characters of the text that are not printable ASCII become `?`; at most 200 are kept.
  ///
  /// - Parameters:
  ///   - status: The HTTP status.
  ///   - text: The text for the client.
  public init(_ status: Int, _ text: String) {
    self.status = status
    self.text = String(decoding: text.utf8.prefix(200).map { (32...126).contains($0) ? $0 : 63 }, as: UTF8.self)
  }

  init(_ error: ImageOperationError) { self.init(400, "the option \(error)") }

  /// The status and the text.
  public var description: String { "\(status): \(text)" }
}
