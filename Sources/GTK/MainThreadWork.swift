import CGTK
import VitrineRuntime

/// Measures how long Vitrine holds the main thread.
///
/// Off by default.
@MainActor
package enum MainThreadWork {
  /// A duration on the main thread, in microseconds.
  package struct Span {
    /// The processor time.
    package var processor = 0
    /// The elapsed time, during which other threads may have had the processor.
    package var clock = 0

    fileprivate static var now: Span {
      var time = timespec()
      // The structure outlives the call.
      _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Span(processor: time.tv_sec * 1_000_000 + time.tv_nsec / 1000, clock: Int(g_get_monotonic_time()))
    }

    fileprivate mutating func add(since start: Span, sign: Int = 1) {
      let now = Span.now
      processor += sign * (now.processor - start.processor)
      clock += sign * (now.clock - start.clock)
    }
  }

  /// True if time is measured.
  package static var isMeasured = false
  /// The time spent since the last ``take()``.
  private static var spent = Span()
  private static var depth = 0

  /// Runs `body`, and counts its time once, however deep such calls are nested.
  package static func measure<Result>(_ body: () -> Result) -> Result {
    guard isMeasured, depth == 0 else { return body() }
    let start = Span.now
    depth = 1
    defer {
      depth = 0
      spent.add(since: start)
    }
    return body()
  }

  /// Runs the program's own code inside a measured call, without counting it.
  package static func exclude(_ body: () -> Void) {
    guard isMeasured, depth > 0 else { return body() }
    let start = Span.now
    body()
    spent.add(since: start, sign: -1)
  }

  /// Returns the time spent since the last call.
  package static func take() -> Span {
    defer { spent = Span() }
    return spent
  }
}
