import Foundation

/// The manual clock that all animations of these stubs run on.
///
/// Time stands still until a test moves it. One shared clock serves by default. A test that
/// wants to be alone binds its own: `_Clock.$_current.withValue(_Clock()) { … }`.
public final class _Clock: @unchecked Sendable {
  // Sendable by hand: `lock` guards the time and the list of events. The transactions and the
  // animation context are used only by the thread that changes layers, the main one in tests.

  /// The clock of everybody who binds none.
  public static let _shared = _Clock()

  /// The clock of the current task.
  @TaskLocal
  public static var _current: _Clock = _shared

  private struct Event {
    let time: TimeInterval
    let number: Int
    let body: () -> Void
  }

  private let lock = NSLock()
  private var time: TimeInterval
  private var events: [Event] = []
  private var eventCount = 0
  private var running = 0
  private var dirty = false

  /// The surrounding `UIView.animate` block, if any.
  public var _animationContext: _AnimationContext?

  /// Makes a clock that shows the given time.
  public init(_now: TimeInterval = 1_000) {
    time = _now
  }

  /// The time it shows, in seconds.
  public var _now: TimeInterval { lock.withLock { time } }

  /// Runs a closure once the clock has moved on by some seconds.
  ///
  /// With zero seconds the closure runs at the end of the current turn. Closures run in order of
  /// time, and those of the same time in order of arrival.
  public func _schedule(after seconds: TimeInterval, _ body: @escaping () -> Void) {
    lock.withLock {
      eventCount += 1
      events.append(Event(time: time + max(0, seconds), number: eventCount, body: body))
    }
  }

  /// Moves the time on, and runs what falls due on the way, in order.
  @MainActor
  public func _advance(by seconds: TimeInterval) {
    let target = _now + max(0, seconds)
    while let body = takeNext(until: target) { body() }
    lock.withLock { time = max(time, target) }
  }

  /// Runs what is due now, but not what that adds.
  @MainActor
  public func _deliverDue() {
    let last = lock.withLock { eventCount }
    let now = _now
    while let body = takeNext(until: now, upTo: last) { body() }
  }

  /// Notes that the screen has to be drawn again.
  public func _requestUpdate() {
    lock.withLock { dirty = true }
  }

  /// Whether the screen had to be drawn again since the last call, which it forgets.
  public func _takeUpdateRequest() -> Bool {
    lock.withLock {
      defer { dirty = false }
      return dirty || running > 0
    }
  }

  func count(_ change: Int) {
    lock.withLock { running += change }
  }

  private func takeNext(until target: TimeInterval, upTo last: Int = .max) -> (() -> Void)? {
    lock.withLock {
      let due = events.indices.filter { events[$0].time <= target && events[$0].number <= last }
      let next = due.min { left, right in
        (events[left].time, events[left].number) < (events[right].time, events[right].number)
      }
      guard let next else { return nil }
      let event = events.remove(at: next)
      time = max(time, event.time)
      return event.body
    }
  }
}

/// The current time, in seconds: here the time of the manual clock.
public func CACurrentMediaTime() -> CFTimeInterval {
  _Clock._current._now
}

/// A length of time in seconds.
public typealias CFTimeInterval = Double
