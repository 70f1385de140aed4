import VitrineRuntime

/// A limit on the rate of requests, and on bursts of them.
///
/// ```swift
/// let loader = RateLimitedLoader(CurlLoader(), perHost: RateLimit(requestsPerSecond: 10, burst: 20))
/// ```
/// It is a token bucket. Each request takes a token. The bucket gains ``requestsPerSecond`` tokens a second and holds
/// up to ``burst``.
public struct RateLimit: Sendable, Hashable {
  /// The number of requests a second in the long run, from one a day to a million a second.
  package let requestsPerSecond: Double
  /// The number of requests that may be sent at once after a pause; at least 1.
  package let burst: Int

  /// Creates a limit; values out of range are clamped.
  ///
  /// - Parameters:
  ///   - requestsPerSecond: The number of requests a second in the long run; 0.1 is one every ten seconds.
  ///   - burst: The number of requests that may be sent at once. Defaults to the number for one second.
  public init(requestsPerSecond: Double, burst: Int? = nil) {
    let (least, most) = (1.0 / 86_400, 1e6)
    // NaN fails every comparison, and so gives the lowest rate.
    let rate = requestsPerSecond > least ? min(requestsPerSecond, most) : least
    self.requestsPerSecond = rate
    self.burst = min(max(1, burst ?? Int(clamping: rate.rounded(.up))), 1_000_000_000)
  }

  /// The time in which the bucket gains a token.
  var interval: Duration { .seconds(1 / requestsPerSecond) }
}

/// The state of a ``RateLimit``, stored as the time at which the bucket is full again.
struct TokenBucket {
  private let interval: Duration
  private let tolerance: Duration
  /// `nil` before the first token is taken.
  private var full: Duration?

  /// Creates a full bucket.
  init(_ limit: RateLimit) {
    (interval, tolerance) = (limit.interval, limit.interval * (limit.burst - 1))
  }

  /// The time of the next token, or `nil` if no token was ever taken.
  var due: Duration? { full.map { $0 - tolerance } }
  var isUnused: Bool { full == nil }

  func hasToken(at now: Duration) -> Bool { due.map { $0 <= now } ?? true }

  func isFull(at now: Duration) -> Bool { full.map { $0 <= now } ?? true }

  mutating func take(at now: Duration) { full = max(full ?? now, now) + interval }

  mutating func giveBack() { full = full.map { $0 - interval } }
}
