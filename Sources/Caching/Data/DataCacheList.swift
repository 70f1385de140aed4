public import VitrineRuntime

/// A list of caches, used as one cache.
///
/// A look-up goes through the caches in order and stops at the first hit. Everything else goes to all of them.
public struct DataCacheList: DataCaching {
  private let caches: [any DataCaching]
  /// The leading caches that can answer without waiting.
  private let warm: [any WarmDataCaching]

  /// Creates a list of caches, in the order of look-up.
  public init(_ caches: [any DataCaching]) {
    self.caches = caches
    warm = Array(caches.lazy.map { $0 as? any WarmDataCaching }.prefix { $0 != nil }.compactMap(\.self))
  }

  /// The first cache of the list that stores partial bodies.
  package var partialStoring: (any PartialStoring)? { caches.lazy.compactMap { $0 as? any PartialStoring }.first }

  /// Returns the entry for a key from the first cache that has one.
  public func entry(for key: CacheKey) async -> CachedData? {
    for cache in caches {
      if let entry = await cache.entry(for: key) { return entry }
    }
    return nil
  }

  /// Returns the head for each key from the first cache that has one.
  ///
  /// Each further cache is asked only for the missing keys.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    var heads = [CachedDataHead?](repeating: nil, count: keys.count)
    var missing = Array(keys.indices)
    for cache in caches where !missing.isEmpty {
      let found = await cache.heads(for: missing.map { keys[$0] })
      for (number, head) in zip(missing, found) { heads[number] = head }
      missing.removeAll { heads[$0] != nil }
    }
    return heads
  }

  /// Stores an entry in every cache.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    for cache in caches { await cache.store(entry, for: key) }
  }

  /// Renews the entry in every cache and returns `true` if any of them had the content.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    var isRenewed = false
    for cache in caches {
      isRenewed = await cache.renew(key, contentID: contentID, expires: expires, metadata: metadata) || isRenewed
    }
    return isRenewed
  }

  /// Removes the entry for a key from every cache.
  public func remove(_ key: CacheKey) async {
    for cache in caches { await cache.remove(key) }
  }

  /// Removes everything from every cache.
  public func removeAll() async {
    for cache in caches { await cache.removeAll() }
  }

  /// Returns a Boolean value that indicates whether any of the caches has an entry for the key.
  public func contains(_ key: CacheKey) async -> Bool {
    for cache in caches where await cache.contains(key) { return true }
    return false
  }

  /// Returns the entry for a key from the first cache that has one, without counting it as used.
  public func peek(_ key: CacheKey) async -> CachedData? {
    for cache in caches {
      if let entry = await cache.peek(key) { return entry }
    }
    return nil
  }

  /// Returns the identity of the content from the first cache that has the key.
  public func contentID(for key: CacheKey) async -> ContentID? {
    for cache in caches {
      if let contentID = await cache.contentID(for: key) { return contentID }
    }
    return nil
  }

  /// Removes the entries whose keys extend a key from every cache.
  public func removeAll(extending key: CacheKey) async {
    for cache in caches { await cache.removeAll(extending: key) }
  }

  /// Removes the entries that satisfy a condition from every cache.
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    for cache in caches { await cache.removeAll(where: isRemoved) }
  }

  /// Returns the entries of all caches, each key once, as in the first cache that has it.
  public func entries() async -> [DataCacheEntry] {
    var known: Set<CacheKey> = []
    var entries: [DataCacheEntry] = []
    for cache in caches {
      entries += await cache.entries().filter { known.insert($0.key).inserted }
    }
    return entries
  }

  /// Returns the sums over all caches.
  public func statistics() async -> DataCacheStatistics {
    var sum = DataCacheStatistics()
    for cache in caches {
      let one = await cache.statistics()
      sum.entries += one.entries
      sum.originals += one.originals
      sum.finished += one.finished
      sum.partials += one.partials
      sum.bytes += one.bytes
      sum.limit += one.limit
      sum.hits += one.hits
      sum.misses += one.misses
      sum.evictions += one.evictions
      sum.damaged += one.damaged
    }
    return sum
  }

  /// Waits until every cache has flushed.
  public func flush() async {
    for cache in caches { await cache.flush() }
  }
}

extension DataCacheList: WarmDataCaching {
  /// Goes through the warm caches in order, until one has the entry or cannot answer without waiting.
  package func warmEntry(for key: CacheKey, countsMiss: Bool) -> WarmEntry {
    for (number, cache) in warm.enumerated() {
      switch cache.warmEntry(for: key, countsMiss: false) {
      case .entry(let entry):
        for earlier in warm.prefix(number) { earlier.countMiss() }
        return .entry(entry)
      case .unknown:
        return .unknown
      case .missing:
        continue
      }
    }
    guard warm.count == caches.count else { return .unknown }
    if countsMiss { countMiss() }
    return .missing
  }

  package func countMiss() {
    for cache in warm { cache.countMiss() }
  }
}
