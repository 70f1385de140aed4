/// The time of the machine.
///
/// All of them share one thread for what is scheduled. It starts with the first action and ends when
/// there has been none for 10 seconds. While the machine sleeps, ``uptime`` stands still.
public struct SystemClock: TimeSource {
  private static let timer = TimerThread(idleTime: .seconds(10))

  /// Creates one; all are the same.
  public init() {}

  /// The machine's date and time.
  public var now: Date { Date() }

  /// How long the machine has been up and awake.
  public var uptime: Duration { systemUptime() }

  /// Calls `action` once, on the timer's thread, when `delay` has passed.
  ///
  /// The actions of the whole process share that thread, so `action` must be short and must not block.
  ///
  /// - Complexity: O(log n) in the number of actions to come, also for cancelling.
  /// - Returns: The handle to call it off; dropping it calls off nothing.
  @discardableResult
  public func schedule(
    after delay: Duration,
    _ action: @escaping @Sendable () -> Void,
  ) -> ScheduledAction {
    Self.timer.schedule(at: uptime + delay, action)
  }
}

extension TimeSource where Self == SystemClock {
  /// The time of the machine.
  public static var system: SystemClock { SystemClock() }
}

/// A thread that calls actions when they are due; there is one only while there is something to call.
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
      // If the system has no thread to give, the next action that is scheduled asks again.
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
