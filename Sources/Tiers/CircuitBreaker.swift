import VitrineCaching
import VitrineRuntime

/// A circuit breaker that blocks calls to a failing tier, and admits a trial now and then.
///
/// It adds up the time lost in a row. A tier that is always a bit slow never fails, and yet costs every request as much
/// as several calls take. So a late call counts by the time for which its caller has waited, and a failure as
/// ``failureTime``. Calls that are late together count once, since the machine itself may have been busy.
///
/// It is a value, and callers pass the time, so it can be tested with a table.
struct CircuitBreaker: Sendable {
  /// The time that a failure counts as.
  static let failureTime = Duration.milliseconds(4)

  /// The permission to make one call, which is returned with its outcome.
  struct Ticket: Sendable {
    /// A Boolean value that indicates whether the call decides if the breaker closes.
    let isTrial: Bool
    fileprivate let began: Duration
  }

  private enum Phase {
    /// The time lost in a row, and the time of its last change.
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
  /// It stays open for the lower bound of `backOffs` at first, and twice as long after each failed trial, up to the
  /// upper bound.
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

  /// Returns the permission for a call, or `nil`.
  mutating func admit(at now: Duration) -> Ticket? {
    switch phase {
    case .closed: return Ticket(isTrial: false, began: now)
    case .open(let until) where until <= now:
      phase = .trying
      return Ticket(isTrial: true, began: now)
    case .open, .trying: return nil
    }
  }

  /// Records a successful call.
  mutating func succeed(_ ticket: Ticket) {
    if case .closed = phase {} else if !ticket.isTrial { return }
    (phase, backOff) = (.closed(lost: .zero, at: .zero), backOffs.lowerBound)
  }

  /// Records a late call, for which its caller has waited for `time`.
  ///
  /// A single late call does not open the breaker, whatever its time.
  ///
  /// - Returns: `true` if the breaker has opened.
  mutating func tarry(_ ticket: Ticket, costing time: Duration, at now: Duration) -> Bool {
    if case .closed(_, let last) = phase, ticket.began < last { return false }
    return note(min(time, limit / 2), ticket, at: now)
  }

  /// Records a failed call.
  ///
  /// - Returns: `true` if the breaker has opened.
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

  /// Records a cancelled call, whose outcome is unknown.
  mutating func forget(_ ticket: Ticket, at now: Duration) {
    if ticket.isTrial, case .trying = phase { phase = .open(until: now) }
  }
}
