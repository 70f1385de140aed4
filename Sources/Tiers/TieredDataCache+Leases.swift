public import VitrineCaching
import VitrineRuntime

/// The leases of the first remote tier that grants them.
///
/// The tier's deadlines and circuit breaker apply to them, too. These calls are never repeated: a lease that arrives
/// late would have no holder. Without such a tier, or while it cannot be reached, each machine works alone.
extension TieredDataCache: KeyLeasing {
  /// Acquires a lease.
  ///
  /// Returns ``LeaseAnswer/vain`` if the tier cannot be reached.
  public func acquire(_ lease: KeyLease, for duration: Duration) async throws -> LeaseAnswer {
    guard let (tier, leases) = leasing else { return .vain }
    let call = LeaseCall(lease, leases, for: duration, tier.stepper)
    let answer = await tier.attempt(.head) { try await call.answer() }
    if answer == nil { call.abandon(clock) }
    return answer ?? .vain
  }

  /// Extends a lease.
  ///
  /// Returns `false` if the tier cannot be reached.
  public func extend(_ lease: KeyLease, for duration: Duration) async throws -> Bool {
    guard let (tier, leases) = leasing else { return false }
    return await tier.attempt(.write) {
      try await leases.extend(lease, for: duration)
    } ?? false
  }

  /// Ends a lease.
  ///
  /// If the tier cannot be reached, it returns, and retries four times, a second apart: other machines wait until the
  /// lease ends.
  public func release(_ lease: KeyLease, inVainFor vainTime: Duration?) async throws {
    await release(lease, inVainFor: vainTime, attempts: 5)
  }

  private func release(_ lease: KeyLease, inVainFor vainTime: Duration?, attempts: Int) async {
    guard let (tier, leases) = leasing else { return }
    let answer: Void? = await tier.attempt(.write) {
      try await leases.release(lease, inVainFor: vainTime)
    }
    guard answer == nil, attempts > 1 else { return }
    clock.schedule(after: .seconds(1)) { [weak self] in
      Task(executorPreference: tier.stepper) { [weak self] in
        await self?.release(lease, inVainFor: vainTime, attempts: attempts - 1)
      }
    }
  }

  /// Ends all leases for a key and for keys that extend it.
  ///
  /// Returns without effect if the tier cannot be reached.
  public func revoke(extending key: CacheKey) async throws {
    guard let (tier, leases) = leasing else { return }
    _ = await tier.attempt(.write) { try await leases.revoke(extending: key) }
  }

  /// Waits until a key's entry has arrived in the tier of the leases.
  ///
  /// - Returns: `true` if other machines find it there.
  func isShared(_ key: CacheKey) async -> Bool {
    guard let (tier, _) = leasing else { return false }
    await tier.settled(key)
    return await tier.heads(for: [key]).first.flatMap { $0 } != nil
  }
}

/// An attempt to acquire a lease, whose answer may arrive after the caller has left.
///
/// A request that was sent is carried out, even if the caller is cancelled or the deadline passes. A lease without a
/// holder would make other machines wait until it expires.
private final class LeaseCall: Sendable {
  private struct State {
    var task: Task<LeaseAnswer, any Error>?
    /// A Boolean value that indicates whether the lease may be held.
    var mayHold = false
    var isAbandoned = false
  }

  private let lease: KeyLease
  private let leases: any KeyLeasing
  private let duration: Duration
  private let stepper: (any TaskExecutor)?
  private let state = Lock(State())

  init(_ lease: KeyLease, _ leases: any KeyLeasing, for duration: Duration, _ stepper: (any TaskExecutor)?) {
    (self.lease, self.leases, self.duration, self.stepper) = (lease, leases, duration, stepper)
  }

  func answer() async throws -> LeaseAnswer {
    // The task is not cancelled with the caller, so that the answer shows whether there is a lease to end.
    let task = Task(executorPreference: stepper) { [self] in
      do {
        let answer = try await leases.acquire(lease, for: duration)
        if answer == .acquired { await keepOrEnd() }
        return answer
      } catch {
        // The reply may have been lost.
        await keepOrEnd()
        throw error
      }
    }
    state.withLock { $0.task = task }
    return try await task.value
  }

  /// Records that the lease may be held, or ends it if the caller has left.
  private func keepOrEnd() async {
    let isAbandoned = state.withLock { state in
      state.mayHold = true
      return state.isAbandoned
    }
    if isAbandoned { await end() }
  }

  /// Ends the lease, now or when the answer arrives.
  func abandon(_ clock: any TimeSource) {
    let (task, mayHold) = state.withLock { state in
      state.isAbandoned = true
      return (state.task, state.mayHold)
    }
    if mayHold {
      Task(executorPreference: stepper) { [self] in await end() }
    } else if let task {
      // By then the lease has expired.
      clock.schedule(after: duration) { task.cancel() }
    }
  }

  private func end() async { try? await leases.release(lease, inVainFor: nil) }
}
