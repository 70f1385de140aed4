import VitrineRuntime

/// Waits for a condition that nothing reports, such as an object's release.
///
/// The other tasks run meanwhile, and it takes a processor's time. Where something reports the change, wait for that with
/// `Watched`, ``Record`` or ``Gate`` instead.
///
/// - Throws: `CancellationError` if the awaiting task is cancelled, as by a test's time limit; the error of the
///   condition.
package func until(
  isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool,
) async throws {
  while try await !condition() {
    try Task.checkCancellation()
    await Task.yield()
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
