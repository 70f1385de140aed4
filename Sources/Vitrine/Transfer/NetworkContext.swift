import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The state of the network for a pipeline's loads: the loader, its permissions, and recent failures.
final class NetworkContext: Sendable {
  let loader: any DataLoader
  /// The configuration's hooks; each traced load adds a hook that measures.
  let hooks: LoadHooks
  let failures: RecentFailures
  /// The hook for the state of the network; `nil` if the network is always available.
  let access: (@Sendable () -> NetworkAccess)?
  private let addressGuard: AddressGuard?
  private let isGuarded: Bool

  init(_ configuration: PipelineConfiguration, log: EventFeed?) {
    addressGuard = configuration.addressGuard
    let base = configuration.ownLoader ?? configuration.separateLoader ?? PlatformDefaults.loader
    isGuarded = addressGuard.map { base.obeys($0) } ?? true
    // The limits are inside: a load that waits for its next attempt has no place in the queue, and each attempt takes a
    // token.
    let limited = configuration.rateLimited(base)
    let bounded = configuration.queueLimit.map { BoundedLoader(limited, limit: $0) } ?? limited
    let retry = log?.watching(configuration.retryPolicy) ?? configuration.retryPolicy
    loader = RetryingLoader(bounded, retry, clock: configuration.clock)
    var hooks = LoadHooks()
    (hooks.willSend, hooks.challenge) = (configuration.willSend, configuration.challenge)
    self.hooks = hooks
    failures = RecentFailures(by: configuration.freshness, remembers: configuration.remembersFailures)
    access = configuration.access
  }

  /// Returns the reason why a URL must not be requested, as far as the URL shows.
  func objection(to url: HTTPURL) -> String? {
    guard isGuarded else {
      return "the loader does not obey the pipeline's address guard, so nothing is loaded; create it with that guard"
    }
    return addressGuard?.objection(to: url)
  }

  /// Returns the state of the network; the hook runs on a queue, where it may block.
  func accessNow(on queue: WorkQueue) async -> NetworkAccess {
    guard let access else { return .full }
    return (try? await queue.run { _ in access() }) ?? .full
  }
}

extension PipelineConfiguration {
  /// Returns a new loader if the shared one has other settings.
  fileprivate var separateLoader: (any DataLoader)? {
    guard addressGuard != nil || connectionLimitPerHost != nil else { return nil }
    return PlatformDefaults.loader(
      connectionsPerHost: connectionLimitPerHost.map { max(1, $0) },
      guardedBy: addressGuard,
    )
  }

  /// Returns the loader, wrapped if there is a rate limit.
  fileprivate func rateLimited(_ loader: any DataLoader) -> any DataLoader {
    guard rateLimit != nil || rateLimitPerHost != nil else { return loader }
    return RateLimitedLoader(loader, rateLimit, perHost: rateLimitPerHost, clock: clock)
  }
}
