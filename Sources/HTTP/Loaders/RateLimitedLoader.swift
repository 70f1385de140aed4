public import VitrineRuntime

/// A loader that sends requests within a ``RateLimit``, per host and in total.
///
/// Further requests wait.
///
/// ```swift
/// let perHost = RateLimit(requestsPerSecond: 5)
/// let polite = RateLimitedLoader(CurlLoader(), RateLimit(requestsPerSecond: 50), perHost: perHost)
/// ```
/// The most urgent load is sent first, the oldest among equals. A load that is cancelled while it waits takes no token.
/// Redirects and answers to challenges are part of their load. Inside a ``RetryingLoader`` each attempt takes a token;
/// around one, a load takes one token for all attempts.
public final class RateLimitedLoader: DataLoader {
  private let loader: any DataLoader
  private let loads: AdmittedLoads

  /// Wraps a loader.
  ///
  /// - Parameters:
  ///   - loader: The wrapped loader.
  ///   - limit: The limit for all loads together. Defaults to none.
  ///   - hostLimit: The limit for the loads of one host, across schemes and ports. Defaults to none.
  ///   - clock: The clock for waits. Defaults to the system clock.
  public init(
    _ loader: any DataLoader,
    _ limit: RateLimit? = nil,
    perHost hostLimit: RateLimit? = nil,
    clock: any TimeSource = .system,
  ) {
    let loader = CheckedLoader.checking(loader)
    let queue = AdmissionQueue<ObjectIdentifier>(rate: limit, hostRate: hostLimit, hostsTakeTurns: false)
    self.loader = loader
    loads = AdmittedLoads(queue, clock) { _, request, sink in loader.load(request, into: sink) }
  }

  /// Starts a load if there are tokens, or queues it, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    loads.load(request, into: sink)
  }

  /// Returns whether the wrapped loader obeys the guard.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { loader.obeys(addressGuard) }
}
