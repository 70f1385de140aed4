import VitrineHTTP
import VitrineRuntime

/// The time for which bytes, and images made from them, may be served without revalidation.
struct Validity: Sendable, Hashable {
  /// The end of freshness; `nil` for never.
  var expires: Date?
  /// The time of the request that the server last confirmed; `nil` if there is no server.
  let confirmed: Date?
  /// The time until which the bytes may be served if the server cannot be reached; `nil` if they may not.
  let usableOnErrorUntil: Date?
  /// The time until which the bytes may be served if the server answers that it failed; `nil` if they may not.
  var usableOnServerErrorUntil: Date?
  /// The time until which the bytes may be served while they are revalidated; `nil` if they may not.
  var usableWhileRevalidatingUntil: Date?
  /// The request's values of the fields that `Vary` named; mostly empty.
  var variation: HTTPFields = [:]
  /// A Boolean value that indicates whether a cache may store the bytes.
  var isKept: Bool
  /// A Boolean value that indicates whether shared caches must not store the bytes (`Cache-Control: private`).
  var isPrivate = false
  /// The time of the original's last change, according to its server; `nil` if unknown.
  var modified: Date?
  /// The encoded head of the response, for the revalidation of an image in memory whose bytes are not stored; `nil` for
  /// stored bytes, and for a response that cannot be revalidated.
  var response: Shared<Data>?
}

extension Validity {
  /// The maximum number of bytes of ``response``; most heads have 200 to 400.
  static let responseLimit = 2048

  /// Creates the validity of the bytes of a response.
  init(of stored: StoredResponse, by freshness: Freshness, at now: Date) {
    self.init(of: stored, freshness.decide(stored, for: stored.variation, now: now), at: now)
  }

  /// Creates the validity of the bytes of a response from a decision of the standard policy.
  init(of stored: StoredResponse, _ decision: Freshness.Decision, at now: Date) {
    self.init(
      // A response that must always be revalidated is stale from the start, whatever its age.
      expires: decision.action == .serve ? decision.expires : decision.expires.map { min($0, now) },
      confirmed: stored.requested,
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

  /// Returns the validity of images that the program made, which expire at a time; `nil` for never.
  static func until(_ expires: Date?) -> Validity {
    Validity(expires: expires, confirmed: nil, usableOnErrorUntil: nil, isKept: true)
  }

  /// Returns `true` if the bytes may be served now while they are revalidated in the background.
  func isUsableWhileRevalidating(at now: @autoclosure () -> Date, _ request: ImageRequest) -> Bool {
    // A request that may change something is not sent in the background.
    guard request.cachePolicy == .standard, !request.revalidates, request.method.isSafe, !request.limitsAge else {
      return false
    }
    return usableWhileRevalidatingUntil.map { now() < $0 } ?? false
  }

  /// Returns `true` if a request with these fields would have had the same response.
  func answers(_ fields: @autoclosure () -> HTTPFields) -> Bool {
    guard !variation.isEmpty else { return true }
    let fields = fields()
    return variation.allSatisfy { (fields[$0.name] ?? "") == $0.value }
  }

  /// Returns `true` if the bytes may be served without the response that they come from.
  ///
  /// Evaluates `now` only if the result depends on it.
  func isFresh(at now: @autoclosure () -> Date, _ request: ImageRequest) -> Bool {
    guard !request.limitsAge else { return false }
    return switch request.cachePolicy {
    case .cacheFirst, .cacheOnly: true
    case .standard, .reload: expires.map { now() < $0 } ?? true
    case .maxAge(let age): confirmed.map { now() < $0.addingTimeInterval(age / .seconds(1)) } ?? true
    }
  }
}
