import VitrineRuntime

/// A policy that decides whether and when a failed load is retried.
///
/// ```swift
/// let loader = RetryingLoader(CurlLoader(), .exponential(maxAttempts: 3))
/// ```
/// It is a value without a clock or a network, which ``RetryingLoader`` applies. Cancelled loads are never retried.
public struct RetryPolicy: Sendable {
  /// The closure that returns the delay before the next attempt, or `nil` to give up.
  public let delay: @Sendable (RetryAttempt) -> Duration?
  /// Set if the closure is short, so that it may run on a thread shared by all transfers.
  let isShort: Bool

  /// Creates a custom policy.
  ///
  /// - Parameter delay: The closure that returns the delay, or `nil` to give up. It is called on a thread of the
  ///   ``RetryingLoader`` that serves no transfer, so it may block. Its load waits meanwhile.
  public init(_ delay: @escaping @Sendable (RetryAttempt) -> Duration?) {
    self.init(isShort: false, delay)
  }

  private init(isShort: Bool, _ delay: @escaping @Sendable (RetryAttempt) -> Duration?) {
    (self.isShort, self.delay) = (isShort, delay)
  }

  /// A policy that never retries.
  public static let never = RetryPolicy(isShort: true) { _ in nil }

  /// Returns a policy with random delays whose maximum doubles each time (full jitter), so that simultaneous failures
  /// are not retried simultaneously.
  ///
  /// It retries errors with ``HTTPError/isWorthRetrying``: time-outs, connections that fail or break, and the statuses
  /// 408, 429, 500, 502, 503 and 504. It obeys `Retry-After`, plus a small random delay, and gives up if that exceeds
  /// `totalTime`.
  ///
  /// - Parameters:
  ///   - maxAttempts: The maximum number of attempts, including the first. Defaults to 3.
  ///   - base: The maximum delay after the first attempt. Defaults to half a second.
  ///   - limit: The maximum delay, unless the server demands more. Defaults to 30 seconds.
  ///   - totalTime: The maximum time from the first start to the last. Defaults to two minutes.
  ///   - random: The closure that returns a number from 0 up to 1. It is called on the loader's thread, which it must
  ///     not block. Defaults to the system's generator.
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
      // 2^20 times the base exceeds any limit.
      let longest = min(limit, base * (1 << min(attempt.number - 1, 20)))
      let wait = attempt.retryAfter.map { $0 + base * random() } ?? longest * random()
      return attempt.elapsed + wait <= totalTime ? wait : nil
    }
  }
}

/// A failed attempt.
public struct RetryAttempt: Sendable, Hashable {
  /// The number of the attempt, counted from 1.
  public var number: Int
  /// The time since the first attempt began.
  public var elapsed: Duration
  /// The error, with ``HTTPError/Code/badStatus`` for a response whose status is a failure.
  public var error: HTTPError
  /// The delay that the server demands, if any.
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
  /// Returns the delay of `Retry-After` (in seconds or as a date), at most a year, or `nil` if there is none.
  package func retryAfter(now: Date) -> Duration? {
    guard let value = headers.values(for: "Retry-After").first else { return nil }
    let year = 365.0 * 86_400
    if !value.isEmpty, value.utf8.allSatisfy(\.isDigit) { return .seconds(min(Double(value) ?? year, year)) }
    guard let date = HTTPDate.parse(value, now: now) else { return nil }
    return .seconds(min(max(date.timeIntervalSince(now), 0), year))
  }
}
