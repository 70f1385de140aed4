import VitrineCaching
import VitrineRuntime

/// The leases of the first remote tier that keeps any.
///
/// The tier's deadlines and circuit breaker hold for them, too. None of these calls is made twice: a lease that arrives
/// after its end would belong to nobody. Without such a tier, or while it cannot be reached, everybody works alone.
extension TieredDataCache: KeyLeasing {
  /// Acquires a lease; ``LeaseAnswer/vain`` if the tier cannot be reached.
  public func acquire(_ lease: KeyLease, for duration: Duration) async throws -> LeaseAnswer {
    guard let (tier, leases) = leasing else { return .vain }
    let call = LeaseCall(lease, leases, for: duration, tier.stepper)
    let answer = await tier.attempt(.head) { try await call.answer() }
    if answer == nil { call.abandon(clock) }
    return answer ?? .vain
  }

  /// Extends a lease; `false` if the tier cannot be reached.
  public func extend(_ lease: KeyLease, for duration: Duration) async throws -> Bool {
    guard let (tier, leases) = leasing else { return false }
    return await tier.attempt(.write) {
      try await leases.extend(lease, for: duration)
    } ?? false
  }

  /// Ends a lease.
  ///
  /// If the tier cannot be reached, it returns, and tries again four times, a second apart: others wait for as long as a lease
  /// lasts.
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

  /// Waits until a key's entry has arrived in the tier of the leases.
  ///
  /// - Returns: `true` if other machines find it there.
  func isShared(_ key: CacheKey) async -> Bool {
    guard let (tier, _) = leasing else { return false }
    await tier.settled(key)
    return await tier.heads(for: [key]).first.flatMap { $0 } != nil
  }
}

/// One attempt to acquire a lease, whose answer may come when the caller has gone.
///
/// A request that was sent is carried out, even if the caller is cancelled or the deadline passes. A lease that nobody knows
/// of would keep all others waiting until it ends by itself.
private final class LeaseCall: Sendable {
  private struct State {
    var task: Task<LeaseAnswer, any Error>?
    /// True if the lease may be held.
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
    // Not cancelled with the caller, so that the answer tells whether there is a lease to end.
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

  /// Notes that the lease may be held, or ends it if the caller has gone.
  private func keepOrEnd() async {
    let isAbandoned = state.withLock { state in
      state.mayHold = true
      return state.isAbandoned
    }
    if isAbandoned { await end() }
  }

  /// Ends the lease, now or when the answer comes.
  func abandon(_ clock: any TimeSource) {
    let (task, mayHold) = state.withLock { state in
      state.isAbandoned = true
      return (state.task, state.mayHold)
    }
    if mayHold {
      Task(executorPreference: stepper) { [self] in await end() }
    } else if let task {
      // By then the lease has ended by itself.
      clock.schedule(after: duration) { task.cancel() }
    }
  }

  private func end() async { try? await leases.release(lease, inVainFor: nil) }
}
