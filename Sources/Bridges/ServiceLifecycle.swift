#if ServiceLifecycle && !VITRINE_APPLE
public import ServiceLifecycle
public import VitrineServing

/// A thumbnail server as a service of swift-service-lifecycle.
public struct ThumbnailService: Service {
  /// The server.
  public let server: ThumbnailServer
  private let time: Duration
  private let delay: Duration

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - server: A server that does not listen yet.
  ///   - time: The time for which running requests may go on after the shutdown began. Defaults to 20 seconds.
  ///   - delay: The time before that, in which requests are still taken, while `/ready` answers 503. Defaults to zero.
  public init(_ server: ThumbnailServer, drainingWithin time: Duration = .seconds(20), after delay: Duration = .zero) {
    (self.server, self.time, self.delay) = (server, time, delay)
  }

  /// Listens until a graceful shutdown, then drains; stops at once if the task is cancelled.
  ///
  /// - Throws: `ServerError` if the server cannot listen, and `CancellationError`.
  public func run() async throws {
    try server.start()
    do {
      try await gracefulShutdown()
    } catch {
      await server.stop()
      throw error
    }
    await server.drain(within: time, after: delay)
  }
}
#endif
