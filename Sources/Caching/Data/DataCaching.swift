public import VitrineRuntime

/// A cache of bytes by key.
///
/// No operation throws. If a cache fails, it misses, and the caller loads.
public protocol DataCaching: Sendable {
  /// Returns the entry for a key, fresh or expired, and counts it as used.
  func entry(for key: CacheKey) async -> CachedData?

  /// Stores an entry and replaces an older one of the same key.
  ///
  /// The entry can be read as soon as this returns.
  func store(_ entry: CachedData, for key: CacheKey) async

  /// Replaces the expiry and metadata of an entry, if it still has the given content.
  ///
  /// The body stays as it is.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - contentID: The content that the entry must have.
  ///   - expires: The new time of expiry, or `nil` for never.
  ///   - metadata: The new metadata.
  /// - Returns: A Boolean value that indicates whether the entry had that content.
  @discardableResult
  func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool

  /// Removes the entry for a key.
  func remove(_ key: CacheKey) async

  /// Removes everything.
  func removeAll() async

  /// Returns a Boolean value that indicates whether a key has an entry, without counting it as used.
  func contains(_ key: CacheKey) async -> Bool

  /// Returns the identity of an entry's content, or `nil` if there is none, without counting it as used.
  func contentID(for key: CacheKey) async -> ContentID?

  /// Removes the entries whose keys extend a key by further parts.
  func removeAll(extending key: CacheKey) async

  /// Returns the entry for a key, fresh or expired, without counting it as used.
  func peek(_ key: CacheKey) async -> CachedData?

  /// Returns the heads of the entries for some keys, fresh or expired.
  ///
  /// A head has the body only if that is in memory already. It does not count as use and changes nothing.
  ///
  /// - Returns: One element for each key, in the same order, `nil` where there is no entry.
  func heads(for keys: [CacheKey]) async -> [CachedDataHead?]

  /// Removes the entries for which `isRemoved` returns `true`.
  func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async

  /// Returns all entries without their bodies, in no particular order.
  func entries() async -> [DataCacheEntry]

  /// Returns the contents and the history of the cache in numbers.
  func statistics() async -> DataCacheStatistics

  /// Waits until everything is stored durably, if the cache outlives the process.
  func flush() async
}

extension DataCaching {
  /// Calls `entry(for:)`, which counts as use.
  public func peek(_ key: CacheKey) async -> CachedData? { await entry(for: key) }

  /// Peeks at one key after the other, which reads the bodies too.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    var heads: [CachedDataHead?] = []
    heads.reserveCapacity(keys.count)
    for key in keys { heads.append(await peek(key).map { CachedDataHead($0) }) }
    return heads
  }

  /// Looks at the head of the entry with `heads(for:)`.
  public func contentID(for key: CacheKey) async -> ContentID? {
    await heads(for: [key]).first.flatMap { $0?.contentID }
  }

  /// Removes the entries whose keys extend a key, one by one.
  ///
  /// Complexity: O(n).
  public func removeAll(extending key: CacheKey) async { await removeAll { $0.key.isExtension(of: key) } }

  /// Removes the entries for which `isRemoved` returns `true`, one by one.
  ///
  /// Complexity: O(n).
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    for entry in await entries() where isRemoved(entry) { await remove(entry.key) }
  }
}
