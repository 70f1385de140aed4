/// What a ``MemoryCache`` holds and what happened in it.
public struct MemoryCacheStatistics: Hashable, Sendable {
  /// The entries that there are.
  public internal(set) var count = 0
  /// What they cost together, in bytes.
  public internal(set) var cost = 0
  /// The gets that found a value.
  public internal(set) var hits = 0
  /// The gets that found none, or an expired one.
  public internal(set) var misses = 0
  /// The values that were stored.
  public internal(set) var insertions = 0
  /// The values that were not stored, being too large or expired.
  public internal(set) var refusals = 0
  /// The values that left to keep to a limit.
  public internal(set) var evictionsByLimit = 0
  /// The values that left because they had expired when they were asked for.
  public internal(set) var evictionsByExpiry = 0
  /// The values that left when the cache was told to shrink.
  public internal(set) var evictionsByTrimming = 0
  /// The values that left because memory was scarce.
  public internal(set) var evictionsByPressure = 0
  /// The values that were removed, not counting those that were replaced.
  public internal(set) var removals = 0
}
