public import VitrineCaching
import VitrineRuntime

/// The exclusive right among all machines to do the work for a key, for a limited time.
public struct KeyLease: Sendable, Hashable {
  /// The key.
  public let key: CacheKey
  /// The random number that identifies the holder.
  public let token: UInt64

  /// Creates a lease with a new token.
  public init(_ key: CacheKey) {
    self.key = key
    token = .random(in: 1 ... .max)
  }
}

/// A service that grants leases to several machines, such as a server that they share.
///
/// A lease is advisory: it saves work, and two holders do no harm.
public protocol KeyLeasing: Sendable {
  /// Acquires a lease, unless another holder has it.
  ///
  /// - Parameters:
  ///   - lease: The lease.
  ///   - duration: The time after which the lease expires.
  /// - Returns: The answer.
  /// - Throws: An error if the service fails; then the work is done without a lease.
  func acquire(_ lease: KeyLease, for duration: Duration) async throws -> LeaseAnswer

  /// Extends a lease, if it is still the holder's.
  ///
  /// - Returns: A Boolean value that indicates whether the lease was extended.
  /// - Throws: An error if the service fails.
  func extend(_ lease: KeyLease, for duration: Duration) async throws -> Bool

  /// Ends a lease, if it is still the holder's.
  ///
  /// - Parameters:
  ///   - lease: The lease.
  ///   - vainTime: The time for which ``acquire(_:for:)`` returns ``LeaseAnswer/vain``, since the result cannot be
  ///     shared; `nil` if it can.
  /// - Throws: An error if the service fails. The lease then expires.
  func release(_ lease: KeyLease, inVainFor vainTime: Duration?) async throws

  /// Ends all leases for a key and for keys that extend it, since their results will be out of date.
  ///
  /// - Throws: An error if the service fails. The leases then end as they would have.
  func revoke(extending key: CacheKey) async throws
}

/// The answer to a request for a lease.
public enum LeaseAnswer: Sendable, Hashable {
  /// The lease is the caller's.
  case acquired
  /// Another holder has the lease.
  case held
  /// The result of the work cannot be shared, so waiting is useless.
  case vain
}
