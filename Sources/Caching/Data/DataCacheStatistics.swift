public import VitrineRuntime

/// An entry of a ``DataCaching`` without its body.
public struct DataCacheEntry: Sendable, Hashable {
  /// The key of the entry.
  public var key: CacheKey
  /// The kind of the bytes.
  public var kind: CachedData.Kind
  /// The length of the body in bytes, without metadata.
  public var byteCount: Int
  /// The time at which the entry was stored.
  public var stored: Date
  /// The time at which the entry expires, or `nil` for never.
  public var expires: Date?
  /// The number of uses, including the store.
  public var hits: Int

  /// Creates an entry, for custom caches.
  public init(key: CacheKey, kind: CachedData.Kind, byteCount: Int, stored: Date, expires: Date?, hits: Int) {
    (self.key, self.kind, self.byteCount) = (key, kind, byteCount)
    (self.stored, self.expires, self.hits) = (stored, expires, hits)
  }

  /// Creates the summary of an entry from its head.
  package init(_ head: CachedDataHead, for key: CacheKey, hits: Int) {
    (self.key, self.hits, kind, byteCount) = (key, hits, head.kind, head.byteCount)
    (stored, expires) = (head.stored, head.expires)
  }
}

/// The contents and the history of a ``DataCaching`` in numbers.
public struct DataCacheStatistics: Hashable, Sendable {
  /// The number of entries.
  public var entries = 0
  /// The number of entries that are originals.
  public var originals = 0
  /// The number of entries that are finished images.
  public var finished = 0
  /// The number of broken downloads that can be resumed, which do not count as entries.
  public var partials = 0
  /// The number of bytes that the cache takes up, including its own bookkeeping.
  public var bytes = 0
  /// The maximum number of bytes that the cache may take up.
  public var limit = 0
  /// The number of look-ups that found an entry.
  public var hits = 0
  /// The number of look-ups that found none.
  public var misses = 0
  /// The number of entries evicted to keep within the limit.
  public var evictions = 0
  /// The number of damaged entries that were found and dropped.
  public var damaged = 0

  /// Creates statistics of zeros.
  public init() {}
}
