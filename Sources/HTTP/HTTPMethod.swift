/// The method of a request: what the server is to do with the resource (RFC 9110, section 9).
///
/// ```swift
/// var request = try HTTPRequest("https://example.org/render")
/// request.method = .post
/// request.body = Data(#"{"width": 300}"#.utf8)
/// request.headers["Content-Type"] = "application/json"
/// ```
/// Names are compared with regard to case, as RFC 9110 requires: `get` is not `GET`.
public struct HTTPMethod: Sendable, Hashable, CustomStringConvertible {
  /// The name that is sent.
  public let name: String

  /// Creates a method of any name.
  ///
  /// A name that is no token of HTTP cannot be sent, and neither can `CONNECT`: the load fails with
  /// ``HTTPError/Code/invalidRequest``.
  public init(_ name: String) {
    self.name = name
  }

  /// Asks for the head and the body.
  public static let get = HTTPMethod("GET")
  /// Asks for the head alone.
  public static let head = HTTPMethod("HEAD")
  /// Has the resource process the body of the request.
  public static let post = HTTPMethod("POST")
  /// Replaces the resource.
  public static let put = HTTPMethod("PUT")
  /// Changes a part of the resource.
  public static let patch = HTTPMethod("PATCH")
  /// Removes the resource.
  public static let delete = HTTPMethod("DELETE")
  /// Asks what the server can do with the resource.
  public static let options = HTTPMethod("OPTIONS")

  /// A Boolean value that indicates whether the method only reads (RFC 9110, section 9.2.1); `false` for unknown ones.
  public var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(name) }

  /// A Boolean value that indicates whether sending a request twice has the effect of sending it once (RFC 9110, section
  /// 9.2.2); `false` for unknown methods.
  public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// The name.
  public var description: String { name }
}

extension HTTPMethod {
  /// Whether a request may be made conditional, so that 304 answers it (RFC 9110, section 13.1.2).
  package var allowsConditions: Bool { self == .get || self == .head }

  /// Whether it may be sent: `CONNECT` asks for a tunnel and not for a response.
  fileprivate var isSendable: Bool {
    !name.isEmpty && name.utf8.allSatisfy(\.isTokenCharacter) && name != "CONNECT"
  }

  /// Whether a request of this method has no body at all.
  fileprivate var refusesBody: Bool { self == .head || name == "TRACE" }
}

extension HTTPRequest {
  /// Whether there is a body to send; one of no bytes is none.
  package var hasBody: Bool { body?.isEmpty == false }

  /// Whether it asks for the resource by its URL and its header fields alone.
  package var isPlainGet: Bool { method == .get && !hasBody }

  /// Whether the length of the body is said even where that is zero (RFC 9110, section 8.6).
  var announcesBody: Bool { hasBody || [.post, .put, .patch].contains(method) }

  /// Says why the request cannot be sent; nil where it can.
  package var objection: String? {
    if let bad = headers.first(where: { !$0.isSendable }) { return "the header field \"\(bad.name)\" cannot be sent" }
    guard method.isSendable else { return "the method \"\(method)\" cannot be sent" }
    return hasBody && method.refusesBody ? "a request of the method \(method) has no body" : nil
  }
}

extension HTTPFields {
  /// The fields, without those by which a message is told to end: whoever sends it counts (RFC 9112, section 6).
  package var withoutFraming: HTTPFields {
    guard self["Content-Length"] != nil || self["Transfer-Encoding"] != nil else { return self }
    var fields = self
    (fields["Content-Length"], fields["Transfer-Encoding"]) = (nil, nil)
    return fields
  }
}
