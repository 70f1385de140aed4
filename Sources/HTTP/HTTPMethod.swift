/// The method of a request (RFC 9110, section 9).
///
/// ```swift
/// var request = try HTTPRequest("https://example.org/render")
/// request.method = .post
/// request.body = Data(#"{"width": 300}"#.utf8)
/// request.headers["Content-Type"] = "application/json"
/// ```
/// Names are case-sensitive, as RFC 9110 requires: `get` is not `GET`.
public struct HTTPMethod: Sendable, Hashable, CustomStringConvertible {
  /// The name that is sent.
  public let name: String

  /// Creates a method with any name.
  ///
  /// A name that is not an HTTP token cannot be sent, and neither can `CONNECT`: the load fails with
  /// ``HTTPError/Code/invalidRequest``.
  public init(_ name: String) {
    self.name = name
  }

  /// The method that requests the head and the body.
  public static let get = HTTPMethod("GET")
  /// The method that requests the head alone.
  public static let head = HTTPMethod("HEAD")
  /// The method by which the resource processes the body of the request.
  public static let post = HTTPMethod("POST")
  /// The method that replaces the resource.
  package static let put = HTTPMethod("PUT")
  /// The method that changes a part of the resource.
  package static let patch = HTTPMethod("PATCH")
  /// The method that removes the resource.
  package static let delete = HTTPMethod("DELETE")
  /// The method that requests the options of the resource.
  package static let options = HTTPMethod("OPTIONS")

  /// A Boolean value that indicates whether the method only reads (RFC 9110, section 9.2.1); `false` for unknown ones.
  package var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(name) }

  /// A Boolean value that indicates whether sending a request twice has the effect of sending it once (RFC 9110,
  /// section 9.2.2); `false` for unknown methods.
  public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// The name.
  public var description: String { name }
}

extension HTTPMethod {
  /// A Boolean value that indicates whether a conditional request may be answered with 304 (RFC 9110, section 13.1.2).
  package var allowsConditions: Bool { self == .get || self == .head }

  /// A Boolean value that indicates whether the method allows no body.
  fileprivate var refusesBody: Bool { self == .head || name == "TRACE" }
}

extension HTTPRequest {
  /// A Boolean value that indicates whether there is a body to send; an empty one counts as none.
  package var hasBody: Bool { body?.isEmpty == false }

  /// A Boolean value that indicates whether URL and header fields make up the whole request.
  package var isPlainGet: Bool { method == .get && !hasBody }

  /// A Boolean value that indicates whether `Content-Length` is sent, even if zero (RFC 9110, section 8.6).
  var announcesBody: Bool { hasBody || method == .post || method == .put || method == .patch }

  /// The reason why the request cannot be sent; `nil` if it can.
  package var objection: String? {
    if let bad = headers.first(where: { !$0.isSendable }) { return "the header field \"\(bad.name)\" cannot be sent" }
    for name in ["Content-Length", "Transfer-Encoding"] where headers[name] != nil {
      return "the header field \"\(name)\" cannot be set: the loader sends the length of the body itself"
    }
    guard !ObjectURL.isStandIn(url) else {
      return "s3:// is loaded by an S3Loader (VitrineS3), and this loader is none"
    }
    // `CONNECT` opens a tunnel.
    guard method.name.isToken, method.name != "CONNECT" else { return "the method \"\(method)\" cannot be sent" }
    return hasBody && method.refusesBody ? "a request of the method \(method) has no body" : nil
  }
}
