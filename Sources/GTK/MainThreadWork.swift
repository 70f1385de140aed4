import CGTK

/// Measures how long Vitrine holds the main thread, for programs that want to know; off unless switched on.
@MainActor
package enum MainThreadWork {
  /// Whether anything is measured.
  package static var isMeasured = false
  /// What has been spent since it was last taken, in microseconds.
  private static var spent: gint64 = 0
  private static var depth = 0

  /// Runs `body`, and counts its time once however deep such calls are nested.
  package static func measure<Result>(_ body: () -> Result) -> Result {
    guard isMeasured else { return body() }
    let start = g_get_monotonic_time()
    depth += 1
    defer {
      depth -= 1
      if depth == 0 { spent += g_get_monotonic_time() - start }
    }
    return body()
  }

  /// Returns what has been spent since the last call, in microseconds.
  package static func take() -> Int {
    defer { spent = 0 }
    return Int(spent)
  }
}
