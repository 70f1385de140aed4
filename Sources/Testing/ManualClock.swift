public import VitrineRuntime

/// A time source whose time passes only when a test says so.
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
  /// - Parameter now: The wall-clock time to begin with; 9 September 2001, 01:46:40 UTC by default.
  public init(now: Date = Date(timeIntervalSince1970: 1_000_000_000)) {
    start = now
  }

  /// The date that the clock was created with, plus what it has been advanced by.
  public var now: Date {
    start.addingTimeInterval(uptime / .seconds(1))
  }

  /// What the clock has been advanced by.
  public var uptime: Duration {
    state.withLock { $0.uptime }
  }

  /// The number of actions that are still to come, sleeping tasks among them.
  public var pendingCount: Int {
    state.withLock { $0.timeline.count }
  }

  /// Calls `action` once, within an ``advance(by:)`` that reaches its time.
  ///
  /// What is due at once waits for the next advance too, if only by zero.
  ///
  /// - Returns: The handle to call it off; dropping it calls off nothing.
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

  /// Lets time pass, and calls what becomes due in between, in order, on the calling thread.
  ///
  /// While an action runs, ``now`` and ``uptime`` are those of when it was due. It may schedule and
  /// cancel others; one that it schedules within the span is called in its turn.
  ///
  /// - Parameter duration: How much time passes; zero or more.
  public func advance(by duration: Duration) {
    precondition(duration >= .zero, "time does not go backwards")
    let end = uptime + duration
    while let action = takeFirst(dueBy: end) {
      action()
    }
    state.withLock { $0.uptime = max($0.uptime, end) }
  }

  /// Waits until at least `count` actions are still to come.
  ///
  /// A task that was told to sleep on this clock does so at some later moment: await this before
  /// advancing. It never returns if they do not come, cancelled or not.
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
