public import VitrineCaching
import VitrineRuntime
public import VitrineTiers

/// Leases are values that expire: `SET NX PX` with the holder's token, and scripts that compare it.
extension RedisCache: KeyLeasing {
  private static let vain = Data("vain")

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
    let token = Data(number: lease.token)
    if let vainTime {
      _ = try await run(.replaceIfEqual) {
        [$0.lease(lease.key)]
      } arguments: { _ in
        [token, Self.vain, Self.milliseconds(vainTime)]
      }
    } else {
      _ = try await run(.deleteIfEqual) {
        [$0.lease(lease.key)]
      } arguments: { _ in
        [token]
      }
    }
  }

  /// Ends any holder's lease for a key.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func revoke(_ key: CacheKey) async throws {
    if let sent = try await send(isChange: true, { [RedisCommand("UNLINK", $0.lease(key))] }) { try check(sent.1) }
  }

  private static func milliseconds(_ duration: Duration) -> Data {
    Data(number: max(1, Int64(clamping: duration / .milliseconds(1))))
  }
}
