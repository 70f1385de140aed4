/// The range of a response of status 206.
package struct ContentRange: Hashable, Sendable {
  package let start: Int
  /// The position of the last byte, inclusive.
  package let end: Int
  /// The length of the file, or `nil` if the server gives none (`*`).
  package let total: Int?

  package init?(_ response: HTTPResponse) {
    guard response.status == 206, let value = response.headers["Content-Range"], value.hasPrefix("bytes ") else {
      return nil
    }
    let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    // An invalid range must not be combined with any other (RFC 9110 14.4).
    guard parts.count == 2, ends.count == 2, let start = Self.number(ends[0]), let end = Self.number(ends[1]),
      start <= end, parts[1] == "*" || Self.number(parts[1]) ?? 0 > end
    else { return nil }
    (self.start, self.end, total) = (start, end, Self.number(parts[1]))
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
  }
}
