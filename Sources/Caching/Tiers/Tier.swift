extension TieredDataCache {
  /// One of the caches of a ``TieredDataCache``.
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

    /// Creates a tier elsewhere, which may be slow, fail or hang without anybody waiting for it longer than allowed.
    ///
    /// - Parameters:
    ///   - cache: The cache. The failures of a ``FallibleDataCaching`` are counted; those of any other look like misses.
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
    /// The maximum time for heads.
    ///
    /// Defaults to 25 milliseconds. A look-up beyond it is a miss.
    public var headDeadline = Duration.milliseconds(25)
    /// The maximum time for an entry with its body.
    ///
    /// Defaults to 100 milliseconds. A look-up beyond it is a miss.
    public var bodyDeadline = Duration.milliseconds(100)
    /// The maximum time for a write, a renewal or a removal, and for waiting until a removal has arrived.
    ///
    /// Defaults to 2 seconds.
    public var writeDeadline = Duration.seconds(2)
    /// The time beyond which a call counts as slow, beside a millisecond for every 64 KB of a body, and half a
    /// millisecond for every other call under way.
    ///
    /// Defaults to 8 milliseconds: a request for an image that nobody has waits for six calls. Slow answers are used, but
    /// a tier that gives nothing else is left alone, as if it failed.
    public var slowLimit = Duration.milliseconds(8)
    /// The number of failures and time-outs in a row after which the tier is left alone; four slow calls count as one.
    ///
    /// Defaults to 5.
    public var failureLimit = 5
    /// The time for which the tier is left alone at first.
    ///
    /// Defaults to 1 second, and doubles with each trial that fails, up to ``maxBackOff``.
    public var backOff = Duration.seconds(1)
    /// The maximum time for which the tier is left alone.
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
    /// Defaults to 100,000, for times in which the tier cannot be reached. Further ones are given up.
    public var queuedRemovals = 100_000
    /// The maximum number of concurrent writes.
    ///
    /// Defaults to 4.
    public var concurrentWrites = 4

    /// Creates the default limits.
    public init() {}
  }
}
