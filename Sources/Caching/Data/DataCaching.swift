public import VitrineRuntime

/// A cache that keeps bytes under keys, in whatever place.
///
/// Nothing throws: a cache that cannot do its work misses, and those who use it load.
public protocol DataCaching: Sendable {
  /// Returns the entry of a key, fresh or not, and counts it as used.
  func entry(for key: CacheKey) async -> CachedData?

  /// Keeps an entry, in place of an older one of the same key.
  ///
  /// It can be read as soon as this returns.
  func store(_ entry: CachedData, for key: CacheKey) async

  /// Replaces expiry and metadata of a key's entry, if it still has that content; the bytes stay as they are.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - contentID: The content that is meant.
  ///   - expires: The new time at which it expires; `nil` for never.
  ///   - metadata: The new metadata.
  /// - Returns: A Boolean value that indicates whether that content was there.
  @discardableResult
  func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool

  /// Removes the entry of a key.
  func remove(_ key: CacheKey) async

  /// Removes everything.
  func removeAll() async

  /// Returns a Boolean value that indicates whether a key has an entry; does not count as use.
  func contains(_ key: CacheKey) async -> Bool

  /// Returns the identity of the bytes of a key's entry, `nil` where there is none; does not count as use.
  func contentID(for key: CacheKey) async -> ContentID?

  /// Removes the entries whose keys were made of another one by appending parts.
  func removeAll(extending key: CacheKey) async

  /// Returns the entry of a key, fresh or not; does not count as use.
  func peek(_ key: CacheKey) async -> CachedData?

  /// Returns the entry of each of these keys, fresh or not, without the bytes unless these are at hand anyway.
  ///
  /// Does not count as use and changes nothing.
  ///
  /// - Returns: As many answers as there are keys, in their order; `nil` where there is no entry.
  func heads(for keys: [CacheKey]) async -> [CachedDataHead?]

  /// Removes the entries for which `isRemoved` says so.
  func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async

  /// Returns the entries, in no order, without the bytes.
  func entries() async -> [DataCacheEntry]

  /// Returns the statistics of the cache.
  func statistics() async -> DataCacheStatistics

  /// Waits until everything is where it outlives the process, as far as that is what the cache is for.
  func flush() async
}

extension DataCaching {
  /// Returns the entry, which counts as use where a cache knows no other way.
  public func peek(_ key: CacheKey) async -> CachedData? { await entry(for: key) }

  /// Peeks at one key after the other, and so returns the bytes too.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    var heads: [CachedDataHead?] = []
    heads.reserveCapacity(keys.count)
    for key in keys { heads.append(await peek(key).map { CachedDataHead($0) }) }
    return heads
  }

  /// Reads the entry to find out.
  public func contentID(for key: CacheKey) async -> ContentID? { await entry(for: key)?.contentID }

  /// Looks at all entries.
  ///
  /// Complexity: O(n).
  public func removeAll(extending key: CacheKey) async { await removeAll { $0.key.isExtension(of: key) } }

  /// Looks at all entries.
  ///
  /// Complexity: O(n).
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    for entry in await entries() where isRemoved(entry) { await remove(entry.key) }
  }
}
