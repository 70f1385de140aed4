import VitrineHTTP
package import VitrineRuntime

/// A signer of requests to Amazon's services: Signature Version 4.
///
/// It signs a path and a query as they are sent, both percent-encoded once, as S3 requires. Other services encode a
/// path twice and resolve its dots. libcurl has a signer, too, but it encodes paths in its own way before 8.3.
package struct SignatureV4: Sendable {
  private static let algorithm = "AWS4-HMAC-SHA256"
  /// The hash of no bytes.
  package static let emptyHash = hash(Data())
  /// The value in place of the hash of an unsigned body.
  package static let unsignedBody = "UNSIGNED-PAYLOAD"

  let credentials: S3Credentials
  let region: String
  let service: String

  package init(_ credentials: S3Credentials, region: String, service: String = "s3") {
    (self.credentials, self.region, self.service) = (credentials, region, service)
  }

  /// The parts of a request that are signed.
  package struct Parts: Sendable {
    /// The method.
    var method: String
    /// The path, percent-encoded.
    var path: String
    /// The query in the form of ``SignatureV4/query(_:)``.
    var query: String
    /// The names and values of the header fields to sign; `host` is among them.
    var fields: [(name: String, value: String)]
    /// The SHA-256 of the body in hexadecimal digits, or ``SignatureV4/unsignedBody``.
    var bodyHash: String

    package init(
      method: String = "GET",
      path: String,
      query: String = "",
      fields: [(name: String, value: String)],
      bodyHash: String = SignatureV4.emptyHash,
    ) {
      (self.method, self.path, self.query, self.fields, self.bodyHash) = (method, path, query, fields, bodyHash)
    }
  }

  /// Returns the value of `Authorization`.
  package func authorization(_ parts: Parts, at date: Date) -> String {
    let (request, names) = Self.canonicalRequest(parts)
    return "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope(date)), SignedHeaders=\(names), "
      + "Signature=\(signature(of: request, at: date))"
  }

  /// Returns the query of a URL that is valid for a time without further credentials.
  ///
  /// - Parameters:
  ///   - parts: The request. Its query is signed together with the fields of the signature.
  ///   - date: The time from which the URL is valid.
  ///   - seconds: The number of seconds for which the URL is valid.
  /// - Returns: The whole query.
  package func presignedQuery(_ parts: Parts, at date: Date, seconds: Int) -> String {
    var items: [(name: String, value: String)] = [
      ("X-Amz-Algorithm", Self.algorithm),
      ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope(date))"),
      ("X-Amz-Date", Self.timestamp(date)),
      ("X-Amz-Expires", "\(seconds)"),
      ("X-Amz-SignedHeaders", Self.canonicalFields(parts.fields).names),
    ]
    if let token = credentials.sessionToken { items.append(("X-Amz-Security-Token", token)) }
    var signed = parts
    let own = parts.query.isEmpty ? [] : parts.query.split(separator: "&").map(String.init)
    signed.query = (own + items.map(Self.encoded)).sorted(by: Self.precedes).joined(separator: "&")
    return "\(signed.query)&X-Amz-Signature=\(signature(of: Self.canonicalRequest(signed).text, at: date))"
  }

  /// Returns a query of names and values, in the order and the encoding of the signature.
  package static func query(_ items: [(name: String, value: String)]) -> String {
    items.map(encoded).sorted(by: precedes).joined(separator: "&")
  }

  /// Returns the SHA-256 of a body in hexadecimal digits.
  package static func hash(_ body: Data) -> String { SHA256.hash(body).hexDigits }

  /// Returns a time in the form that is signed and sent: `20130524T000000Z`.
  package static func timestamp(_ date: Date) -> String {
    // The time is clamped to the years that the format can express.
    let seconds = Int(clamping: min(max(date.timeIntervalSince1970, -62_135_596_800), 253_402_300_799).rounded(.down))
    let (days, time) = seconds.quotientAndRemainder(dividingBy: 86_400, roundingDown: true)
    let (year, month, day) = civil(days)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)\(two(month))\(two(day))T\(two(time / 3600))\(two(time / 60 % 60))\(two(time % 60))Z"
  }

  // MARK: Steps of the standard

  /// Returns the canonical text of a request, whose hash is signed, and the names of the fields in it.
  static func canonicalRequest(_ parts: Parts) -> (text: String, names: String) {
    let (lines, names) = canonicalFields(parts.fields)
    let path = parts.path.isEmpty ? "/" : parts.path
    let text = [parts.method, path, parts.query, lines, names, parts.bodyHash].joined(separator: "\n")
    return (text, names)
  }

  private static func canonicalFields(_ fields: [(name: String, value: String)]) -> (lines: String, names: String) {
    var values: [String: [String]] = [:]
    for field in fields { values[field.name.lowercased(), default: []].append(collapsed(field.value)) }
    let names = values.keys.sorted()
    let lines = names.map { "\($0):\((values[$0] ?? []).joined(separator: ","))\n" }.joined()
    return (lines, names.joined(separator: ";"))
  }

  /// Returns a value without spaces at its ends, and with single spaces within.
  private static func collapsed(_ value: String) -> String {
    value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
  }

  private func scope(_ date: Date) -> String {
    "\(Self.timestamp(date).prefix(8))/\(region)/\(service)/aws4_request"
  }

  private func signature(of request: String, at date: Date) -> String {
    let time = Self.timestamp(date)
    let hash = SHA256.hash(request.utf8).hexDigits
    let text = "\(Self.algorithm)\n\(time)\n\(scope(date))\n\(hash)"
    var key = Array("AWS4\(credentials.secretAccessKey)".utf8)
    for part in [String(time.prefix(8)), region, service, "aws4_request", text] {
      key = HMAC.sha256(Array(part.utf8), key: key)
    }
    return key.hexDigits
  }

  private static func encoded(_ item: (name: String, value: String)) -> String {
    "\(PercentEncoding.encode(item.name))=\(PercentEncoding.encode(item.value))"
  }

  /// Orders by name and then by value.
  ///
  /// Joined text would be in another order, since an equals sign follows digits.
  private static func precedes(_ left: String, _ right: String) -> Bool {
    let (one, other) = (left.split(separator: "=", maxSplits: 1), right.split(separator: "=", maxSplits: 1))
    guard one.first != other.first else { return left.utf8.lexicographicallyPrecedes(right.utf8) }
    return (one.first ?? "").utf8.lexicographicallyPrecedes((other.first ?? "").utf8)
  }

  /// Returns the date of a day counted from 1970; years begin in March, so that the leap day is the last.
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097, roundingDown: true)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let index = (5 * dayOfYear + 2) / 153
    let month = index < 10 ? index + 3 : index - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * index + 2) / 5 + 1)
  }
}

extension Int {
  fileprivate func quotientAndRemainder(dividingBy divisor: Int, roundingDown _: Bool) -> (Int, Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
