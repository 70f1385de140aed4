/// The directives of `Cache-Control` in a request (RFC 9111 5.2.1).
///
/// They restrict the use of a stored response, except for `max-stale`, which extends it.
package struct RequestDirectives: Sendable, Hashable {
  /// The `max-age` in seconds.
  ///
  /// The two properties below are in seconds too.
  package private(set) var maxAge: Int?
  package private(set) var minFresh: Int?
  /// The `max-stale`, or `Int.max` if the directive has no argument.
  package private(set) var maxStale: Int?
  package private(set) var noCache = false
  package private(set) var noStore = false
  package private(set) var onlyIfCached = false

  /// Returns `nil` if the request has no such directives.
  package init?(_ fields: HTTPFields) {
    guard let value = fields["Cache-Control"] else { return nil }
    CacheControl.forEachDirective(in: value) { name, argument in
      switch name.lowercased() {
      // An invalid number counts in its strictest reading.
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
  /// If `false`, a fresh response may be used and a stale one must be revalidated, as without the directives.
  package var concernsAge: Bool { noCache || maxAge != nil || minFresh != nil || maxStale != nil }

  /// Returns `true` if a stored response is too old for the request, or not fresh for long enough.
  func refuses(age: Double, rest: Double) -> Bool {
    noCache || maxAge.map { $0 == 0 || age > Double($0) } ?? false || minFresh.map { rest < Double($0) } ?? false
  }
}
