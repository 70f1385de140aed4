public import VitrineRuntime

/// Says whether a load that has failed is tried again, and after which wait.
///
/// ```swift
/// let loader = RetryingLoader(CurlLoader(), .exponential(maxAttempts: 3))
/// ```
/// A value without a clock or a network; ``RetryingLoader`` obeys it. A cancelled load is never asked about.
public struct RetryPolicy: Sendable {
  /// Returns how long to wait before the next attempt; nil to give up.
  public let delay: @Sendable (RetryAttempt) -> Duration?
  /// Whether it is known to be short, so that it may be asked on a thread that all transfers share.
  let isShort: Bool

  /// Creates a policy of your own.
  ///
  /// - Parameter delay: Returns how long to wait, or nil to give up. Called on a thread of the ``RetryingLoader``'s that
  ///   serves no transfer, so it may block; its load waits meanwhile.
  public init(_ delay: @escaping @Sendable (RetryAttempt) -> Duration?) {
    self.init(isShort: false, delay)
  }

  private init(isShort: Bool, _ delay: @escaping @Sendable (RetryAttempt) -> Duration?) {
    (self.isShort, self.delay) = (isShort, delay)
  }

  /// Gives up at once.
  public static let never = RetryPolicy(isShort: true) { _ in nil }

  /// Waits at most twice as long each time, and chooses at random how long (full jitter), so that those who failed together
  /// do not return together.
  ///
  /// Tried again is what ``HTTPError/isWorthRetrying``: time-outs, connections that fail or break, and the statuses 408, 429,
  /// 500, 502, 503 and 504. A `Retry-After` is waited for, and a little longer at random; one that `totalTime` has
  /// no room for means giving up.
  ///
  /// - Parameters:
  ///   - maxAttempts: How often to try in all, the first time included; 3 by default.
  ///   - base: The longest wait after the first attempt; half a second by default.
  ///   - limit: The longest wait of all, unless the server asks for more; 30 seconds by default.
  ///   - totalTime: From the first start to the last; two minutes by default.
  ///   - random: Returns a number from 0 up to 1. Called on the loader's thread, which it must not block. Defaults to the
  ///     system's generator.
  /// - Returns: The policy.
  public static func exponential(
    maxAttempts: Int = 3,
    base: Duration = .milliseconds(500),
    limit: Duration = .seconds(30),
    totalTime: Duration = .seconds(120),
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
  ) -> RetryPolicy {
    RetryPolicy(isShort: true) { attempt in
      guard attempt.number < maxAttempts, attempt.error.isWorthRetrying else { return nil }
      // More than 2^20 times the base is over any limit.
      let longest = min(limit, base * (1 << min(attempt.number - 1, 20)))
      let wait = attempt.retryAfter.map { $0 + base * random() } ?? longest * random()
      return attempt.elapsed + wait <= totalTime ? wait : nil
    }
  }
}

/// An attempt that has failed.
public struct RetryAttempt: Sendable, Hashable {
  /// Which one it was, from 1.
  public var number: Int
  /// How long ago the first one began.
  public var elapsed: Duration
  /// Why it failed; ``HTTPError/Code/badStatus`` for a response that the server itself calls a failure.
  public var error: HTTPError
  /// How long the server asks to wait, if it does.
  public var retryAfter: Duration?

  /// Creates an attempt.
  public init(number: Int, elapsed: Duration, error: HTTPError, retryAfter: Duration? = nil) {
    self.number = number
    self.elapsed = elapsed
    self.error = error
    self.retryAfter = retryAfter
  }
}

extension HTTPResponse {
  /// How long the server asks to wait (`Retry-After`, in seconds or as a date), at most a year; nil if it does not.
  public func retryAfter(now: Date) -> Duration? {
    guard let value = headers.values(for: "Retry-After").first else { return nil }
    let year = 365.0 * 86_400
    if !value.isEmpty, value.utf8.allSatisfy(\.isDigit) { return .seconds(min(Double(value) ?? year, year)) }
    guard let date = HTTPDate.parse(value, now: now) else { return nil }
    return .seconds(min(max(date.timeIntervalSince(now), 0), year))
  }
}
