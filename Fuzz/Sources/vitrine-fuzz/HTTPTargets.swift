import Foundation

@testable import VitrineHTTP

/// What comes from servers and from the disk.
@Sendable
func http(_ data: Data) {
  let text = String(decoding: data, as: UTF8.self)
  if let url = try? HTTPURL(text) {
    precondition((try? HTTPURL(url.string))?.string == url.string, "canonical URLs change no more")
  }
  _ = HTTPDate.parse(text, now: Date(timeIntervalSince1970: 1_700_000_000))
  if let response = StoredResponse(encoded: data) {
    _ = StoredResponse(encoded: response.encoded)
  }
}

/// Header fields of a stored response, of one that follows it, and of a request, with an empty line between them.
@Sendable
func headers(_ data: Data) {
  let parts = data.split(separator: UInt8(ascii: "|"), maxSplits: 2, omittingEmptySubsequences: false).map(fields)
  guard let url = try? HTTPURL("http://a.invalid/") else { return }
  let (first, second, request) = (parts[0], parts.dropFirst().first ?? [:], parts.dropFirst(2).first ?? [:])
  let received = Date(timeIntervalSince1970: 1_700_000_000)
  let head = HTTPResponse(status: first["Content-Range"] == nil ? 200 : 206, headers: first, url: url)
  let next = HTTPResponse(status: second["Content-Range"] == nil ? 200 : 206, headers: second, url: url)

  let stored = StoredResponse(head, to: request, requested: received.addingTimeInterval(-2), received: received)
  precondition(StoredResponse(encoded: stored.encoded) == stored, "another response after a restart")
  let renewed = stored.renewed(by: next, requested: received, received: received.addingTimeInterval(1))
  for response in [stored, renewed] {
    for policy in [CachePolicy.standard, .reload, .cacheFirst, .cacheOnly, .maxAge(.seconds(60))] {
      for seconds in [-1e6, 0, 30, 3600, 1e9] {
        let now = received.addingTimeInterval(seconds)
        let decision = Freshness().decide(response, for: request, policy: policy, now: now)
        guard case .standard = policy, decision.action == .serve else { continue }
        precondition(decision.expires.map { now < $0 } == true, "served as fresh after its expiry")
      }
    }
  }

  let identity = ResponseIdentity(head, now: received)
  for delivered in [0, 1, 1000, Int.max / 2] { _ = identity.answer(next, delivered: delivered) }
  _ = ContentRange(next)
  _ = next.contentLength
}

private func fields(_ lines: Data) -> HTTPFields {
  var fields = HTTPFields()
  for line in lines.split(separator: UInt8(ascii: "\n")) {
    let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
    if parts.count == 2, HTTPFields.Element(name: parts[0], value: parts[1]).isSendable {
      fields.append(name: parts[0], value: String(parts[1].drop { $0 == " " }))
    }
  }
  return fields
}
