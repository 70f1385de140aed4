import VitrineRuntime

/// The number of requests that may be sent in a second, and in one go after a rest.
///
/// ```swift
/// let loader = RateLimitedLoader(CurlLoader(), perHost: RateLimit(requestsPerSecond: 10, burst: 20))
/// ```
/// It is a token bucket: each request takes a token, ``requestsPerSecond`` tokens come back in a second, and there are
/// never more than ``burst``.
public struct RateLimit: Sendable, Hashable {
  /// The number of requests a second in the long run: from one a day to a million a second.
  public let requestsPerSecond: Double
  /// The number of requests that may be sent at once after a rest; at least 1.
  public let burst: Int

  /// Creates a limit; what is out of bounds is taken as the nearest bound.
  ///
  /// - Parameters:
  ///   - requestsPerSecond: The number of requests a second in the long run; 0.1 is one in ten seconds.
  ///   - burst: The number of requests that may be sent at once. Defaults to those of a second.
  public init(requestsPerSecond: Double, burst: Int? = nil) {
    let (least, most) = (1.0 / 86_400, 1e6)
    // What is no number compares with none, and allows least.
    let rate = requestsPerSecond > least ? min(requestsPerSecond, most) : least
    self.requestsPerSecond = rate
    self.burst = min(max(1, burst ?? Int(rate.rounded(.up))), 1_000_000_000)
  }

  /// The time in which a token comes back.
  var interval: Duration { .seconds(1 / requestsPerSecond) }
}

/// The tokens that are left of a ``RateLimit``, as the one time from which on all of them are there.
struct TokenBucket {
  private let interval: Duration
  private let tolerance: Duration
  private var full: Duration

  /// A full one.
  init(_ limit: RateLimit, now: Duration) {
    (interval, tolerance, full) = (limit.interval, limit.interval * (limit.burst - 1), now)
  }

  /// When the next token is there.
  var due: Duration { full - tolerance }

  func isFull(at now: Duration) -> Bool { full <= now }

  mutating func take(at now: Duration) { full = max(full, now) + interval }

  mutating func giveBack() { full -= interval }
}
