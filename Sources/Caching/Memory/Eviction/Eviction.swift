/// By what a ``MemoryCache`` chooses the entries that leave when it is full.
public struct Eviction: Sendable {
  let makePolicy: @Sendable () -> any EvictionPolicy

  /// Creates one of a policy of your own, which `makePolicy` makes for each cache.
  public init(_ makePolicy: @escaping @Sendable () -> any EvictionPolicy) {
    self.makePolicy = makePolicy
  }

  /// By age, size and uses, ``ScoreEviction``: the default.
  public static var score: Eviction { Eviction { ScoreEviction() } }

  /// By age alone, ``LeastRecentlyUsedEviction``.
  public static var leastRecentlyUsed: Eviction { Eviction { LeastRecentlyUsedEviction() } }

  /// ``SIEVEEviction``.
  public static var sieve: Eviction { Eviction { SIEVEEviction() } }

  /// ``S3FIFOEviction``.
  public static var s3FIFO: Eviction { Eviction { S3FIFOEviction() } }

  /// ``GreedyDualSizeFrequencyEviction``.
  public static var greedyDualSizeFrequency: Eviction { Eviction { GreedyDualSizeFrequencyEviction() } }
}
