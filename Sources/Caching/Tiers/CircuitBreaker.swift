import VitrineRuntime

/// Keeps calls away from something that keeps failing, and lets one through now and then to see whether it works again.
///
/// Calls that succeed too slowly count, too: a tier that is always a bit slow never fails, and yet costs every request
/// as much as several calls take.
///
/// A value that is told the time, so that a table tests it.
struct CircuitBreaker: Sendable {
  /// The number of slow calls that count as one failure.
  private static let slowShare = 4

  /// The leave to make one call, which is returned with its outcome.
  struct Ticket: Sendable {
    /// True for the one call that decides whether the breaker closes.
    let isTrial: Bool
  }

  private enum Phase {
    /// The faults in a row: a slow call counts one, a failure as many as ``slowShare``.
    case closed(faults: Int)
    case open(until: Duration)
    case trying
  }

  private let faultLimit: Int
  private let backOffs: ClosedRange<Duration>
  private var phase = Phase.closed(faults: 0)
  private var backOff: Duration

  /// Creates a closed breaker that opens after `failureLimit` failures in a row.
  ///
  /// It stays open for the lower of the two times at first, and twice as long after each trial that fails.
  init(failureLimit: Int, backOffs: ClosedRange<Duration>) {
    (faultLimit, self.backOffs) = (max(1, failureLimit) * Self.slowShare, backOffs)
    backOff = backOffs.lowerBound
  }

  var state: TieredDataCache.BreakerState {
    switch phase {
    case .closed: .closed
    case .open: .open
    case .trying: .halfOpen
    }
  }

  /// The time at which a trial is allowed; `nil` if the breaker is not open.
  var trialTime: Duration? { if case .open(let until) = phase { until } else { nil } }

  /// Returns the leave for a call, or `nil`.
  mutating func admit(at now: Duration) -> Ticket? {
    switch phase {
    case .closed: return Ticket(isTrial: false)
    case .open(let until) where until <= now:
      phase = .trying
      return Ticket(isTrial: true)
    case .open, .trying: return nil
    }
  }

  /// Notes a call that has succeeded.
  mutating func succeed(_ ticket: Ticket) {
    if case .closed = phase {} else if !ticket.isTrial { return }
    (phase, backOff) = (.closed(faults: 0), backOffs.lowerBound)
  }

  /// Notes a call that has succeeded, but too slowly to be of use.
  ///
  /// - Returns: As ``fail(_:at:)``.
  mutating func tarry(_ ticket: Ticket, at now: Duration) -> Bool { note(1, ticket, at: now) }

  /// Notes a call that has failed.
  ///
  /// - Returns: True if the breaker has opened by that.
  mutating func fail(_ ticket: Ticket, at now: Duration) -> Bool { note(Self.slowShare, ticket, at: now) }

  private mutating func note(_ weight: Int, _ ticket: Ticket, at now: Duration) -> Bool {
    switch phase {
    case .closed(let faults) where faults + weight < faultLimit:
      phase = .closed(faults: faults + weight)
      return false
    case .closed:
      phase = .open(until: now + backOff)
      return true
    case .trying where ticket.isTrial:
      backOff = min(backOff * 2, backOffs.upperBound)
      phase = .open(until: now + backOff)
      return true
    case .open, .trying: return false
    }
  }

  /// Notes a call that was given up, about which nothing is known.
  mutating func forget(_ ticket: Ticket, at now: Duration) {
    if ticket.isTrial, case .trying = phase { phase = .open(until: now) }
  }
}
