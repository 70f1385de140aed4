/// The directives of `Cache-Control` that a private cache obeys (RFC 9111 5.2.2, RFC 5861, RFC 8246).
///
/// `s-maxage`, `public` and `proxy-revalidate` concern shared caches only. So does `private`, which a server must pass
/// on if it serves its stored responses to others.
struct CacheControl: Sendable, Hashable {
  /// The `max-age` in seconds.
  ///
  /// The two properties below are in seconds too.
  var maxAge: Int?
  var staleIfError: Int?
  var staleWhileRevalidate: Int?
  var noStore = false
  var noCache = false
  var mustRevalidate = false
  var isImmutable = false
  var isPrivate = false

  init(_ headers: HTTPFields) {
    guard let value = headers["Cache-Control"] else { return }
    Self.forEachDirective(in: value) { name, argument in
      switch name.lowercased() {
      // An invalid value counts as 0, and the smaller of two values counts (RFC 9111 4.2.1).
      case "max-age": maxAge = min(maxAge ?? .max, Self.seconds(argument) ?? 0)
      case "stale-if-error": staleIfError = Self.seconds(argument) ?? 0
      case "stale-while-revalidate": staleWhileRevalidate = Self.seconds(argument) ?? 0
      case "no-store": noStore = true
      // A cache may ignore the field names of this directive (RFC 9111 5.2.2.4).
      case "no-cache": noCache = true
      case "must-revalidate": mustRevalidate = true
      case "immutable": isImmutable = true
      // RFC 9111 5.2.2.7 lets a cache treat the form with field names like the form without.
      case "private": isPrivate = true
      default: break
      }
    }
  }

  /// Parses a number of seconds, at most 68 years (RFC 9111 1.2.2).
  static func seconds(_ text: String?) -> Int? {
    guard let text, !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
    return min(Int(text) ?? .max, 2_147_483_648)
  }

  /// Splits the value at commas outside of quotes.
  static func forEachDirective(in value: String, _ body: (_ name: Substring, _ argument: String?) -> Void) {
    var rest = value[...]
    while !rest.isEmpty {
      var isQuoted = false
      let end = rest.utf8.firstIndex { byte in
        if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
        return byte == UInt8(ascii: ",") && !isQuoted
      }
      let piece = rest[..<(end ?? rest.endIndex)]
      rest = rest[piece.endIndex...].dropFirst()
      guard let equals = piece.utf8.firstIndex(of: UInt8(ascii: "=")) else {
        body(piece.trimmed, nil)
        continue
      }
      let argument = piece[equals...].dropFirst().trimmed
      let isInQuotes = argument.utf8.count >= 2 && argument.hasPrefix("\"") && argument.hasSuffix("\"")
      body(piece[..<equals].trimmed, String(isInQuotes ? argument.dropFirst().dropLast() : argument))
    }
  }
}
