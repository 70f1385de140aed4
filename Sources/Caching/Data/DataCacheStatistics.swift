public import VitrineRuntime

/// An entry of a ``DataCaching`` without its bytes.
public struct DataCacheEntry: Sendable, Hashable {
  /// The key of the entry.
  public var key: CacheKey
  /// The kind of the bytes.
  public var kind: CachedData.Kind
  /// The number of bytes, metadata not counted.
  public var byteCount: Int
  /// The time at which it was stored.
  public var stored: Date
  /// The time at which it expires; `nil` for never.
  public var expires: Date?
  /// The number of times it was used, storing it included.
  public var hits: Int

  /// Creates an entry; for caches of your own.
  public init(key: CacheKey, kind: CachedData.Kind, byteCount: Int, stored: Date, expires: Date?, hits: Int) {
    (self.key, self.kind, self.byteCount) = (key, kind, byteCount)
    (self.stored, self.expires, self.hits) = (stored, expires, hits)
  }
}

/// The contents of a ``DataCaching`` in numbers, and its history.
public struct DataCacheStatistics: Hashable, Sendable {
  /// The number of entries.
  public var entries = 0
  /// The number of entries that are originals.
  public var originals = 0
  /// The number of entries that are finished images.
  public var finished = 0
  /// The number of broken downloads that may be resumed; they do not count as entries.
  public var partials = 0
  /// The bytes that the cache takes up, with everything that it needs to keep its entries.
  public var bytes = 0
  /// The maximum number of bytes that the cache may take up.
  public var limit = 0
  /// The number of gets that found something.
  public var hits = 0
  /// The number of gets that found nothing.
  public var misses = 0
  /// The number of entries evicted to keep to the limit.
  public var evictions = 0
  /// The number of entries that were found damaged, and dropped.
  public var damaged = 0

  /// Creates statistics of zeros.
  public init() {}
}
