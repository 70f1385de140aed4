import CGTK
import VitrineRuntime

/// Measures how long Vitrine holds the main thread.
///
/// Off by default. Reading the system's clock of a thread takes one to two microseconds, and a jump of a grid reads it
/// some thousand times: that time is not counted. It depends on the load of the machine, so it is measured with each
/// span, by reading the clock twice at its beginning.
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

    /// The median time of a reading, of 101.
    fileprivate static var reading: Span {
      let spans = (0..<101).map { _ in
        let first = now
        return now - first
      }
      return Span(processor: spans.map(\.processor).sorted()[50], clock: spans.map(\.clock).sorted()[50])
    }

    fileprivate static func - (left: Span, right: Span) -> Span {
      Span(processor: left.processor - right.processor, clock: left.clock - right.clock)
    }

    fileprivate static func + (left: Span, right: Span) -> Span {
      Span(processor: left.processor + right.processor, clock: left.clock + right.clock)
    }

    /// Returns the span, at most as long as another.
    fileprivate func limited(to most: Span) -> Span {
      Span(processor: min(processor, most.processor), clock: min(clock, most.clock))
    }
  }

  /// The beginning of a span.
  @MainActor
  private struct Start {
    private let first = Span.now
    private let second = Span.now

    /// The time that a reading takes here and now.
    private var reading: Span { (second - first).limited(to: most) }

    /// The time since the beginning, without the readings.
    var span: Span { Span.now - second - reading }
    /// The time since the beginning, with the three readings, of which one lies half before and half after.
    var spanWithReadings: Span { Span.now - first + reading }
  }

  /// True if time is measured.
  package static var isMeasured = false {
    didSet {
      let reading = isMeasured ? Span.reading : Span()
      most = reading + reading
    }
  }
  /// The longest time that a reading is taken for: in anything longer, the thread was interrupted.
  private static var most = Span()
  /// The time spent since the last ``take()``.
  private static var spent = Span()
  private static var depth = 0

  /// Runs `body`, and counts its time once, however deep such calls are nested.
  package static func measure<Result>(_ body: () -> Result) -> Result {
    guard isMeasured, depth == 0 else { return body() }
    let start = Start()
    depth = 1
    defer {
      depth = 0
      spent = spent + start.span
    }
    return body()
  }

  /// Runs the program's own code inside a measured call, without counting it.
  package static func exclude(_ body: () -> Void) {
    guard isMeasured, depth > 0 else { return body() }
    let start = Start()
    body()
    spent = spent - start.spanWithReadings
  }

  /// Returns the time spent since the last call.
  package static func take() -> Span {
    defer { spent = Span() }
    return spent
  }
}
