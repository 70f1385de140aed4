public import VitrineCaching

extension TieredDataCache {
  /// A cache of a ``TieredDataCache``.
  public struct Tier: Sendable {
    /// The name of the tier, for statistics.
    public let name: String
    let cache: any DataCaching
    /// The limits of a remote tier; `nil` for a local one.
    let limits: RemoteLimits?

    /// Creates a tier on this machine, whose operations are waited for.
    ///
    /// - Parameters:
    ///   - cache: The cache.
    ///   - name: The name of the tier. Defaults to `local`.
    /// - Returns: The tier.
    public static func local(_ cache: any DataCaching, name: String = "local") -> Tier {
      Tier(name: name, cache: cache, limits: nil)
    }

    /// Creates a remote tier, which may be slow, fail or hang: callers wait for it no longer than its limits allow.
    ///
    /// - Parameters:
    ///   - cache: The cache. The failures of a ``FallibleDataCaching`` are counted; failures of any other cache look
    ///     like misses.
    ///   - name: The name of the tier. Defaults to `remote`.
    ///   - limits: The limits of time and of memory.
    /// - Returns: The tier.
    public static func remote(
      _ cache: any DataCaching,
      name: String = "remote",
      limits: RemoteLimits = RemoteLimits(),
    ) -> Tier {
      Tier(name: name, cache: cache, limits: limits)
    }
  }

  /// The limits of a remote tier.
  public struct RemoteLimits: Sendable, Hashable {
    /// The maximum time for heads, with or without a waiting caller.
    ///
    /// Defaults to 25 milliseconds.
    public var headDeadline = Duration.milliseconds(25)
    /// The maximum time for an entry with its body, with or without a waiting caller.
    ///
    /// Defaults to 100 milliseconds.
    public var bodyDeadline = Duration.milliseconds(100)
    /// The maximum time for a write, a renewal or a removal, and for waiting until a removal has arrived.
    ///
    /// Defaults to 2 seconds.
    public var writeDeadline = Duration.seconds(2)
    /// The bounds of the time for which a caller waits for heads, and for a lease.
    ///
    /// Within them the time is four times the median of the last 128 such calls. After that, the look-up is a miss; the
    /// call continues until ``headDeadline``, so that a tier whose pace has changed permanently is used again. Defaults
    /// to 8 to 25 milliseconds: a request for an image that is in no cache waits for six calls.
    public var headPatience = Duration.milliseconds(8) ... .milliseconds(25)
    /// The bounds of the time for which a caller waits for an entry with its body; see ``headPatience``.
    ///
    /// An entry that arrives later is promoted, for the next caller. Writes that take longer, beside a millisecond for
    /// every 64 KB, count as slow. Defaults to 25 to 100 milliseconds.
    public var bodyPatience = Duration.milliseconds(25) ... .milliseconds(100)
    /// The share of look-ups that may be made a second time, after half of the time for which the caller waits.
    ///
    /// Defaults to 0.1. The first answer counts: if few answers are slow, two of them seldom are.
    public var hedgeShare = 0.1
    /// The number of failures in a row after which the circuit breaker opens.
    ///
    /// Late calls count by the time for which their callers have waited: 4 milliseconds count as a failure. Calls that
    /// are late together count once. Defaults to 5, so that an answer must come every 20 milliseconds.
    public var failureLimit = 5
    /// The time for which the circuit breaker is open at first.
    ///
    /// Defaults to 1 second, and doubles with each failed trial, up to ``maxBackOff``.
    public var backOff = Duration.seconds(1)
    /// The maximum time for which the circuit breaker is open.
    ///
    /// Defaults to 30 seconds.
    public var maxBackOff = Duration.seconds(30)
    /// The maximum number of waiting and running writes.
    ///
    /// Defaults to 1,000. Further ones are dropped.
    public var queuedEntries = 1000
    /// The maximum size of waiting and running writes, in bytes.
    ///
    /// Defaults to 32 MB. Writes that would exceed it are dropped.
    public var queuedBytes = 32 << 20
    /// The maximum number of waiting removals.
    ///
    /// Defaults to 100,000, for times in which the tier cannot be reached. Further ones are dropped.
    public var queuedRemovals = 100_000
    /// The maximum number of concurrent writes.
    ///
    /// Defaults to 4.
    public var concurrentWrites = 4

    /// Creates the default limits.
    public init() {}
  }
}
