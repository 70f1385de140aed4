public import VitrineRuntime

/// The part of a response that a cache stores with the body, to judge its freshness and to revalidate it.
public struct StoredResponse: Sendable, Hashable {
  /// The fields that freshness depends on.
  ///
  /// The rest of the head is not stored.
  private static let keptFields: Set<String> = [
    "age", "cache-control", "content-type", "date", "etag", "expires", "last-modified", "vary",
  ]

  /// The status of the response with the body.
  public let status: Int
  /// The fields that concern caching, and `Content-Type`.
  public private(set) var headers: HTTPFields
  /// The request's values of the fields that `Vary` names, empty for missing fields.
  public private(set) var variation: HTTPFields
  /// The time of the request that last confirmed the response.
  public private(set) var requested: Date
  /// The time of the answer to that request.
  public private(set) var received: Date

  /// Creates the stored part of a response.
  ///
  /// - Parameters:
  ///   - response: The head that came with the body.
  ///   - request: The header fields that were sent, for `Vary`.
  ///   - requested: The time at which the request was sent.
  ///   - received: The time at which the head arrived.
  public init(_ response: HTTPResponse, to request: HTTPFields = [:], requested: Date, received: Date) {
    status = response.status
    headers = Self.kept(response.headers)
    variation = Self.variation(of: request, by: headers)
    // Stored as whole milliseconds.
    self.requested = requested.roundedToMilliseconds
    self.received = received.roundedToMilliseconds
  }

  /// A Boolean value that indicates whether the response may be stored.
  ///
  /// It must be a complete success without `no-store` (RFC 9111 3) and without `Vary: *`, which no later request
  /// matches (RFC 9111 4.1).
  public var isStorable: Bool {
    [200, 203].contains(status) && !CacheControl(headers).noStore && !Self.varying(headers).contains("*")
  }

  /// A Boolean value that indicates whether the server set an explicit lifetime.
  package var hasExplicitLifetime: Bool { CacheControl(headers).maxAge != nil || headers["Expires"] != nil }

  /// Returns a Boolean value that indicates whether the response answers a request with these header fields.
  ///
  /// The fields that `Vary` names must be the same (RFC 9111 4.1).
  public func answers(_ request: HTTPFields) -> Bool {
    variation.isEmpty || Self.variation(of: request, by: headers) == variation
  }

  /// The entity tag if it is strong and promises identical bytes, as ranges and content ids require (RFC 9110 8.8.1).
  public var strongEntityTag: String? {
    headers["ETag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
  }

  /// The header fields that make a request conditional (RFC 9110 13.1), empty if there is no validator.
  public var conditions: HTTPFields {
    var fields = HTTPFields()
    if let tag = headers["ETag"] { fields.append(name: "If-None-Match", value: tag) }
    if let date = headers["Last-Modified"] { fields.append(name: "If-Modified-Since", value: date) }
    return fields
  }

  /// Returns the stored response after a 304, whose header fields replace old ones of the same name (RFC 9111 3.2).
  public func renewed(by response: HTTPResponse, requested: Date, received: Date) -> StoredResponse {
    var renewed = self
    // The old `Age` and `Date` are obsolete.
    renewed.headers["Age"] = nil
    renewed.headers["Date"] = nil
    renewed.headers.replace(with: Self.kept(response.headers))
    // The request answered by the 304 had the same fields as the original one.
    let known = variation
    renewed.variation = Self.variation(of: known, by: renewed.headers)
    renewed.requested = requested.roundedToMilliseconds
    renewed.received = received.roundedToMilliseconds
    return renewed
  }

  /// Returns the distinct names in `Vary`, in lower case and sorted.
  private static func varying(_ headers: HTTPFields) -> [String] {
    let names = headers.values(for: "Vary").flatMap { $0.split(separator: ",") }
    return Set(names.map { $0.trimmed.lowercased() }.filter { !$0.isEmpty }).sorted()
  }

  private static func variation(of request: HTTPFields, by headers: HTTPFields) -> HTTPFields {
    var variation = HTTPFields()
    for name in varying(headers) {
      variation.append(name: name, value: request[name].map { String($0.trimmed) } ?? "")
    }
    return variation
  }

  private static func kept(_ headers: HTTPFields) -> HTTPFields {
    var kept = HTTPFields()
    // A field of 8 KB is not about caching but attacks the cache's memory.
    for field in headers where field.value.utf8.count <= 8192 && keptFields.contains(field.name.lowercased()) {
      kept.append(name: field.name, value: field.value)
    }
    return kept
  }
}

// MARK: - Encoding

extension StoredResponse {
  private static let version: UInt8 = 2

  /// The encoded form for a cache.
  ///
  /// It has a version, the status, two times, lines of fields, and after an empty line the fields that `Vary` names.
  public var encoded: Data {
    // Encoded once for each image from a server, so in a single allocation.
    var bytes = Data(capacity: 20 + length(of: headers) + length(of: variation))
    bytes.append(Self.version)
    bytes.append(UInt8(truncatingIfNeeded: status))
    bytes.append(UInt8(truncatingIfNeeded: status >> 8))
    append(requested, to: &bytes)
    append(received, to: &bytes)
    append(headers, to: &bytes)
    if !variation.isEmpty { bytes.append(UInt8(ascii: "\n")) }
    append(variation, to: &bytes)
    return bytes
  }

  private func length(of fields: HTTPFields) -> Int {
    fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 2 }
  }

  private func append(_ time: Date, to bytes: inout Data) {
    let milliseconds = Int64(time.timeIntervalSince1970 * 1000)
    for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: milliseconds >> (8 * place))) }
  }

  private func append(_ fields: HTTPFields, to bytes: inout Data) {
    for field in fields {
      // Neither can contain a line end.
      bytes.append(contentsOf: field.name.utf8)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: field.value.utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
  }

  /// Decodes ``encoded``, or returns `nil` for anything else, including other versions.
  public init?(encoded: Data) {
    let bytes = [UInt8](encoded)
    guard bytes.count >= 19, bytes[0] == Self.version,
      let text = String(validating: bytes[19...], as: UTF8.self), text.isEmpty || text.hasSuffix("\n")
    else { return nil }
    func time(at start: Int) -> Date {
      let milliseconds = (0..<8).reduce(Int64(0)) { $0 | Int64(bytes[start + $1]) << Int64(8 * $1) }
      return Date(timeIntervalSince1970: Double(milliseconds) / 1000).roundedToMilliseconds
    }
    status = Int(bytes[1]) | Int(bytes[2]) << 8
    requested = time(at: 3)
    received = time(at: 11)
    headers = HTTPFields()
    variation = HTTPFields()
    var isVariation = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if line.isEmpty, !isVariation {
        isVariation = true
        continue
      }
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let (name, value) = (String(line[..<colon]), String(line[colon...].dropFirst()))
      if isVariation { variation.append(name: name, value: value) } else { headers.append(name: name, value: value) }
    }
  }
}

extension Date {
  fileprivate var roundedToMilliseconds: Date {
    // Limited to what 64 bits can hold, whatever the clock says.
    let milliseconds = min(max((timeIntervalSince1970 * 1000).rounded(), -9e15), 9e15)
    return Date(timeIntervalSince1970: milliseconds / 1000)
  }
}
