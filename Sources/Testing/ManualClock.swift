public import VitrineRuntime

/// A time source whose time passes only when a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// clock.schedule(after: .seconds(5)) { print("five seconds later") }
/// clock.advance(by: .seconds(5))
/// ```
public final class ManualClock: TimeSource {
  private struct State {
    var uptime = Duration.zero
    var timeline = Timeline()
    var waiters: [Waiter] = []
  }

  private struct Waiter {
    let count: Int
    let arrived: Deferred<Void>
  }

  private let start: Date
  private let state = Lock(State())

  /// Creates a clock that stands still.
  ///
  /// - Parameter now: The initial wall-clock time. Defaults to 9 September 2001, 01:46:40 UTC.
  public init(now: Date = Date(timeIntervalSince1970: 1_000_000_000)) {
    start = now
  }

  /// The initial date plus the time advanced so far.
  public var now: Date {
    start.addingTimeInterval(uptime / .seconds(1))
  }

  /// The time advanced so far.
  public var uptime: Duration {
    state.withLock { $0.uptime }
  }

  /// The number of pending actions, including sleeping tasks.
  public var pendingCount: Int {
    state.withLock { $0.timeline.count }
  }

  /// Calls `action` once, within an ``advance(by:)`` that reaches its time.
  ///
  /// An action that is due at once also waits for the next advance, even by zero.
  ///
  /// - Returns: The handle to cancel it. Releasing the handle does not cancel.
  @discardableResult
  public func schedule(
    after delay: Duration,
    _ action: @escaping @Sendable () -> Void,
  ) -> ScheduledAction {
    let (id, satisfied) = state.withLock { state in
      let id = state.timeline.add(at: state.uptime + max(delay, .zero), action)
      let count = state.timeline.count
      let satisfied = state.waiters.filter { $0.count <= count }
      state.waiters.removeAll { $0.count <= count }
      return (id, satisfied)
    }
    for waiter in satisfied { waiter.arrived.resolve(()) }
    return ScheduledAction { self.state.withLock { $0.timeline.remove(id) } != nil }
  }

  /// Advances the time, and calls the actions that become due, in order, on the calling thread.
  ///
  /// While an action runs,
  /// ``now`` and ``uptime`` are its due time. It may schedule and cancel others; one that becomes due within `duration`
  /// is called in its turn.
  ///
  /// - Parameter duration: The time to advance by; zero or more.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "time cannot go backwards")
    let end = uptime + duration
    while let action = takeFirst(dueBy: end) {
      action()
    }
    state.withLock { $0.uptime = max($0.uptime, end) }
  }

  /// Waits until at least `count` actions are pending.
  ///
  /// A task that sleeps on this clock starts to sleep at some later moment, so await this before advancing. It never
  /// returns if they do not come, even if cancelled.
  public func pendingCount(reaches count: Int) async {
    let arrived = Deferred<Void>()
    let isReached = state.withLock { state in
      if state.timeline.count >= count { return true }
      state.waiters.append(Waiter(count: count, arrived: arrived))
      return false
    }
    if !isReached { await arrived.value() }
  }

  private func takeFirst(dueBy end: Duration) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let (due, action) = state.timeline.takeFirst(dueBy: end) else { return nil }
      state.uptime = max(state.uptime, due)
      return action
    }
  }
}
