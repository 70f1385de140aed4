/// The policy by which a full ``MemoryCache`` chooses the entries to evict.
public struct Eviction: Sendable {
  let makePolicy: @Sendable () -> any EvictionPolicy
  /// A built-in policy may be called with the cache's lock held.
  let isOwn: Bool

  /// Creates an eviction by a custom policy, which `makePolicy` creates once for each cache.
  public init(_ makePolicy: @escaping @Sendable () -> any EvictionPolicy) {
    (self.makePolicy, isOwn) = (makePolicy, false)
  }

  private init(own makePolicy: @escaping @Sendable () -> any EvictionPolicy) {
    (self.makePolicy, isOwn) = (makePolicy, true)
  }

  /// Eviction by age, size and uses with ``ScoreEviction``, the default.
  public static var score: Eviction { Eviction(own: { ScoreEviction() }) }

  /// Eviction by age alone with ``LeastRecentlyUsedEviction``.
  public static var leastRecentlyUsed: Eviction { Eviction(own: { LeastRecentlyUsedEviction() }) }

  /// Eviction with ``SIEVEEviction``.
  public static var sieve: Eviction { Eviction(own: { SIEVEEviction() }) }

  /// Eviction with ``S3FIFOEviction``.
  public static var s3FIFO: Eviction { Eviction(own: { S3FIFOEviction() }) }

  /// Eviction with ``GreedyDualSizeFrequencyEviction``.
  public static var greedyDualSizeFrequency: Eviction { Eviction(own: { GreedyDualSizeFrequencyEviction() }) }
}
