public import VitrineCaching
import VitrineRuntime

/// The right to do the work for a key, alone among all machines, for a while.
public struct KeyLease: Sendable, Hashable {
  /// The key.
  public let key: CacheKey
  /// The random number that tells the holder from all others.
  public let token: UInt64

  /// Creates the name of a lease, with a token of its own.
  public init(_ key: CacheKey) {
    self.key = key
    token = .random(in: 1 ... .max)
  }
}

/// A keeper of leases for several machines, such as a server that they share.
///
/// A lease is advice: it saves work, and nothing is wrong if two hold it.
public protocol KeyLeasing: Sendable {
  /// Acquires a lease, unless another holder has it.
  ///
  /// - Parameters:
  ///   - lease: The lease.
  ///   - duration: The time after which it ends by itself.
  /// - Returns: What became of it.
  /// - Throws: An error if nobody can tell; then the work is done without a lease.
  func acquire(_ lease: KeyLease, for duration: Duration) async throws -> LeaseAnswer

  /// Extends a lease, if it is still the holder's.
  ///
  /// - Returns: A Boolean value that indicates whether it was.
  /// - Throws: An error if nobody can tell.
  func extend(_ lease: KeyLease, for duration: Duration) async throws -> Bool

  /// Ends a lease, if it is still the holder's.
  ///
  /// - Parameters:
  ///   - lease: The lease.
  ///   - vainTime: The time for which ``acquire(_:for:)`` answers ``LeaseAnswer/vain``, since the result cannot be
  ///     shared; `nil` if it can.
  /// - Throws: An error if nobody can tell. The lease then ends by itself.
  func release(_ lease: KeyLease, inVainFor vainTime: Duration?) async throws
}

/// The answer to who wants a lease.
public enum LeaseAnswer: Sendable, Hashable {
  /// The lease is the caller's.
  case acquired
  /// Another holder is at work.
  case held
  /// Waiting is of no use: the result of the work cannot be shared.
  case vain
}
