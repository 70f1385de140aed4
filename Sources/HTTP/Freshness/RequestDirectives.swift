/// The directives of `Cache-Control` in a request (RFC 9111 5.2.1).
///
/// They restrict what a stored response may be used for. Only `max-stale` permits more.
package struct RequestDirectives: Sendable, Hashable {
  /// Seconds, like the two below.
  package private(set) var maxAge: Int?
  package private(set) var minFresh: Int?
  /// `Int.max` if the directive has no argument.
  package private(set) var maxStale: Int?
  package private(set) var noCache = false
  package private(set) var noStore = false
  package private(set) var onlyIfCached = false

  /// Returns `nil` if the request has no such directives.
  package init?(_ fields: HTTPFields) {
    guard let value = fields["Cache-Control"] else { return nil }
    CacheControl.forEachDirective(in: value) { name, argument in
      switch name.lowercased() {
      // Of an invalid number, the strictest reading counts.
      case "max-age": maxAge = min(maxAge ?? .max, CacheControl.seconds(argument) ?? 0)
      case "min-fresh": minFresh = max(minFresh ?? 0, CacheControl.seconds(argument) ?? .max)
      case "max-stale": maxStale = argument == nil ? .max : CacheControl.seconds(argument) ?? 0
      case "no-cache": noCache = true
      case "no-store": noStore = true
      case "only-if-cached": onlyIfCached = true
      default: break
      }
    }
  }

  /// A Boolean value that indicates whether the age of a stored response matters.
  ///
  /// If not, a fresh response may be used and a stale one must be revalidated, as without the directives.
  package var concernsAge: Bool { noCache || maxAge != nil || minFresh != nil || maxStale != nil }

  /// Returns `true` if a stored response is too old for the request, or not fresh for long enough.
  func refuses(age: Double, rest: Double) -> Bool {
    noCache || maxAge.map { $0 == 0 || age > Double($0) } ?? false || minFresh.map { rest < Double($0) } ?? false
  }
}
