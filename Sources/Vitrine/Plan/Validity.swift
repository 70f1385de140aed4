import VitrineHTTP
import VitrineRuntime

/// For how long bytes, and whatever is made of them, may be served without asking.
struct Validity: Sendable, Hashable {
  /// Until when; `nil` for ever.
  var expires: Date?
  /// When their server last confirmed them; `nil` where there is nobody to ask.
  let confirmed: Date?
  /// Until when it may be served if its server cannot be reached or fails; `nil` for not at all.
  let usableOnErrorUntil: Date?
  /// Until when it may be served while its server is asked; `nil` for not at all.
  var usableWhileRevalidatingUntil: Date?
  /// What the request said in the fields that `Vary` named; empty for most.
  var variation: HTTPFields = [:]
  /// Whether a cache may keep it at all.
  var isKept: Bool
}

extension Validity {
  /// That of bytes which came with a response.
  init(of stored: StoredResponse, at now: Date) {
    self.init(of: stored, Freshness().decide(stored, for: stored.variation, now: now), at: now)
  }

  /// The same, where the decision of the standard policy is known.
  init(of stored: StoredResponse, _ decision: Freshness.Decision, at now: Date) {
    self.init(
      // What is to be asked for every time is over from the start, whatever its age says.
      expires: decision.action == .serve ? decision.expires : decision.expires.map { min($0, now) },
      confirmed: stored.received,
      usableOnErrorUntil: decision.usableOnErrorUntil,
      usableWhileRevalidatingUntil: decision.usableWhileRevalidatingUntil,
      variation: stored.variation,
      isKept: stored.isStorable,
    )
  }

  /// That of sources that do not say.
  static let unlimited = Validity(expires: nil, confirmed: nil, usableOnErrorUntil: nil, isKept: true)

  /// Whether it may be served for now, if its server is asked behind it.
  func isUsableWhileRevalidating(at now: @autoclosure () -> Date, _ request: ImageRequest) -> Bool {
    // What is not safe is not sent unless someone waits for it.
    guard request.cachePolicy == .standard, !request.revalidates, request.method.isSafe else { return false }
    return usableWhileRevalidatingUntil.map { now() < $0 } ?? false
  }

  /// Whether a request that says this would have had the same answer.
  func answers(_ fields: @autoclosure () -> HTTPFields) -> Bool {
    guard !variation.isEmpty else { return true }
    let fields = fields()
    return variation.allSatisfy { (fields[$0.name] ?? "") == $0.value }
  }

  /// `now` is asked for only where it matters.
  func isFresh(at now: @autoclosure () -> Date, _ policy: CachePolicy) -> Bool {
    switch policy {
    case .cacheFirst, .cacheOnly: true
    case .standard, .reload: expires.map { now() < $0 } ?? true
    case .maxAge(let age): confirmed.map { now() < $0.addingTimeInterval(age / .seconds(1)) } ?? true
    }
  }
}
