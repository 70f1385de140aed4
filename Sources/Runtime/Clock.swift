/// A clock that reads the time and schedules actions.
///
/// Every expiry, time-out and retry in Vitrine uses an injected time source, so a test can be the clock.
/// ``SystemClock`` is the real one.
public protocol TimeSource: Sendable {
  /// The wall-clock time, for dates that are compared after a restart, such as expiry dates.
  ///
  /// It may jump in either direction when the clock is set.
  var now: Date { get }

  /// A monotonic time that ignores changes to the wall clock, for measuring durations.
  ///
  /// Its origin is unspecified: only values of one time source may be compared.
  var uptime: Duration { get }

  /// Calls `action` once, after `delay`.
  ///
  /// Returns at once, and never calls `action` before it returns. A delay of zero or less is due at once. The thread
  /// is unspecified. Other actions may wait for this one, so it must not block.
  ///
  /// - Returns: The handle to cancel it. Releasing the handle does not cancel.
  @discardableResult
  func schedule(
    after delay: Duration,
    _ action: @escaping @Sendable () -> Void,
  ) -> ScheduledAction
}

extension TimeSource {
  /// Waits for `duration`, without blocking a thread.
  ///
  /// - Throws: `CancellationError`, at once, if the task is cancelled before or meanwhile.
  public func sleep(for duration: Duration) async throws(CancellationError) {
    let outcome = Deferred<Result<Void, CancellationError>>()
    let result = await withTaskCancellationHandler {
      let alarm = schedule(after: duration) { outcome.resolve(.success(())) }
      let result = await outcome.value()
      alarm.cancel()
      return result
    } onCancel: {
      outcome.resolve(.failure(CancellationError()))
    }
    try result.get()
  }
}

/// An action scheduled with a ``TimeSource``, which can be cancelled until it begins.
public struct ScheduledAction: Sendable {
  private let onCancel: @Sendable () -> Bool

  /// Creates a handle, for a time source of your own.
  ///
  /// - Parameter onCancel: Cancels the action, and returns `true` if it had not begun.
  public init(onCancel: @escaping @Sendable () -> Bool) {
    self.onCancel = onCancel
  }

  /// Cancels the action.
  ///
  /// If the action has begun, does nothing and does not wait for it.
  ///
  /// - Returns: `true` if the action had not begun, and now never will.
  @discardableResult
  public func cancel() -> Bool {
    onCancel()
  }
}
