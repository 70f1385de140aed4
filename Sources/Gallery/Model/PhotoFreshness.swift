package import VitrineRuntime

/// How fresh a server's image is.
package struct PhotoFreshness: Sendable, Equatable {
  /// A span of time, in a unit that people read.
  package struct Span: Sendable, Equatable {
    package enum Unit: Sendable, Equatable {
      case seconds, minutes, hours, days
    }

    package let seconds: Int
    package let unit: Unit
    /// The number of units, rounded down.
    package let count: Int

    init(_ time: Double) {
      seconds = Int(min(max(time, 0), 1e12))
      (unit, count) =
        switch seconds {
        case ..<120: (.seconds, seconds)
        case ..<7200: (.minutes, seconds / 60)
        case ..<172_800: (.hours, seconds / 3600)
        default: (.days, seconds / 86_400)
        }
    }
  }

  /// The time that an image is still fresh.
  package enum Remaining: Sendable, Equatable {
    case unlimited
    case left(Span)
    case over
  }

  private let confirmed: Date?
  private let expires: Date?
  private let isStale: Bool

  /// - Parameters:
  ///   - confirmed: The time of the server's last confirmation; `nil` if unknown.
  ///   - expires: The end of freshness; `nil` for never.
  ///   - isStale: A Boolean value that indicates whether the image was served stale.
  package init(confirmed: Date?, expires: Date?, isStale: Bool) {
    (self.confirmed, self.expires, self.isStale) = (confirmed, expires, isStale)
  }

  /// Returns the time since the server's last confirmation; `nil` if there is none.
  package func age(at now: Date) -> Span? { confirmed.map { Span(now.timeIntervalSince($0)) } }

  /// Returns the time for which the image is still fresh.
  package func remaining(at now: Date) -> Remaining {
    guard let expires else { return isStale ? .over : .unlimited }
    let left = expires.timeIntervalSince(now)
    return isStale || left <= 0 ? .over : .left(Span(left))
  }
}
