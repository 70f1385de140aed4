import VitrineRuntime

/// The part of a response that a cache stores with the body, for freshness and revalidation.
package struct StoredResponse: Sendable, Hashable {
  /// The fields that freshness depends on.
  ///
  /// The rest of the head is not stored.
  private static let keptFields: Set<String> = [
    "age", "cache-control", "content-encoding", "content-type", "date", "etag", "expires", "last-modified", "vary",
  ]

  /// The status of the response with the body.
  package let status: Int
  /// The fields that concern caching, `Content-Type` and `Content-Encoding`.
  package let headers: HTTPFields
  /// The request's values of the fields that `Vary` names, empty for missing fields.
  package private(set) var variation: HTTPFields
  /// The time of the request that last confirmed the response.
  package let requested: Date
  /// The time of the response to that request.
  package let received: Date
  /// The redirects on the way to the response, which limit its freshness.
  private(set) var redirects: [StoredResponse] = []

  /// Creates the stored part of a response.
  ///
  /// - Parameters:
  ///   - response: The head of the response with the body.
  ///   - request: The header fields that were sent, for `Vary`.
  ///   - requested: The time at which the request was sent.
  ///   - received: The time at which the head arrived.
  package init(_ response: HTTPResponse, to request: HTTPFields = [:], requested: Date, received: Date) {
    self.init(status: response.status, headers: Self.kept(response.headers), requested: requested, received: received)
    redirects = Self.redirects(of: response, requested: requested, received: received)
    variation = variation(of: request)
  }

  private init(status: Int, headers: HTTPFields, requested: Date, received: Date) {
    (self.status, self.headers, variation) = (status, headers, [:])
    // The times are stored as whole milliseconds.
    self.requested = requested.roundedToMilliseconds
    self.received = received.roundedToMilliseconds
  }

  private static func redirects(of response: HTTPResponse, requested: Date, received: Date) -> [StoredResponse] {
    response.redirects.map { redirect in
      let arrived = received.addingTimeInterval(-(redirect.elapsed / .seconds(1)))
      let headers = kept(redirect.headers)
      return StoredResponse(status: redirect.status, headers: headers, requested: requested, received: arrived)
    }
  }

  /// A Boolean value that indicates whether the response may be stored.
  ///
  /// It must be a complete success without `no-store` (RFC 9111 3) and without `Vary: *`, which no later request
  /// matches (RFC 9111 4.1). The same holds for the redirects that led to it.
  package var isStorable: Bool { [200, 203].contains(status) && allowsStoring }

  /// A Boolean value that indicates whether the response and its redirects allow storing it.
  package var allowsStoring: Bool {
    !varying.contains("*") && !CacheControl(headers).noStore
      && redirects.allSatisfy { !CacheControl($0.headers).noStore }
  }

  /// A Boolean value that indicates whether shared caches must not store the response, or a redirect that led to it.
  package var isPrivate: Bool {
    CacheControl(headers).isPrivate || redirects.contains { CacheControl($0.headers).isPrivate }
  }

  /// The time in `Last-Modified`, or `nil` if there is none.
  package var modified: Date? { headers["Last-Modified"].flatMap { HTTPDate.parse($0, now: received) } }

  /// A Boolean value that indicates whether the headers contain freshness information.
  package var hasFreshnessInformation: Bool {
    let control = CacheControl(headers)
    return control.noStore || control.noCache || hasExplicitLifetime || !allowsStoring
      || isHeuristicallyFresh && headers["Last-Modified"] != nil
  }

  /// A Boolean value that indicates whether the server set an explicit lifetime.
  package var hasExplicitLifetime: Bool { CacheControl(headers).maxAge != nil || headers["Expires"] != nil }

  /// Returns a Boolean value that indicates whether the response answers a request with these header fields.
  ///
  /// The fields that `Vary` names must be the same (RFC 9111 4.1).
  package func answers(_ request: HTTPFields) -> Bool {
    variation.isEmpty || variation(of: request) == variation
  }

  /// The entity tag if it is strong and promises identical bytes, as ranges and content ids require (RFC 9110 8.8.1).
  package var strongEntityTag: String? {
    headers["ETag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
  }

  /// The value of `If-Range` for the rest of an incomplete body, or `nil` if no validator is strong enough.
  package var rangeValidator: String? { headers.rangeValidator(now: received) }

  /// The header fields that make a request conditional (RFC 9110 13.1), empty if there is no validator.
  package var conditions: HTTPFields {
    var fields = HTTPFields()
    if let tag = headers["ETag"] { fields.append(name: "If-None-Match", value: tag) }
    if let date = headers["Last-Modified"] { fields.append(name: "If-Modified-Since", value: date) }
    return fields
  }

  /// Returns the stored response after a 304, whose header fields replace old ones of the same name (RFC 9111 3.2).
  package func renewed(by response: HTTPResponse, requested: Date, received: Date) -> StoredResponse {
    var headers = headers
    // The old `Age` and `Date` are obsolete.
    headers["Age"] = nil
    headers["Date"] = nil
    headers.replace(with: Self.kept(response.headers))
    var renewed = StoredResponse(status: status, headers: headers, requested: requested, received: received)
    renewed.redirects = Self.redirects(of: response, requested: requested, received: received)
    // The request answered by the 304 had the same fields as the original one.
    renewed.variation = renewed.variation(of: variation)
    return renewed
  }

  /// The distinct names in `Vary` of the response and its redirects, in lower case and sorted.
  private var varying: [String] {
    var values = headers.values(for: "Vary")
    for redirect in redirects { values += redirect.headers.values(for: "Vary") }
    guard !values.isEmpty else { return [] }
    let names = values.flatMap { $0.split(separator: ",") }
    let fields = Set(names.map { $0.trimmed.lowercased() }.filter { !$0.isEmpty })
    // An invalid name may stand for any field, like the star.
    guard fields.allSatisfy({ $0.utf8.allSatisfy(\.isTokenCharacter) }) else { return ["*"] }
    return fields.sorted()
  }

  private func variation(of request: HTTPFields) -> HTTPFields {
    HTTPFields(varying.map { name in (name, request[name].map { String($0.trimmed) } ?? "") })
  }

  private static func kept(_ headers: HTTPFields) -> HTTPFields {
    // A field of more than 8 KB serves to attack the cache's memory.
    headers.filter { $0.value.utf8.count <= 8192 && keptFields.contains($0.name.lowercased()) }
  }
}

// MARK: - Encoding

extension StoredResponse {
  private static let version: UInt8 = 2
  /// The version of a response after redirects.
  private static let redirectedVersion: UInt8 = 3

  /// The encoded form for a cache.
  ///
  /// It consists of a version, the status, two times, lines of fields, and after an empty line the fields that `Vary`
  /// names. For each redirect, it adds an empty line and lines of the redirect's status, times and fields.
  package var encoded: Data {
    // The form is encoded once for each image from a server, so without growing.
    var head = HeadWriter(capacity: 20 + length(of: headers) + length(of: variation))
    head.append(redirects.isEmpty ? Self.version : Self.redirectedVersion)
    head.append(UInt16(truncatingIfNeeded: status))
    head.append(requested.milliseconds)
    head.append(received.milliseconds)
    append(headers, to: &head)
    if !variation.isEmpty || !redirects.isEmpty { head.append("\n") }
    append(variation, to: &head)
    for redirect in redirects {
      head.append("\n\(redirect.status):\(redirect.requested.milliseconds):\(redirect.received.milliseconds)\n")
      append(redirect.headers, to: &head)
    }
    return head.data
  }

  private func length(of fields: HTTPFields) -> Int {
    fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 2 }
  }

  private func append(_ fields: HTTPFields, to head: inout HeadWriter) {
    for field in fields {
      // Names and values cannot contain a line end.
      head.append(field.name)
      head.append(":")
      head.append(field.value)
      head.append("\n")
    }
  }

  /// Decodes ``encoded``, or returns `nil` for other bytes, including other versions.
  package init?(encoded: Data) {
    guard var head = HeadReader(encoded), let version = head.uint8(),
      [Self.version, Self.redirectedVersion].contains(version), let status = head.uint16(),
      let requested = head.number(Int64.self), let received = head.number(Int64.self),
      let lines = head.lines(), lines.last?.isEmpty == true
    else { return nil }
    let sections = lines.dropLast().split(omittingEmptySubsequences: false, whereSeparator: \.isEmpty)
    guard version == Self.version ? sections.count <= 2 : sections.count > 2,
      let headers = HTTPFields(lines: sections[0]),
      let variation = HTTPFields(lines: sections.count > 1 ? sections[1] : [])
    else { return nil }
    let times = (Date(milliseconds: requested), Date(milliseconds: received))
    self.init(status: Int(status), headers: headers, requested: times.0, received: times.1)
    self.variation = variation
    for section in sections.dropFirst(2) {
      guard let redirect = StoredResponse(redirect: section) else { return nil }
      redirects.append(redirect)
    }
  }

  /// Decodes a redirect.
  private init?(redirect lines: ArraySlice<Substring>) {
    let numbers = (lines.first ?? "").split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
    guard numbers.count == 3, let status = numbers[0].flatMap({ Int(exactly: $0) }), let requested = numbers[1],
      let received = numbers[2], let headers = HTTPFields(lines: lines.dropFirst())
    else { return nil }
    let times = (Date(milliseconds: requested), Date(milliseconds: received))
    self.init(status: status, headers: headers, requested: times.0, received: times.1)
  }
}

extension HTTPFields {
  /// Decodes lines of names and values, or returns `nil` if one has no colon.
  package init?(lines: ArraySlice<Substring>) {
    // The search is by bytes: as a character the colon would include a combining mark at the beginning of the value.
    let colon = UInt8(ascii: ":")
    guard lines.allSatisfy({ $0.utf8.contains(colon) }) else { return nil }
    self.init(
      lines.lazy.map { line in
        let end = line.utf8.firstIndex(of: colon) ?? line.endIndex
        return (name: String(line[..<end]), value: String(line[end...].utf8.dropFirst()) ?? "")
      }
    )
  }
}

extension Date {
  /// The rounded date in milliseconds, clamped to the range of a date, since a clock may have any value.
  fileprivate var milliseconds: Int64 {
    let limit: Int64 = 9_000_000_000_000_000
    return min(max(Int64(clamping: (timeIntervalSince1970 * 1000).rounded()), -limit), limit)
  }

  fileprivate init(milliseconds: Int64) {
    self = Date(timeIntervalSince1970: Double(milliseconds) / 1000).roundedToMilliseconds
  }

  fileprivate var roundedToMilliseconds: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
