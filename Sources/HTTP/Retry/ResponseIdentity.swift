/// The identity of the response being delivered, to compare with that of another attempt.
struct ResponseIdentity {
  let head: HTTPResponse
  /// The position of its body in the file.
  let offset: Int

  init(_ head: HTTPResponse) {
    self.head = head
    offset = ContentRange(head)?.start ?? 0
  }

  /// The strong entity tag, or `nil` if there is none.
  var strongTag: String? {
    head.headers["ETag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
  }

  /// Returns `true` if a body that has not begun may come from `other` instead.
  func hasSameFields(as other: HTTPResponse) -> Bool {
    other.status == head.status
      && ["ETag", "Last-Modified", "Content-Length", "Content-Range", "Content-Type", "Content-Encoding"]
        .allSatisfy { other.headers[$0] == head.headers[$0] }
  }

  /// Returns the number of bytes that the sink already has of a response's body, or `nil` if it is not a continuation.
  func overlap(of response: HTTPResponse, delivered: Int) -> Int? {
    guard delivered > 0 else { return hasSameFields(as: response) ? 0 : nil }
    guard let tag = strongTag, response.headers["ETag"].map({ $0 == tag }) ?? true else { return nil }
    let old = ContentRange(head)
    if response.status == 206 {
      guard let new = ContentRange(response), new.start == offset + delivered else { return nil }
      let end = old?.end ?? head.contentLength.map { $0 - 1 }
      return end.map { $0 == new.end } ?? true ? 0 : nil
    }
    // A server without ranges sends the file from its start, and must confirm that it is the same.
    guard response.status == 200, head.status == 200, response.headers["ETag"] == tag else { return nil }
    return delivered
  }
}
