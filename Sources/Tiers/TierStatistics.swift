import VitrineCaching

extension TieredDataCache {
  /// The state of a remote tier's circuit breaker.
  public enum BreakerState: String, Sendable, Hashable, CaseIterable {
    /// The tier is used.
    case closed
    /// The tier has failed too often, and is skipped for a while.
    case open
    /// One call tests whether the tier works again.
    case halfOpen
  }

  /// The history of one tier in numbers.
  public struct TierStatistics: Sendable, Hashable {
    /// The name of the tier.
    public let name: String
    /// A Boolean value that indicates whether the tier is remote.
    public let isRemote: Bool
    /// The number of look-ups of an entry that found one.
    public var hits = 0
    /// The number of look-ups of an entry that found none.
    public var misses = 0
    /// The number of look-ups of a head that found one.
    public var headHits = 0
    /// The number of look-ups of a head that found none.
    public var headMisses = 0
    /// The number of entries promoted from a slower tier.
    public var promotions = 0
    /// The number of operations that did not end within their deadline.
    public var timeOuts = 0
    /// The number of operations that took longer than a caller waits; see ``TieredDataCache/RemoteLimits/headPatience``.
    public var slowCalls = 0
    /// The number of calls that were repeated because the first was slow.
    public var hedges = 0
    /// The number of operations that failed in other ways.
    public var errors = 0
    /// The number of operations that the tier has refused although it works, for example because it is full.
    public var refusals = 0
    /// The number of look-ups that were skipped because the breaker was open.
    public var skipped = 0
    /// The number of entries written.
    public var writes = 0
    /// The number of entries that were not written, because too many were waiting or the write failed.
    public var droppedWrites = 0
    /// The number of removals that were dropped because too many were waiting or the tier refused them.
    public var droppedRemovals = 0
    /// The number of pending and running writes.
    public var queuedWrites = 0
    /// The size of these writes, in bytes.
    public var queuedBytes = 0
    /// The number of pending and running removals.
    public var queuedRemovals = 0
    /// The state of the circuit breaker; always ``TieredDataCache/BreakerState/closed`` for a local tier.
    public var breaker = BreakerState.closed
    /// The number of times that the breaker has opened, after trials too.
    public var openings = 0
    /// A description of the last failure; `nil` if there was none.
    public var lastFailure: String?

    init(name: String, isRemote: Bool) { (self.name, self.isRemote) = (name, isRemote) }
  }
}
