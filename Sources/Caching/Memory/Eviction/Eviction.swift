/// By what a ``MemoryCache`` chooses the entries that leave when it is full.
public struct Eviction: Sendable {
  let makePolicy: @Sendable () -> any EvictionPolicy
  /// Whether the policy is the house's own, which may be called with a lock held.
  let isOwn: Bool

  /// Creates one of a policy of your own, which `makePolicy` makes for each cache.
  public init(_ makePolicy: @escaping @Sendable () -> any EvictionPolicy) {
    (self.makePolicy, isOwn) = (makePolicy, false)
  }

  private init(own makePolicy: @escaping @Sendable () -> any EvictionPolicy) {
    (self.makePolicy, isOwn) = (makePolicy, true)
  }

  /// By age, size and uses, ``ScoreEviction``: the default.
  public static var score: Eviction { Eviction(own: { ScoreEviction() }) }

  /// By age alone, ``LeastRecentlyUsedEviction``.
  public static var leastRecentlyUsed: Eviction { Eviction(own: { LeastRecentlyUsedEviction() }) }

  /// ``SIEVEEviction``.
  public static var sieve: Eviction { Eviction(own: { SIEVEEviction() }) }

  /// ``S3FIFOEviction``.
  public static var s3FIFO: Eviction { Eviction(own: { S3FIFOEviction() }) }

  /// ``GreedyDualSizeFrequencyEviction``.
  public static var greedyDualSizeFrequency: Eviction { Eviction(own: { GreedyDualSizeFrequencyEviction() }) }
}
