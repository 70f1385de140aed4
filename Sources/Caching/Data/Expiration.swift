public import VitrineRuntime

/// The time at which a cached value expires.
public enum Expiration: Hashable, Sendable {
  /// The value never expires, but may be evicted.
  case never
  /// The value expires this long after it was stored, with zero or less at once.
  case after(Duration)
  /// The value expires at this date.
  case at(Date)

  /// Returns the date of expiry of a value stored at `now`, or `nil` for never.
  package func date(from now: Date) -> Date? {
    switch self {
    case .never: nil
    case .after(let duration): now.addingTimeInterval(duration / .seconds(1))
    case .at(let date): date
    }
  }
}

extension Date? {
  /// A date of expiry in seconds since the reference date, infinite for never, as memory and disk store it.
  var expirySeconds: Double { self?.timeIntervalSinceReferenceDate ?? .infinity }
}

extension Date {
  /// Creates the date of expiry of `expirySeconds`, or returns `nil` for never.
  init?(expirySeconds seconds: Double) {
    if seconds == .infinity { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}
