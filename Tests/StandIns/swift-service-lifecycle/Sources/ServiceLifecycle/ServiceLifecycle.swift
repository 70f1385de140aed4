// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

/// swift-service-lifecycle's protocol.
public protocol Service: Sendable {
  func run() async throws
}

/// Only of the stand-in: begins the shutdown for all who wait.
public let shutdown = Shutdown()

/// Only of the stand-in: a signal that is given once.
public final class Shutdown: Sendable {
  private let stream = AsyncStream<Void>.makeStream()

  public func begin() { stream.continuation.finish() }
  func wait() async { for await _ in stream.stream {} }
}

/// Returns when the shutdown begins.
///
/// - Throws: `CancellationError` if the task is cancelled.
public func gracefulShutdown() async throws {
  await shutdown.wait()
  try Task.checkCancellation()
}
