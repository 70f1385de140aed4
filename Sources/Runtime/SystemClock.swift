/// The system clock.
///
/// All instances share one thread for scheduled actions. It starts with the first action and ends after 10 seconds
/// without one. While the machine sleeps, ``uptime`` stands still.
public struct SystemClock: TimeSource {
  private static let timer = TimerThread(idleTime: .seconds(10))

  /// Creates a clock.
  ///
  /// All instances are equivalent.
  public init() {}

  /// The system's date and time.
  public var now: Date { Date() }

  /// The time for which the machine has been up and awake.
  public var uptime: Duration { systemUptime() }

  /// Calls `action` once, on the timer's thread, after `delay`.
  ///
  /// All actions of the process share that thread, so `action` must be fast and must not block.
  ///
  /// - Complexity: O(log n) in the number of scheduled actions, also for cancelling.
  /// - Returns: The handle to cancel it. Releasing the handle does not cancel.
  @discardableResult
  public func schedule(
    after delay: Duration,
    _ action: @escaping @Sendable () -> Void,
  ) -> ScheduledAction {
    Self.timer.schedule(at: uptime + delay, action)
  }
}

extension TimeSource where Self == SystemClock {
  /// The system clock.
  public static var system: SystemClock { SystemClock() }
}

/// A thread that calls actions when they are due.
///
/// It exists only while there are actions.
final class TimerThread: Sendable {
  private struct State {
    var timeline = Timeline()
    var hasThread = false
  }

  private let monitor = Monitor(State())
  private let idleTime: Duration

  init(idleTime: Duration) {
    self.idleTime = idleTime
  }

  func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    let (id, isFirst) = monitor.withLock { state in
      let isFirst = state.timeline.nextDue.map { due < $0 } ?? true
      let id = state.timeline.add(at: due, action)
      // If the system refuses a thread, the next scheduled action tries again.
      if !state.hasThread {
        state.hasThread = startThread(named: "vitrine-timer") { self.work() }
      }
      return (id, isFirst)
    }
    if isFirst { monitor.signal() }
    return ScheduledAction { self.cancel(id) }
  }

  private func cancel(_ id: Timeline.ID) -> Bool {
    monitor.withLock { $0.timeline.remove(id) } != nil
  }

  private func work() {
    while let action = nextAction() {
      action()
    }
  }

  private func nextAction() -> (@Sendable () -> Void)? {
    var leavesAt: Duration?
    return monitor.wait { state in
      let now = systemUptime()
      if let (_, action) = state.timeline.takeFirst(dueBy: now) { return .leave(action) }
      if let due = state.timeline.nextDue {
        leavesAt = nil
        return .waitUntil(due)
      }
      let deadline = leavesAt ?? now + idleTime
      guard now < deadline else {
        state.hasThread = false
        return .leave(nil)
      }
      leavesAt = deadline
      return .waitUntil(deadline)
    }
  }
}
