import Synchronization
import VitrineCaching
import VitrineRuntime

/// A pipeline's part in the coordination of several; see ``WorkCoordination``.
///
/// None of it happens within a turn: what keeps the leases may be a user's.
struct WorkCoordinator: Sendable {
  private let coordination: WorkCoordination
  private let cache: any DataCaching
  private let clock: any TimeSource
  private let pending: PendingWrites
  private let stepper: (any TaskExecutor)?

  init?(_ configuration: ImagePipeline.Configuration, _ pending: PendingWrites) {
    guard let coordination = configuration.coordination, let cache = configuration.diskCache else { return nil }
    (self.coordination, self.cache, self.pending) = (coordination, cache, pending)
    (clock, stepper) = (configuration.clock, configuration.stepper)
  }

  /// Waits until this pipeline may do the work for a key, or has to, or somebody else has done it.
  ///
  /// The caller looks into the cache again afterwards: another machine may just have finished.
  ///
  /// - Returns: The lease; `nil` without one. The caller works alone then, unless it finds the result.
  func enter(_ key: CacheKey) async -> WorkLease? {
    let lease = KeyLease(key)
    let start = clock.uptime
    var known: CachedDataHead?
    var hasWaited = false
    var pause = coordination.pauses.lowerBound
    while !Task.isCancelled {
      let answer = (try? await coordination.leases.acquire(lease, for: coordination.leaseTime)) ?? .vain
      switch answer {
      case .acquired:
        let held = WorkLease(lease, coordination, cache, clock, pending, stepper)
        guard Task.isCancelled else { return held }
        held.pass()
        return nil
      case .vain: return nil
      case .held: break
      }
      guard clock.uptime - start < coordination.maxWait else { return nil }
      if !hasWaited {
        known = await head(key)
        hasWaited = true
      }
      guard (try? await clock.sleep(for: pause * Double.random(in: 0.5...1))) != nil else { return nil }
      pause = min(pause * 1.5, coordination.pauses.upperBound)
      // One look tells all who wait, and nobody has to have the lease in turn.
      if let head = await head(key), head != known { return nil }
    }
    return nil
  }

  private func head(_ key: CacheKey) async -> CachedDataHead? { await cache.heads(for: [key]).first.flatMap { $0 } }
}

/// A lease that is held, and extended for as long as it is.
final class WorkLease: Sendable {
  private let lease: KeyLease
  private let coordination: WorkCoordination
  private let cache: any DataCaching
  private let clock: any TimeSource
  private let pending: PendingWrites
  private let stepper: (any TaskExecutor)?
  private let isEnded = Atomic(false)

  init(
    _ lease: KeyLease,
    _ coordination: WorkCoordination,
    _ cache: any DataCaching,
    _ clock: any TimeSource,
    _ pending: PendingWrites,
    _ stepper: (any TaskExecutor)?,
  ) {
    (self.lease, self.coordination, self.cache, self.clock) = (lease, coordination, cache, clock)
    (self.pending, self.stepper) = (pending, stepper)
    extendLater()
  }

  // Nobody has said what became of the work, since its callers have gone. Another may do it for all.
  deinit { if takeEnd() { Self.release(lease, coordination, inVain: false, pending) } }

  /// Ends the lease after the writes for its key, when others can find the result, or nobody will.
  func finish() {
    guard takeEnd() else { return }
    // Not among the writes for the key, on which readers wait: the tier may be slow.
    pending.add { [lease, coordination, cache, pending] in
      await pending.finished(for: lease.key)
      let isShared = await (cache as? TieredDataCache)?.isShared(lease.key) ?? true
      try? await coordination.leases.release(lease, inVainFor: isShared ? nil : coordination.vainTime)
    }
  }

  /// Ends the lease of work that has failed, or whose result stays here: the others do it themselves.
  func giveUp() { if takeEnd() { Self.release(lease, coordination, inVain: true, pending) } }

  /// Ends the lease of work that was not done, so that another may do it for all.
  func pass() { if takeEnd() { Self.release(lease, coordination, inVain: false, pending) } }

  private func takeEnd() -> Bool { !isEnded.exchange(true, ordering: .acquiringAndReleasing) }

  private static func release(
    _ lease: KeyLease,
    _ coordination: WorkCoordination,
    inVain: Bool,
    _ pending: PendingWrites,
  ) {
    pending.add { [pending] in
      await pending.finished(for: lease.key)
      try? await coordination.leases.release(lease, inVainFor: inVain ? coordination.vainTime : nil)
    }
  }

  private func extendLater() {
    clock.schedule(after: coordination.leaseTime / 3) { [weak self, stepper] in
      guard let self, !isEnded.load(ordering: .acquiring) else { return }
      Task(executorPreference: stepper) { [weak self] in
        guard let self, !isEnded.load(ordering: .acquiring) else { return }
        if (try? await coordination.leases.extend(lease, for: coordination.leaseTime)) ?? false { extendLater() }
      }
    }
  }
}
