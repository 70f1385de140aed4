import VitrineRuntime

/// Waits for a condition that nothing reports, such as an object's release.
///
/// It looks often at first, and then now and then, so that it takes little of the machine. Where something reports the
/// change, wait for that with `Watched`, ``Record`` or ``Gate`` instead.
///
/// - Throws: `CancellationError` if the awaiting task is cancelled, as by a test's time limit; the error of the
///   condition.
package func until(
  isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool,
) async throws {
  var pause = Duration.zero
  while try await !condition() {
    try await Task.sleep(for: pause)
    pause = min(pause + .microseconds(100), .milliseconds(10))
  }
}

/// Suspends until the current task is cancelled.
package func untilCancelled() async {
  let cancelled = Deferred<Void>()
  await withTaskCancellationHandler {
    await cancelled.value()
  } onCancel: {
    cancelled.resolve(())
  }
}
