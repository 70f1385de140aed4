import VitrineRuntime

/// The identity of the response being delivered, to compare with the response of another attempt.
struct ResponseIdentity {
  let head: HTTPResponse
  /// The position of its body in the file.
  let offset: Int
  /// The value of `If-Range` with which the rest can be requested, or `nil` if none is strong enough.
  let validator: String?

  /// Creates the identity of a response that arrived at `now`.
  init(_ head: HTTPResponse, now: Date) {
    self.head = head
    offset = ContentRange(head)?.start ?? 0
    validator = head.headers.rangeValidator(now: now)
  }

  /// The relation of a response to the interrupted one.
  enum Answer: Equatable {
    /// Its body continues the delivered one, once the bytes that the sink already has are skipped.
    case rest(skipping: Int)
    /// It replaces the interrupted response, from the beginning.
    case whole
    /// It shows that the server does not send the rest.
    case misfit
    /// It is not a response with the file, but for example an error page.
    case refusal
  }

  /// Returns the relation of a response to this one, of which the sink has received `delivered` bytes.
  func answer(_ response: HTTPResponse, delivered: Int) -> Answer {
    if let skipped = overlap(of: response, delivered: delivered) { return .rest(skipping: skipped) }
    switch response.status {
    case 206, 416: return .misfit
    case 200, 203: return .whole
    default: return .refusal
    }
  }

  /// Returns the number of bytes that the sink already has of a response's body, or `nil` if it is not a continuation.
  private func overlap(of response: HTTPResponse, delivered: Int) -> Int? {
    guard delivered > 0 else {
      // A body that has not begun may come from a response with the same fields instead.
      let names = ["ETag", "Last-Modified", "Content-Length", "Content-Range", "Content-Type", "Content-Encoding"]
      return response.status == head.status && names.allSatisfy { response.headers[$0] == head.headers[$0] } ? 0 : nil
    }
    guard validator != nil, head.headers.isSameVersion(as: response.headers) else { return nil }
    let old = ContentRange(head)
    let total = old?.total ?? (old == nil ? head.contentLength : nil)
    if response.status == 206 {
      guard let new = ContentRange(response), new.start == offset + delivered, new.isOfFile(ofLength: total) else {
        return nil
      }
      guard let end = old?.end ?? (total ?? new.total).map({ $0 - 1 }) else { return 0 }
      return end == new.end ? 0 : nil
    }
    // A server without ranges sends the file from its start, and must confirm that it is the same.
    guard response.status == 200, head.status == 200, head.contentLength == response.contentLength else { return nil }
    return delivered
  }
}

extension ContentRange {
  /// Returns `true` unless both lengths are known and differ.
  package func isOfFile(ofLength length: Int?) -> Bool {
    guard let length, let total else { return true }
    return length == total
  }
}

extension HTTPFields {
  /// Returns the value of `If-Range` for the rest of a response that arrived at `now`, or `nil` if no validator is
  /// strong enough.
  ///
  /// It is a strong entity tag, or without any tag a `Last-Modified` at least a second before `Date` (RFC 9110 8.8.2.2,
  /// 13.1.5). A body with a coding was decoded, and ranges count the bytes before that.
  package func rangeValidator(now: Date) -> String? {
    guard contentCodings.isEmpty else { return nil }
    if let tag = self["ETag"] { return tag.hasPrefix("\"") ? tag : nil }
    guard let modified = self["Last-Modified"], let date = self["Date"],
      let since = HTTPDate.parse(modified, now: now), let sent = HTTPDate.parse(date, now: now),
      sent.timeIntervalSince(since) >= 1
    else { return nil }
    return modified
  }

  /// The codings of a body (RFC 9110 8.4), in lower case, without `identity`.
  package var contentCodings: [String] {
    values(for: "Content-Encoding").flatMap { $0.lowercased().split(separator: ",").map { String($0.trimmed) } }
      .filter { !["", "identity", "none"].contains($0) }
  }

  /// Returns `true` if the other fields have the same validators, and lack the same ones.
  package func isSameVersion(as other: HTTPFields) -> Bool {
    guard self["ETag"] == other["ETag"] else { return false }
    return self["ETag"] != nil || self["Last-Modified"] == other["Last-Modified"]
  }
}
