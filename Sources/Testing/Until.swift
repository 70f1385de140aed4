/// Waits for what only another task or thread can bring about, without a clock.
///
/// The other tasks of the actor run meanwhile. A test whose condition never holds ends at its time limit, which cancels
/// its task; a loop that does not look at that would hold up the whole run.
///
/// - Throws: `CancellationError` if the awaiting task is cancelled; the error of the condition.
package func until(
  isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool,
) async throws {
  while try await !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
