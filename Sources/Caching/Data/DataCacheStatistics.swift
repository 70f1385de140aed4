public import VitrineRuntime

/// An entry of a ``DataCaching`` without its bytes.
public struct DataCacheEntry: Sendable, Hashable {
  /// What it is found by.
  public var key: CacheKey
  /// What its bytes are.
  public var kind: CachedData.Kind
  /// How many bytes it has, metadata not counted.
  public var byteCount: Int
  /// When it was stored.
  public var stored: Date
  /// Until when it is fresh; `nil` if for ever.
  public var expires: Date?
  /// How often it was used, storing it included.
  public var hits: Int

  /// Creates one; for caches of your own.
  public init(key: CacheKey, kind: CachedData.Kind, byteCount: Int, stored: Date, expires: Date?, hits: Int) {
    (self.key, self.kind, self.byteCount) = (key, kind, byteCount)
    (self.stored, self.expires, self.hits) = (stored, expires, hits)
  }
}

/// What a ``DataCaching`` holds and what happened in it.
public struct DataCacheStatistics: Hashable, Sendable {
  /// The entries.
  public var entries = 0
  /// Of them, those that are as they came.
  public var originals = 0
  /// Of them, those that were made of others.
  public var finished = 0
  /// The downloads that were broken off and may be resumed; entries do not count them.
  public var partials = 0
  /// What all takes up, in bytes, with everything that is needed to keep it.
  public var bytes = 0
  /// The most that it may take up, in bytes.
  public var limit = 0
  /// The gets that found something.
  public var hits = 0
  /// The gets that found nothing.
  public var misses = 0
  /// The entries that left to keep to the limit.
  public var evictions = 0
  /// The entries that were found damaged, and dropped.
  public var damaged = 0

  /// Creates one of zeros.
  public init() {}
}
