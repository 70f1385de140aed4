/// The contents and the history of a ``MemoryCache`` in numbers.
public struct MemoryCacheStatistics: Hashable, Sendable {
  /// The number of entries.
  public internal(set) var count = 0
  /// The total cost of all entries, in bytes.
  public internal(set) var cost = 0
  /// The number of look-ups that found a value.
  public internal(set) var hits = 0
  /// The number of look-ups that found none, or an expired one.
  public internal(set) var misses = 0
  /// The number of values stored.
  public internal(set) var insertions = 0
  /// The number of values refused because they were too large, had expired, or met only held entries.
  public internal(set) var refusals = 0
  /// The number of values evicted to keep within a limit.
  public internal(set) var evictionsByLimit = 0
  /// The number of expired values removed by a look-up.
  public internal(set) var evictionsByExpiry = 0
  /// The number of values evicted by trimming.
  public internal(set) var evictionsByTrimming = 0
  /// The number of values evicted under memory pressure.
  public internal(set) var evictionsByPressure = 0
  /// The number of values removed, not counting replaced ones.
  public internal(set) var removals = 0
}
