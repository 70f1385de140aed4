import VitrineRuntime

/// The leases of the first remote tier that keeps any.
///
/// The tier's deadline and circuit breaker hold for them, too. None of these calls is made twice: a lease that arrives
/// after its end would be nobody's. Without such a tier, or while it cannot be reached,
/// everybody works alone.
extension TieredDataCache: KeyLeasing {
  /// Acquires a lease; ``LeaseAnswer/vain`` if the tier cannot be reached.
  public func acquire(_ lease: KeyLease, for duration: Duration) async throws -> LeaseAnswer {
    guard let (tier, leases) = leasing else { return .vain }
    return await tier.attempt(within: tier.limits.headDeadline, hedges: false) {
      try await leases.acquire(lease, for: duration)
    } ?? .vain
  }

  /// Extends a lease; `false` if the tier cannot be reached.
  public func extend(_ lease: KeyLease, for duration: Duration) async throws -> Bool {
    guard let (tier, leases) = leasing else { return false }
    return await tier.attempt(within: tier.limits.writeDeadline, hedges: false) {
      try await leases.extend(lease, for: duration)
    } ?? false
  }

  /// Ends a lease, if the tier can be reached.
  public func release(_ lease: KeyLease, inVainFor vainTime: Duration?) async throws {
    guard let (tier, leases) = leasing else { return }
    _ = await tier.attempt(within: tier.limits.writeDeadline, hedges: false) {
      try await leases.release(lease, inVainFor: vainTime)
    }
  }

  /// Waits until a key's entry has arrived in the tier of the leases.
  ///
  /// - Returns: `true` if other machines find it there.
  package func isShared(_ key: CacheKey) async -> Bool {
    guard let (tier, _) = leasing else { return false }
    await tier.settled(key)
    return await tier.heads(for: [key]).first.flatMap { $0 } != nil
  }
}
