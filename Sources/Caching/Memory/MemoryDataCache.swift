public import VitrineRuntime

/// Keeps encoded bytes in memory: a tier in front of a ``DiskCache``, or instead of one.
///
/// Ten to a hundred times as many images fit encoded as fit decoded. In front of a disk cache it spares the read, which costs
/// little where the system has the file in memory anyway, so it is worth most where the disk is slow, or where there is none.
///
/// ```swift
/// let cache = DataCacheList([MemoryDataCache(sizeLimit: 32 << 20), disk])
/// ```
/// Nothing outlives the process.
public final class MemoryDataCache: DataCaching {
  private let cache: MemoryCache<CachedData>
  private let pressure: MemoryPressureObservation?

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - sizeLimit: The most that all entries may take up, in bytes, keys and metadata included; 0 keeps nothing.
  ///   - entrySizeLimit: The most that one entry may take up, in bytes; an eighth of `sizeLimit` by default.
  ///   - eviction: By what those are chosen that leave; by score unless told.
  ///   - memoryPressure: What tells that memory is scarce; the system unless told, `nil` for nothing.
  public init(
    sizeLimit: Int,
    entrySizeLimit: Int? = nil,
    eviction: Eviction = .score,
    memoryPressure: (any MemoryPressureSource)? = .system,
  ) {
    cache = MemoryCache(costLimit: sizeLimit, entryCostLimit: entrySizeLimit ?? sizeLimit / 8, eviction: eviction)
    pressure = memoryPressure.map { [cache] in cache.trims(under: $0) }
  }

  /// Returns what is kept for a key, fresh or not, and counts it as used; does not block.
  public func entry(for key: CacheKey) async -> CachedData? { cache.value(for: key) }

  /// Returns what is kept for a key, fresh or not; does not count as use.
  public func peek(_ key: CacheKey) async -> CachedData? {
    cache.peek(key)
  }

  /// Returns what is kept for each of these keys, without the bytes, so that who wants these asks for the entry; does not count
  /// as use.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    keys.map { key in
      guard let entry = cache.peek(key) else { return nil }
      var head = CachedDataHead(entry)
      head.data = nil
      return head
    }
  }

  /// Keeps an entry; one that is too large is not kept, and an older one of its key removed.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    cache.set(entry, for: key, cost: Self.size(of: entry, key), group: key)
  }

  /// Replaces expiry and metadata of what is kept for a key, if it still is that content.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    var isRenewed = false
    cache.updateVariants(of: key) { variant in
      var entry = variant.value
      guard entry.contentID == contentID else { return entry }
      isRenewed = true
      (entry.expires, entry.metadata) = (expires, metadata)
      return entry
    }
    return isRenewed
  }

  /// Removes what is kept for a key.
  public func remove(_ key: CacheKey) async { cache.remove(key) }

  /// Removes everything.
  public func removeAll() async { cache.removeAll() }

  /// Returns whether something is kept for a key; does not count as use.
  public func contains(_ key: CacheKey) async -> Bool { cache.contains(key) }

  /// Returns what is kept, in no order, without the bytes.
  public func entries() async -> [DataCacheEntry] {
    cache.entries().map { key, entry, uses in
      DataCacheEntry(
        key: key,
        kind: entry.kind,
        byteCount: entry.data.count,
        stored: entry.stored,
        expires: entry.expires,
        hits: uses,
      )
    }
  }

  /// How much is kept, and what happened so far.
  public func statistics() async -> DataCacheStatistics {
    let kinds = cache.entries().map(\.value.kind)
    let counts = cache.statistics
    var statistics = DataCacheStatistics()
    statistics.entries = kinds.count
    statistics.originals = kinds.count { $0 == .original }
    statistics.finished = kinds.count { $0 == .finished }
    (statistics.bytes, statistics.limit) = (counts.cost, cache.costLimit)
    (statistics.hits, statistics.misses) = (counts.hits, counts.misses)
    statistics.evictions = counts.evictionsByLimit + counts.evictionsByPressure
    return statistics
  }

  /// Returns at once: nothing outlives the process.
  public func flush() async {}

  private static func size(of entry: CachedData, _ key: CacheKey) -> Int {
    entry.data.count + entry.metadata.count + key.bytes.count
  }
}

extension MemoryDataCache: WarmDataCaching {
  /// Never does not know.
  package func warmEntry(for key: CacheKey, countsMiss: Bool) -> WarmEntry {
    cache.value(for: key, countsMiss: countsMiss).map { .entry($0) } ?? .missing
  }

  package func countMiss() { cache.countMiss() }
}
