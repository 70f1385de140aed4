/// Tells the time and calls back when some has passed.
///
/// Whatever in Vitrine expires, times out or retries asks a time source that was handed to it, and so a
/// test can be the clock. ``SystemClock`` is the real one.
public protocol TimeSource: Sendable {
  /// The wall-clock time, for what must be compared after a restart: expiry dates.
  ///
  /// It may jump in either direction when somebody sets the clock.
  var now: Date { get }

  /// A time that only ever goes forward and that no setting of the clock touches, for spans.
  ///
  /// Where it began is unspecified; two values of one time source may be compared, nothing else.
  var uptime: Duration { get }

  /// Calls `action` once, when `delay` has passed.
  ///
  /// Returns at once, and never calls `action` before it returns. A delay of zero or less is due at once.
  /// Which thread calls is unspecified; other actions may wait for this one, so it must not block.
  ///
  /// - Returns: The handle to call it off; dropping it calls off nothing.
  @discardableResult
  func schedule(
    after delay: Duration,
    _ action: @escaping @Sendable () -> Void,
  ) -> ScheduledAction
}

extension TimeSource {
  /// Waits until `duration` has passed, without blocking a thread.
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

/// An action that a ``TimeSource`` will call, and that can be called off until then.
public struct ScheduledAction: Sendable {
  private let onCancel: @Sendable () -> Bool

  /// Creates a handle, for a time source of your own.
  ///
  /// - Parameter onCancel: Calls the action off, and says whether it was still to come.
  public init(onCancel: @escaping @Sendable () -> Bool) {
    self.onCancel = onCancel
  }

  /// Calls the action off; once it has begun, does nothing, and does not wait for it.
  ///
  /// - Returns: Whether the action was still to come and now never will.
  @discardableResult
  public func cancel() -> Bool {
    onCancel()
  }
}
