import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// What the jobs of a pipeline know of the network: what loads, whether it may, and what has failed lately.
final class NetworkContext: Sendable {
  let loader: any DataLoader
  /// Those of the configuration; what measures is added by each load that is traced.
  let hooks: LoadHooks
  let failures: RecentFailures?
  /// `nil` where there is always all of it.
  let access: (@Sendable () -> NetworkAccess)?
  private let addressGuard: AddressGuard?
  private let isGuarded: Bool

  init(_ configuration: ImagePipeline.Configuration, log: EventFeed?) {
    addressGuard = configuration.addressGuard
    let base =
      configuration.ownLoader ?? addressGuard.map { PlatformDefaults.loader(guardedBy: $0) } ?? PlatformDefaults.loader
    isGuarded = addressGuard.map { base.obeys($0) } ?? true
    // Inside: what waits for its next attempt waits for no place, and takes its turn as any other.
    let limited = configuration.rateLimited(base)
    let bounded = configuration.queueLimit.map { BoundedLoader(limited, limit: $0) } ?? limited
    let retry = log?.watching(configuration.retryPolicy) ?? configuration.retryPolicy
    loader = RetryingLoader(bounded, retry, clock: configuration.clock)
    var hooks = LoadHooks()
    (hooks.willSend, hooks.challenge) = (configuration.willSend, configuration.challenge)
    self.hooks = hooks
    failures = configuration.remembersFailures ? RecentFailures() : nil
    access = configuration.access
  }

  /// Says why a URL may not be asked, as far as it tells.
  func objection(to url: HTTPURL) -> String? {
    guard isGuarded else {
      return "a loader was set beside an address guard that it does not obey, so nothing is loaded; give it the guard"
    }
    return addressGuard?.objection(to: url)
  }

  /// Asks what the network is good for, on a queue where whoever says that may block.
  func accessNow(on queue: WorkQueue) async -> NetworkAccess {
    guard let access else { return .full }
    return (try? await queue.run { _ in access() }) ?? .full
  }
}

extension ImagePipeline.Configuration {
  /// The loader, with the limits for requests a second around it where there are any.
  fileprivate func rateLimited(_ loader: any DataLoader) -> any DataLoader {
    guard rateLimit != nil || rateLimitPerHost != nil else { return loader }
    return RateLimitedLoader(loader, rateLimit, perHost: rateLimitPerHost, clock: clock)
  }
}

/// What could not be loaded lately, so that it is not asked for again each time a cell comes by.
final class RecentFailures: Sendable {
  private let memory = Lock(FailureMemory<CacheKey>())

  /// The error that asking again would most likely give; `nil` where that is worth trying.
  func error(for key: CacheKey, _ source: String, at now: Duration) -> LoadError? {
    guard let standing = memory.withLock({ $0.standing(for: key, now: now) }) else { return nil }
    let (age, rest) = (standing.age.wholeSeconds(.down), standing.rest.wholeSeconds(.up))
    return LoadError(standing.error, source, "failed \(age) s ago, not asked again for \(rest) s: ")
  }

  func record(_ error: HTTPError, retryAfter: Duration? = nil, for key: CacheKey, at now: Duration) {
    memory.withLock { $0.record(error, for: key, retryAfter: retryAfter, now: now) }
  }

  func forget(_ key: CacheKey) { memory.withLock { $0.forget(key) } }

  func removeAll() { memory.withLock { $0.removeAll() } }
}

extension Duration {
  fileprivate func wholeSeconds(_ rule: FloatingPointRoundingRule) -> Int {
    Int((self / .seconds(1)).rounded(rule))
  }
}
