import Synchronization
import VitrineCaching
import VitrineRuntime

/// A pipeline's part in the coordination of several.
struct WorkCoordinator: Sendable {
  private let coordination: any WorkCoordinating
  private let cache: any DataCaching
  private let clock: any TimeSource
  private let pending: PendingWrites
  private let stepper: (any TaskExecutor)?

  init?(_ configuration: PipelineConfiguration, _ pending: PendingWrites) {
    guard let coordination = configuration.coordinating, let cache = configuration.diskCache else { return nil }
    (self.coordination, self.cache, self.pending) = (coordination, cache, pending)
    (clock, stepper) = (configuration.clock, configuration.stepper)
  }

  /// Waits until the work may be done here; see ``WorkCoordinating/enter(_:_:_:_:)``.
  func enter(_ key: CacheKey) async -> WorkLease? {
    guard let hold = await coordination.enter(key, cache, clock, stepper) else { return nil }
    let lease = WorkLease(hold, key, pending)
    guard Task.isCancelled else { return lease }
    lease.pass()
    return nil
  }
}

/// A hold on work, which ends once.
final class WorkLease: Sendable {
  private let hold: any WorkHold
  private let key: CacheKey
  private let pending: PendingWrites
  private let isEnded = Atomic(false)

  init(_ hold: any WorkHold, _ key: CacheKey, _ pending: PendingWrites) {
    (self.hold, self.key, self.pending) = (hold, key, pending)
  }

  // The callers have gone before there was an outcome, or the work was not needed.
  deinit { end(.undone) }

  /// Ends the lease after the writes for its key: from then on other machines find the result, or never will.
  func finish() { end(.stored) }

  /// Ends the lease of work that has failed, or whose result stays here: the other machines do it themselves.
  func giveUp() { end(.unshared) }

  /// Ends the lease of work that was not done, so that another machine may do it for all.
  func pass() { end(.undone) }

  private func end(_ outcome: WorkOutcome) {
    guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
    // Readers wait for the writes of the key, and the tier may be slow: so the lease ends outside of these writes.
    pending.add { [hold, key, pending] in
      await pending.finished(for: key)
      await hold.end(outcome)
    }
  }
}
