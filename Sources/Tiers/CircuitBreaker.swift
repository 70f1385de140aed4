import VitrineCaching
import VitrineRuntime

/// Keeps calls away from something that keeps failing, and lets one through now and then to see whether it works again.
///
/// It counts the time that is lost in a row. A tier that is always a bit slow never fails, and yet costs every request as much
/// as several calls take. So a call that is late counts by the time for which somebody has waited in vain, and a failure as
/// ``failureTime``. Of calls that are late together one counts: the machine itself may have been busy.
///
/// A value that is told the time, so that a table tests it.
struct CircuitBreaker: Sendable {
  /// The time that a failure counts as.
  static let failureTime = Duration.milliseconds(4)

  /// The leave to make one call, which is returned with its outcome.
  struct Ticket: Sendable {
    /// True for the one call that decides whether the breaker closes.
    let isTrial: Bool
    fileprivate let began: Duration
  }

  private enum Phase {
    /// The time lost in a row, and when that was last noted.
    case closed(lost: Duration, at: Duration)
    case open(until: Duration)
    case trying
  }

  private let limit: Duration
  private let backOffs: ClosedRange<Duration>
  private var phase = Phase.closed(lost: .zero, at: .zero)
  private var backOff: Duration

  /// Creates a closed breaker that opens after `failureLimit` failures in a row, or as much time lost.
  ///
  /// It stays open for the lower of the two times at first, and twice as long after each trial that fails.
  init(failureLimit: Int, backOffs: ClosedRange<Duration>) {
    (limit, self.backOffs) = (Self.failureTime * max(1, failureLimit), backOffs)
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
    case .closed: return Ticket(isTrial: false, began: now)
    case .open(let until) where until <= now:
      phase = .trying
      return Ticket(isTrial: true, began: now)
    case .open, .trying: return nil
    }
  }

  /// Notes a call that has succeeded.
  mutating func succeed(_ ticket: Ticket) {
    if case .closed = phase {} else if !ticket.isTrial { return }
    (phase, backOff) = (.closed(lost: .zero, at: .zero), backOffs.lowerBound)
  }

  /// Notes a call that is late, for which somebody has waited so long in vain.
  ///
  /// One alone does not open the breaker, however long that was.
  ///
  /// - Returns: As ``fail(_:at:)``.
  mutating func tarry(_ ticket: Ticket, costing time: Duration, at now: Duration) -> Bool {
    if case .closed(_, let last) = phase, ticket.began < last { return false }
    return note(min(time, limit / 2), ticket, at: now)
  }

  /// Notes a call that has failed.
  ///
  /// - Returns: True if the breaker has opened by that.
  mutating func fail(_ ticket: Ticket, at now: Duration) -> Bool { note(Self.failureTime, ticket, at: now) }

  private mutating func note(_ time: Duration, _ ticket: Ticket, at now: Duration) -> Bool {
    switch phase {
    case .closed(let lost, _) where lost + time < limit:
      phase = .closed(lost: lost + time, at: now)
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
