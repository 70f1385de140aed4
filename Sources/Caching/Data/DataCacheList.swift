public import VitrineRuntime

/// Several caches used as one.
///
/// A get asks them in order, and the first answer counts; everything else goes to all of them.
public struct DataCacheList: DataCaching {
  private let caches: [any DataCaching]
  /// Those at the front that can answer without waiting.
  private let warm: [any WarmDataCaching]

  /// Creates a cache of caches, the one to be asked first in front.
  public init(_ caches: [any DataCaching]) {
    self.caches = caches
    warm = Array(caches.lazy.map { $0 as? any WarmDataCaching }.prefix { $0 != nil }.compactMap(\.self))
  }

  /// The first of the caches that keeps the beginnings of bodies.
  package var partialStoring: (any PartialStoring)? { caches.lazy.compactMap { $0 as? any PartialStoring }.first }

  /// Returns what the first cache that knows the key keeps for it.
  public func entry(for key: CacheKey) async -> CachedData? {
    for cache in caches {
      if let entry = await cache.entry(for: key) { return entry }
    }
    return nil
  }

  /// Returns what the first cache that knows a key has for it; the next cache is only asked for what is missing.
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

  /// Keeps an entry in every cache.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    for cache in caches { await cache.store(entry, for: key) }
  }

  /// Renews in every cache; whether one of them knew the content.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    var isRenewed = false
    for cache in caches {
      isRenewed = await cache.renew(key, contentID: contentID, expires: expires, metadata: metadata) || isRenewed
    }
    return isRenewed
  }

  /// Removes from every cache.
  public func remove(_ key: CacheKey) async {
    for cache in caches { await cache.remove(key) }
  }

  /// Removes everything from every cache.
  public func removeAll() async {
    for cache in caches { await cache.removeAll() }
  }

  /// Returns whether one of the caches knows the key.
  public func contains(_ key: CacheKey) async -> Bool {
    for cache in caches where await cache.contains(key) { return true }
    return false
  }

  /// Returns what the first cache that knows the key keeps for it.
  public func peek(_ key: CacheKey) async -> CachedData? {
    for cache in caches {
      if let entry = await cache.peek(key) { return entry }
    }
    return nil
  }

  /// Returns what the first cache that knows the key has for it.
  public func contentID(for key: CacheKey) async -> ContentID? {
    for cache in caches {
      if let contentID = await cache.contentID(for: key) { return contentID }
    }
    return nil
  }

  /// Removes from every cache.
  public func removeAll(extending key: CacheKey) async {
    for cache in caches { await cache.removeAll(extending: key) }
  }

  /// Removes from every cache.
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    for cache in caches { await cache.removeAll(where: isRemoved) }
  }

  /// Returns what the caches keep, what several keep as the first of them has it.
  public func entries() async -> [DataCacheEntry] {
    var known: Set<CacheKey> = []
    var entries: [DataCacheEntry] = []
    for cache in caches {
      entries += await cache.entries().filter { known.insert($0.key).inserted }
    }
    return entries
  }

  /// The sums over all caches.
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

  /// Waits for every cache.
  public func flush() async {
    for cache in caches { await cache.flush() }
  }
}

extension DataCacheList: WarmDataCaching {
  /// Asks the caches in order, as far as all before have nothing; a cache that cannot answer without waiting ends that.
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
