/// Which part of a file a response of status 206 has.
package struct ContentRange: Hashable, Sendable {
  package let start: Int
  /// The last byte, not the one after it.
  package let end: Int
  /// How many bytes the file has; nil where the server does not know.
  package let total: Int?

  package init?(_ response: HTTPResponse) {
    guard response.status == 206, let value = response.headers["Content-Range"], value.hasPrefix("bytes ") else {
      return nil
    }
    let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, ends.count == 2, let start = Int(ends[0]), let end = Int(ends[1]), 0 <= start, start <= end
    else { return nil }
    (self.start, self.end, total) = (start, end, Int(parts[1]))
  }
}
