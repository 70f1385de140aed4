public import VitrineRuntime

/// What a cache keeps of a response beside its body, to tell how long it may be served and how to ask again.
public struct StoredResponse: Sendable, Hashable {
  /// What freshness depends on; the rest of the head is not kept.
  private static let keptFields: Set<String> = [
    "age", "cache-control", "content-type", "date", "etag", "expires", "last-modified", "vary",
  ]

  /// The status of the response that brought the body.
  public let status: Int
  /// The fields that matter to caching, and `Content-Type`.
  public private(set) var headers: HTTPFields
  /// What the request said in the fields that `Vary` names; a field that it did not have is empty.
  public private(set) var variation: HTTPFields
  /// When the request was sent that it was last confirmed by.
  public private(set) var requested: Date
  /// When the answer to that came.
  public private(set) var received: Date

  /// Keeps what matters of a response.
  ///
  /// - Parameters:
  ///   - response: The head that came with the body.
  ///   - request: The fields that were sent, for `Vary`.
  ///   - requested: When the request was sent.
  ///   - received: When the head came.
  public init(_ response: HTTPResponse, to request: HTTPFields = [:], requested: Date, received: Date) {
    status = response.status
    headers = Self.kept(response.headers)
    variation = Self.variation(of: request, by: headers)
    // Times are stored as whole milliseconds.
    self.requested = requested.roundedToMilliseconds
    self.received = received.roundedToMilliseconds
  }

  /// Whether the response may be stored at all: a success that is whole, without `no-store` (RFC 9111 3) and
  /// without `Vary: *`, which no later request can match (RFC 9111 4.1).
  public var isStorable: Bool {
    [200, 203].contains(status) && !CacheControl(headers).noStore && !Self.varying(headers).contains("*")
  }

  /// Whether the server itself said for how long it is fresh.
  package var saysLifetime: Bool { CacheControl(headers).maxAge != nil || headers["Expires"] != nil }

  /// Whether a request with these fields would have had this response: those that `Vary` names are the same (RFC 9111 4.1).
  public func answers(_ request: HTTPFields) -> Bool {
    variation.isEmpty || Self.variation(of: request, by: headers) == variation
  }

  /// The entity tag if it promises the same bytes, which ranges and content ids need (RFC 9110 8.8.1).
  public var strongEntityTag: String? {
    headers["ETag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
  }

  /// The fields that make a request conditional (RFC 9110 13.1); empty where there is no validator.
  public var conditions: HTTPFields {
    var fields = HTTPFields()
    if let tag = headers["ETag"] { fields.append(name: "If-None-Match", value: tag) }
    if let date = headers["Last-Modified"] { fields.append(name: "If-Modified-Since", value: date) }
    return fields
  }

  /// Returns what is to be stored after a 304: its fields in place of the old ones of that name (RFC 9111 3.2).
  public func renewed(by response: HTTPResponse, requested: Date, received: Date) -> StoredResponse {
    var renewed = self
    // An `Age` or a `Date` of then says nothing about now.
    renewed.headers["Age"] = nil
    renewed.headers["Date"] = nil
    renewed.headers.replace(with: Self.kept(response.headers))
    // The request that was answered by 304 had the same fields as the one of then.
    let known = variation
    renewed.variation = Self.variation(of: known, by: renewed.headers)
    renewed.requested = requested.roundedToMilliseconds
    renewed.received = received.roundedToMilliseconds
    return renewed
  }

  /// The names in `Vary`, in lower case and order, each once.
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
    // A field of 8 KB is no caching matter but an attack on the cache's memory.
    for field in headers where field.value.utf8.count <= 8192 && keptFields.contains(field.name.lowercased()) {
      kept.append(name: field.name, value: field.value)
    }
    return kept
  }
}

// MARK: - As bytes

extension StoredResponse {
  private static let version: UInt8 = 2

  /// The form in which a cache stores it: a version, the status, two times, lines of fields, and after an empty line those
  /// that `Vary` named.
  public var encoded: Data {
    // Made once per image that comes from a server, so in one piece of memory.
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
      // Neither can hold a line end.
      bytes.append(contentsOf: field.name.utf8)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: field.value.utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
  }

  /// Reads what ``encoded`` wrote; nil for anything else, that of other versions included.
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
    // Within what 64 bits hold, whatever a clock says.
    let milliseconds = min(max((timeIntervalSince1970 * 1000).rounded(), -9e15), 9e15)
    return Date(timeIntervalSince1970: milliseconds / 1000)
  }
}
