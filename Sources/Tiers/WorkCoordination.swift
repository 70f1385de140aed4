import Synchronization
public import Vitrine
package import VitrineCaching
package import VitrineRuntime

/// The settings for sharing work with pipelines on other machines, so that each piece of work is done once.
///
/// ```swift
/// let cache = TieredDataCache([.local(disk, name: "disk"), .remote(redis, name: "redis")])
/// let pipeline = ImagePipeline {
///   $0.diskCache = cache
///   $0.coordination = WorkCoordination(cache)
/// }
/// ```
/// Before a pipeline asks a server, and before it makes an encoded image, it acquires a lease. If another machine holds
/// the lease, the pipeline looks in the cache now and then, and takes the result from there. After ``maxWait`` it does
/// the work itself. A crash of the holder costs the others at most ``leaseTime``.
///
/// Requests of policy `.reload`, and requests that may not use the cache, are not coordinated.
public struct WorkCoordination: Sendable {
  /// The service that grants the leases.
  public var leases: any KeyLeasing
  /// The time after which a lease expires, unless its holder is still working and extends it.
  ///
  /// Defaults to 5 seconds.
  public var leaseTime = Duration.seconds(5)
  /// The maximum time to wait for another machine.
  ///
  /// Defaults to 10 seconds.
  public var maxWait = Duration.seconds(10)
  /// The pauses between two look-ups, from the first to the last, which are shortened at random by up to a half.
  ///
  /// Defaults to 10 to 200 milliseconds.
  public var pauses: ClosedRange<Duration> = .milliseconds(10) ... .milliseconds(200)
  /// The time for which no machine waits for work whose result could not be shared.
  ///
  /// Defaults to 1 second.
  public var vainTime = Duration.seconds(1)

  /// Creates the default settings.
  ///
  /// - Parameter leases: The service that grants the leases, such as a `TieredDataCache` with a remote tier that does.
  public init(_ leases: any KeyLeasing) { self.leases = leases }
}

extension ImagePipeline.Configuration {
  /// The settings for sharing work with pipelines on other machines, which share `diskCache`.
  ///
  /// Defaults to `nil`: each pipeline works alone.
  public var coordination: WorkCoordination? {
    get { coordinating as? WorkCoordination }
    set { coordinating = newValue }
  }
}

extension WorkCoordination: WorkCoordinating {
  package func enter(
    _ key: CacheKey,
    _ cache: any DataCaching,
    _ clock: any TimeSource,
    _ executor: (any TaskExecutor)?,
  ) async -> (any WorkHold)? {
    func head() async -> CachedDataHead? { await cache.heads(for: [key]).first.flatMap { $0 } }
    let lease = KeyLease(key)
    let start = clock.uptime
    var known: CachedDataHead?
    var hasWaited = false
    var pause = pauses.lowerBound
    while !Task.isCancelled {
      switch (try? await leases.acquire(lease, for: leaseTime)) ?? .vain {
      case .acquired: return HeldLease(lease, self, cache, clock, executor)
      case .vain: return nil
      case .held: break
      }
      guard clock.uptime - start < maxWait else { return nil }
      if !hasWaited {
        known = await head()
        hasWaited = true
      }
      guard (try? await clock.sleep(for: pause * Double.random(in: 0.5...1))) != nil else { return nil }
      pause = min(pause * 1.5, pauses.upperBound)
      // One look-up serves all waiters, and none has to acquire the lease in turn.
      if let head = await head(), head != known { return nil }
    }
    return nil
  }

  package func revoke(extending key: CacheKey) async { try? await leases.revoke(extending: key) }
}

/// A held lease, which is extended until it ends.
private final class HeldLease: WorkHold {
  private let lease: KeyLease
  private let coordination: WorkCoordination
  private let cache: any DataCaching
  private let clock: any TimeSource
  private let executor: (any TaskExecutor)?
  private let isEnded = Atomic(false)

  init(
    _ lease: KeyLease,
    _ coordination: WorkCoordination,
    _ cache: any DataCaching,
    _ clock: any TimeSource,
    _ executor: (any TaskExecutor)?,
  ) {
    (self.lease, self.coordination, self.cache, self.clock) = (lease, coordination, cache, clock)
    self.executor = executor
    extendLater()
  }

  func end(_ outcome: WorkOutcome) async {
    isEnded.store(true, ordering: .releasing)
    let isInVain =
      switch outcome {
      case .stored: await (cache as? TieredDataCache)?.isShared(lease.key) == false
      case .unshared: true
      case .undone: false
      }
    try? await coordination.leases.release(lease, inVainFor: isInVain ? coordination.vainTime : nil)
  }

  private func extendLater() {
    clock.schedule(after: coordination.leaseTime / 3) { [weak self, executor] in
      guard let self, !isEnded.load(ordering: .acquiring) else { return }
      Task(executorPreference: executor) { [weak self] in
        guard let self, !isEnded.load(ordering: .acquiring) else { return }
        if (try? await coordination.leases.extend(lease, for: coordination.leaseTime)) ?? false { extendLater() }
      }
    }
  }
}
