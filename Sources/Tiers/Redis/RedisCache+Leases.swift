public import VitrineCaching
import VitrineRuntime
public import VitrineTiers

/// Leases are values that expire: `SET NX PX` with the holder's token, and scripts that compare it. A set has the leased
/// keys of each source, by which a removal finds them.
extension RedisCache: KeyLeasing {
  private static let vain = Data("vain")
  /// The time for which a set of leased keys is kept after the last lease, in milliseconds.
  private static let setLifetime = Data(number: Int64(600_000))

  /// Acquires a lease, unless another holder has it.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func acquire(_ lease: KeyLease, for duration: Duration) async throws -> LeaseAnswer {
    let token = Data(number: lease.token)
    let sent = try await send(creates: true) { keys in
      let name = keys.lease(lease.key)
      return [
        RedisCommand("SET", name, token, Data("NX"), Data("PX"), Self.milliseconds(duration)),
        // An earlier reply may have been lost, so the caller may already hold the lease.
        RedisCommand("GET", name),
        RedisCommand("SADD", keys.leased(lease.key), Data(lease.key.bytes)),
        RedisCommand("PEXPIRE", keys.leased(lease.key), Self.setLifetime),
      ]
    }
    guard let replies = sent?.1 else { throw nonsense("GET") }
    try check(replies)
    switch replies[1] {
    case .bytes(token): return .acquired
    case .bytes(Self.vain): return .vain
    case .bytes, .null: return .held
    default: throw nonsense("GET")
    }
  }

  /// Extends a lease, if it is still the holder's.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func extend(_ lease: KeyLease, for duration: Duration) async throws -> Bool {
    try await run(.extendIfEqual) {
      [$0.lease(lease.key)]
    } arguments: { _ in
      [Data(number: lease.token), Self.milliseconds(duration)]
    } == 1
  }

  /// Ends a lease, if it is still the holder's.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func release(_ lease: KeyLease, inVainFor vainTime: Duration?) async throws {
    let vain = vainTime.map { [Self.vain, Self.milliseconds($0)] } ?? []
    _ = try await run(.endLease) {
      [$0.lease(lease.key), $0.leased(lease.key)]
    } arguments: { _ in
      [Data(number: lease.token), Data(lease.key.bytes)] + vain
    }
  }

  /// Ends all leases for a key and for keys that extend it.
  ///
  /// No key is shorter than a source's.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func revoke(extending key: CacheKey) async throws {
    _ = try await run(.revokeExtensions) {
      [$0.leased(key)]
    } arguments: {
      [Data(key.bytes), $0.leasePrefix]
    }
  }

  private static func milliseconds(_ duration: Duration) -> Data {
    Data(number: max(1, Int64(clamping: duration / .milliseconds(1))))
  }
}
