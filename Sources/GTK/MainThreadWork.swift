import CGTK
import VitrineRuntime

/// Measures how long Vitrine holds the main thread.
///
/// Off by default. A call of the system's clock of a thread takes one to two microseconds, and a jump of a grid asks it
/// some thousand times: what those calls take is measured when this is switched on, and is not counted.
@MainActor
package enum MainThreadWork {
  /// A duration on the main thread, in nanoseconds.
  package struct Span {
    /// The processor time.
    package var processor = 0
    /// The elapsed time, during which other threads may have had the processor.
    package var clock = 0

    fileprivate static var now: Span {
      var time = timespec()
      // The structure outlives the call.
      _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      let processor = time.tv_sec * 1_000_000_000 + time.tv_nsec
      _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
      return Span(processor: processor, clock: time.tv_sec * 1_000_000_000 + time.tv_nsec)
    }

    /// The span between two calls with nothing between them: the median of 101.
    fileprivate static var empty: Span {
      let spans = (0..<101).map { _ in
        var span = Span()
        span.add(since: now)
        return span
      }
      return Span(processor: spans.map(\.processor).sorted()[50], clock: spans.map(\.clock).sorted()[50])
    }

    fileprivate mutating func add(since start: Span, sign: Int = 1) {
      let now = Span.now
      add(Span(processor: now.processor - start.processor, clock: now.clock - start.clock), sign: sign)
    }

    fileprivate mutating func add(_ span: Span, sign: Int) {
      processor += sign * span.processor
      clock += sign * span.clock
    }
  }

  /// True if time is measured.
  package static var isMeasured = false {
    didSet { overhead = isMeasured ? .empty : Span() }
  }
  /// The time that a span takes when nothing is done in it.
  private static var overhead = Span()
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
      spent.add(overhead, sign: -1)
    }
    return body()
  }

  /// Runs the program's own code inside a measured call, without counting it.
  package static func exclude(_ body: () -> Void) {
    guard isMeasured, depth > 0 else { return body() }
    let start = Span.now
    body()
    spent.add(since: start, sign: -1)
    // Two calls of the clock, and the span between them contains one.
    spent.add(overhead, sign: -1)
  }

  /// Returns the time spent since the last call.
  package static func take() -> Span {
    defer { spent = Span() }
    return spent
  }
}
