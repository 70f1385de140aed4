import VitrineHTTP
import VitrineRuntime

/// The time for which bytes, and images made from them, may be served without revalidation.
struct Validity: Sendable, Hashable {
  /// The end of freshness; `nil` for never.
  var expires: Date?
  /// The time of the server's last confirmation; `nil` if there is no server.
  let confirmed: Date?
  /// The time until which it may be served if the server cannot be reached; `nil` for not at all.
  let usableOnErrorUntil: Date?
  /// The time until which it may be served if the server answers that it failed; `nil` for not at all.
  var usableOnServerErrorUntil: Date?
  /// The time until which it may be served while it is revalidated; `nil` for not at all.
  var usableWhileRevalidatingUntil: Date?
  /// The request's values of the fields that `Vary` named; mostly empty.
  var variation: HTTPFields = [:]
  /// True if a cache may store it.
  var isKept: Bool
  /// True if no cache that serves others may store it.
  var isPrivate = false
  /// The time of the original's last change by its server's word; `nil` if it said none.
  var modified: Date?
}

extension Validity {
  /// The validity of the bytes of a response.
  init(of stored: StoredResponse, by freshness: Freshness, at now: Date) {
    self.init(of: stored, freshness.decide(stored, for: stored.variation, now: now), at: now)
  }

  /// The same, given the decision of the standard policy.
  init(of stored: StoredResponse, _ decision: Freshness.Decision, at now: Date) {
    self.init(
      // A response that must always be revalidated is stale from the start, whatever its age says.
      expires: decision.action == .serve ? decision.expires : decision.expires.map { min($0, now) },
      confirmed: stored.received,
      usableOnErrorUntil: decision.usableOnErrorUntil,
      usableOnServerErrorUntil: decision.usableOnServerErrorUntil,
      usableWhileRevalidatingUntil: decision.usableWhileRevalidatingUntil,
      variation: stored.variation,
      isKept: stored.isStorable,
      isPrivate: stored.isPrivate,
      modified: stored.modified,
    )
  }

  /// The validity of sources without a server.
  static let unlimited = until(nil)

  /// That of images that somebody made, good until a time; `nil` for ever.
  static func until(_ expires: Date?) -> Validity {
    Validity(expires: expires, confirmed: nil, usableOnErrorUntil: nil, isKept: true)
  }

  /// Returns true if it may be served now while it is revalidated in the background.
  func isUsableWhileRevalidating(at now: @autoclosure () -> Date, _ request: ImageRequest) -> Bool {
    // A request that may change something is not sent in the background.
    guard request.cachePolicy == .standard, !request.revalidates, request.method.isSafe, !request.limitsAge else {
      return false
    }
    return usableWhileRevalidatingUntil.map { now() < $0 } ?? false
  }

  /// Returns true if a request with these fields would have had the same response.
  func answers(_ fields: @autoclosure () -> HTTPFields) -> Bool {
    guard !variation.isEmpty else { return true }
    let fields = fields()
    return variation.allSatisfy { (fields[$0.name] ?? "") == $0.value }
  }

  /// Returns true if it may be served without a look at the response that it comes from.
  ///
  /// Evaluates `now` only if it matters.
  func isFresh(at now: @autoclosure () -> Date, _ request: ImageRequest) -> Bool {
    guard !request.limitsAge else { return false }
    return switch request.cachePolicy {
    case .cacheFirst, .cacheOnly: true
    case .standard, .reload: expires.map { now() < $0 } ?? true
    case .maxAge(let age): confirmed.map { now() < $0.addingTimeInterval(age / .seconds(1)) } ?? true
    }
  }
}
