public import VitrineRuntime

/// When something kept ceases to be served.
public enum Expiration: Hashable, Sendable {
  /// It is kept for as long as there is room.
  case never
  /// It is served for this long after it was stored; zero or less is not at all.
  case after(Duration)
  /// It is served until this date.
  case at(Date)

  /// Returns the date from which on it is not served; `nil` for never.
  public func date(from now: Date) -> Date? {
    switch self {
    case .never: nil
    case .after(let duration): now.addingTimeInterval(duration / .seconds(1))
    case .at(let date): date
    }
  }
}
