public import VitrineRuntime

/// A cache of encoded bytes in memory: a tier in front of a ``DiskCache``, or a substitute for one.
///
/// Encoded images take a tenth to a hundredth of the memory of decoded ones. In front of a disk cache this saves the
/// read. A read is cheap if the system has the file in memory, so this tier helps most with a slow disk, or with none.
///
/// ```swift
/// let cache = TieredDataCache([.local(MemoryDataCache(sizeLimit: 32 << 20)), .local(disk)])
/// ```
/// Its contents do not outlive the process.
public final class MemoryDataCache: DataCaching {
  private let cache: MemoryCache<CachedData>
  private let pressure: MemoryPressureObservation?

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - sizeLimit: The maximum total size of all entries, in bytes, with keys and metadata. 0 stores nothing.
  ///   - entrySizeLimit: The maximum size of one entry, in bytes. Defaults to an eighth of `sizeLimit`.
  ///   - memoryPressure: The source of memory pressure. Defaults to the system. `nil` ignores memory pressure.
  public init(
    sizeLimit: Int,
    entrySizeLimit: Int? = nil,
    memoryPressure: (any MemoryPressureSource)? = .system,
  ) {
    cache = MemoryCache(costLimit: sizeLimit, entryCostLimit: entrySizeLimit ?? sizeLimit / 8)
    pressure = memoryPressure.map { [cache] in cache.trims(under: $0) }
  }

  /// Returns the entry for a key, fresh or expired, and counts it as used.
  ///
  /// Does not block.
  public func entry(for key: CacheKey) async -> CachedData? { cache.value(for: key) }

  /// Returns the entry for a key, fresh or expired, without counting it as used.
  public func peek(_ key: CacheKey) async -> CachedData? {
    cache.peek(key)
  }

  /// Returns the heads of the entries for some keys, without their bodies and without counting them as used.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    keys.map { key in
      guard let entry = cache.peek(key) else { return nil }
      var head = CachedDataHead(entry)
      head.data = nil
      return head
    }
  }

  /// Stores an entry and replaces an older one of the same key.
  ///
  /// The older one is removed even if the new one is too large to be stored.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    let size = entry.data.count + entry.metadata.count + key.bytes.count
    cache.store(entry, for: key, cost: size, group: key)
  }

  /// Replaces the expiry and metadata of an entry, if it still has the given content.
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

  /// Removes the entry for a key.
  public func remove(_ key: CacheKey) async { cache.remove(key) }

  /// Removes everything.
  public func removeAll() async { cache.removeAll() }

  /// Returns a Boolean value that indicates whether a key has an entry, without counting it as used.
  public func contains(_ key: CacheKey) async -> Bool { cache.contains(key) }

  /// Returns all entries without their bodies, in no particular order.
  public func entries() async -> [DataCacheEntry] {
    cache.entries().map { key, entry, uses in DataCacheEntry(CachedDataHead(entry), for: key, hits: uses) }
  }

  /// Returns the contents and the history of the cache in numbers.
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

  /// Returns at once, since nothing outlives the process.
  public func flush() async {}
}

extension MemoryDataCache: WarmDataCaching {
  /// Returns the entry or ``WarmEntry/missing``, never ``WarmEntry/unknown``.
  package func warmEntry(for key: CacheKey) -> WarmEntry {
    cache.contains(key) ? cache.value(for: key).map { .entry($0) } ?? .missing : .missing
  }
}
