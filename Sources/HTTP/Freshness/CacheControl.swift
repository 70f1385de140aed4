/// The directives of `Cache-Control` that a private cache obeys, of a response (RFC 9111 5.2.2, RFC 5861, RFC 8246) or of
/// a request (RFC 9111 5.2.1).
///
/// Directives of a request restrict the use of a stored response, except for `max-stale`, which extends it. `s-maxage`,
/// `public` and `proxy-revalidate` concern shared caches only (``forSharedCaches``). So does `private`, which a server must
/// pass on if it serves its stored responses to others.
package struct CacheControl: Sendable, Hashable {
  /// The `max-age` in seconds.
  ///
  /// The properties below are in seconds too.
  var maxAge: Int?
  private var sharedMaxAge: Int?
  var staleIfError: Int?
  var staleWhileRevalidate: Int?
  var minFresh: Int?
  /// The `max-stale`, or `Int.max` if the directive has no argument.
  var maxStale: Int?
  package private(set) var noStore = false
  var noCache = false
  var mustRevalidate = false
  private var proxyRevalidate = false
  var isImmutable = false
  var isPrivate = false
  var onlyIfCached = false

  /// Parses the fields of a response or a request.
  package init(_ headers: HTTPFields) {
    guard let value = headers["Cache-Control"] else { return }
    Self.forEachDirective(in: value) { name, argument in
      switch name.lowercased() {
      // An invalid number counts in its strictest reading, and the smaller of two ages counts (RFC 9111 4.2.1).
      case "max-age": maxAge = min(maxAge ?? .max, Self.seconds(argument) ?? 0)
      case "s-maxage": sharedMaxAge = min(sharedMaxAge ?? .max, Self.seconds(argument) ?? 0)
      case "stale-if-error": staleIfError = Self.seconds(argument) ?? 0
      case "stale-while-revalidate": staleWhileRevalidate = Self.seconds(argument) ?? 0
      case "min-fresh": minFresh = max(minFresh ?? 0, Self.seconds(argument) ?? .max)
      case "max-stale": maxStale = argument == nil ? .max : Self.seconds(argument) ?? 0
      case "no-store": noStore = true
      // A cache may ignore the field names of this directive (RFC 9111 5.2.2.4).
      case "no-cache": noCache = true
      case "must-revalidate": mustRevalidate = true
      case "proxy-revalidate": proxyRevalidate = true
      case "immutable": isImmutable = true
      // RFC 9111 5.2.2.7 lets a cache treat the form with field names like the form without.
      case "private": isPrivate = true
      case "only-if-cached": onlyIfCached = true
      default: break
      }
    }
  }

  /// The directives as a cache obeys them that serves its responses to others (RFC 9111 5.2.2.8 and 5.2.2.10).
  ///
  /// A lifetime for shared caches precedes the other, and forbids stale responses that no directive allows. A response
  /// that is `private` goes to private caches only, whose directives count then.
  var forSharedCaches: CacheControl {
    guard !isPrivate else { return self }
    var control = self
    control.maxAge = sharedMaxAge ?? maxAge
    let allowsNone = staleIfError == nil && staleWhileRevalidate == nil
    control.mustRevalidate = mustRevalidate || proxyRevalidate || (sharedMaxAge != nil && allowsNone)
    return control
  }

  /// A Boolean value that indicates whether the age of a stored response matters to a request.
  ///
  /// If `false`, a fresh response may be used and a stale one must be revalidated, as without the directives.
  package var concernsAge: Bool { noCache || maxAge != nil || minFresh != nil || maxStale != nil }

  /// Returns `true` if a stored response is too old for the request, or not fresh for long enough.
  func refuses(age: Double, rest: Double) -> Bool {
    noCache || maxAge.map { $0 == 0 || age > Double($0) } ?? false || minFresh.map { rest < Double($0) } ?? false
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
