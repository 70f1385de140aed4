#if canImport(os)
internal import os
#endif

/// Intervals for Instruments on Apple's platforms; does nothing elsewhere.
///
/// The Apple half is not built on Linux. Keep it short, and check it in Instruments before each release.
package final class SignpostIntervals: Sendable {
  #if canImport(os)
  private let poster = OSSignposter(subsystem: "vitrine", category: "pipeline")
  private let running = Lock<[Int: OSSignpostIntervalState]>([:])
  #endif

  /// Creates a recorder without intervals.
  package init() {}

  /// Begins an interval, identified by a number.
  package func begin(_ id: Int, _ message: @autoclosure () -> String) {
    #if canImport(os)
    guard poster.isEnabled else { return }
    let message = message()
    let state = poster.beginInterval("stage", id: OSSignpostID(UInt64(id)), "\(message, privacy: .public)")
    running.withLock { $0[id] = state }
    #endif
  }

  /// Ends the interval with a number; does nothing if there is none.
  package func end(_ id: Int, _ message: @autoclosure () -> String) {
    #if canImport(os)
    guard let state = running.withLock({ $0.removeValue(forKey: id) }) else { return }
    let message = message()
    poster.endInterval("stage", state, "\(message, privacy: .public)")
    #endif
  }
}
