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
    guard parts.count == 2, ends.count == 2, let start = ends[0].digits, let end = ends[1].digits,
      start <= end, parts[1] == "*" || parts[1].digits ?? 0 > end
    else { return nil }
    (self.start, self.end, total) = (start, end, parts[1].digits)
  }
}
