import VitrineRuntime

/// The contents of a `data:` URL (RFC 2397).
///
/// ```swift
/// let dot = try DataURL("data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=")
/// ```
package struct DataURL: Sendable, Hashable {
  /// The bytes.
  package let data: Data

  /// Returns a Boolean value that indicates whether a string begins with `data:`, ignoring case.
  package static func isDataURL(_ string: String) -> Bool {
    string.trimmed.prefix(5).equalsIgnoringCase("data:")
  }

  /// Parses a `data:` URL.
  ///
  /// Like browsers, it ignores white space in base64 and missing padding.
  ///
  /// - Complexity: O(n) in the length of the string. The bytes never outnumber the characters.
  /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidURL``, which contains at most 40 bytes of the URL.
  package init(_ string: String) throws(HTTPError) {
    func invalid(_ why: String) -> HTTPError {
      let beginning = String(decoding: string.utf8.prefix(40), as: UTF8.self)
      return HTTPError(.invalidURL, url: string.utf8.count > 40 ? beginning + "…" : string, why)
    }
    guard Self.isDataURL(string) else { throw invalid("not a data: URL") }
    let rest = string.trimmed.utf8.dropFirst(5)
    guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else { throw invalid("a data: URL without a comma") }
    let description = String(decoding: rest[..<comma], as: UTF8.self)
    let parameters = description.split(separator: ";", omittingEmptySubsequences: false).map { String($0.trimmed) }
    let body = rest[rest.index(after: comma)...].prefix { $0 != UInt8(ascii: "#") }
    let bytes = PercentEncoding.decode(body).bytes
    guard let last = parameters.last, last.equalsIgnoringCase("base64"), parameters.count > 1 else {
      data = Data(bytes)
      return
    }
    guard let decoded = Self.base64Decoded(bytes) else { throw invalid("a data: URL with invalid base64") }
    data = decoded
  }

  private static func base64Decoded(_ bytes: [UInt8]) -> Data? {
    var text = bytes.filter { ![9, 10, 12, 13, 32].contains($0) }
    for _ in 0..<2 where text.count % 4 == 0 || text.count % 4 == 3 {
      if text.last == UInt8(ascii: "=") { text.removeLast() }
    }
    // A remainder of six bits is not a byte, and Foundation accepts too much padding.
    guard text.count % 4 != 1, !text.contains(UInt8(ascii: "=")) else { return nil }
    while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: Data(text))
  }
}
