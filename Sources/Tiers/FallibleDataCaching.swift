public import VitrineCaching
import VitrineRuntime

/// A cache that reports its failures, such as a cache on another machine.
///
/// Conform to it for a remote tier of a ``TieredDataCache``, which counts failures and skips the cache for a while
/// after several in a row. The operations of `DataCaching` have default implementations, in which a failure is a miss.
public protocol FallibleDataCaching: DataCaching {
  /// Returns the entry for a key, fresh or expired, or `nil` if there is none.
  ///
  /// - Throws: A ``DataCacheFailure``, or any other error, if the look-up fails.
  func read(_ key: CacheKey) async throws -> CachedData?

  /// Returns the heads of the entries for some keys, without reading their bodies.
  ///
  /// - Returns: One element for each key, in the same order, `nil` where there is no entry.
  /// - Throws: As ``read(_:)``.
  func readHeads(of keys: [CacheKey]) async throws -> [CachedDataHead?]

  /// Stores an entry and replaces an older one of the same key.
  ///
  /// - Throws: As ``read(_:)``. After a refusal (``DataCacheFailure/isRefusal``) the key has no entry.
  func write(_ entry: CachedData, for key: CacheKey) async throws

  /// Replaces the expiry and metadata of an entry, if it still has the given content.
  ///
  /// - Returns: A Boolean value that indicates whether the entry had that content.
  /// - Throws: As ``read(_:)``.
  func rewrite(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async throws -> Bool

  /// Removes the entry for a key.
  ///
  /// - Throws: As ``read(_:)``.
  func erase(_ key: CacheKey) async throws

  /// Removes the entries whose keys extend a key by further parts.
  ///
  /// - Throws: As ``read(_:)``.
  func erase(extending key: CacheKey) async throws

  /// Removes everything.
  ///
  /// - Throws: As ``read(_:)``.
  func eraseAll() async throws
}

extension FallibleDataCaching {
  /// Reads an entry; a failure is a miss.
  public func entry(for key: CacheKey) async -> CachedData? { (try? await read(key)) ?? nil }

  /// Reads an entry; a failure is a miss.
  public func peek(_ key: CacheKey) async -> CachedData? { (try? await read(key)) ?? nil }

  /// Reads heads; a failure is a miss for every key.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    (try? await readHeads(of: keys)) ?? Array(repeating: nil, count: keys.count)
  }

  /// Reads the head of an entry; a failure is a miss.
  public func contentID(for key: CacheKey) async -> ContentID? {
    await heads(for: [key]).first.flatMap { $0?.contentID }
  }

  /// Reads the head of an entry; a failure is a miss.
  public func contains(_ key: CacheKey) async -> Bool { await contentID(for: key) != nil }

  /// Writes an entry, unless that fails.
  public func store(_ entry: CachedData, for key: CacheKey) async { try? await write(entry, for: key) }

  /// Renews an entry, unless that fails.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    (try? await rewrite(key, contentID: contentID, expires: expires, metadata: metadata)) ?? false
  }

  /// Removes an entry, unless that fails.
  public func remove(_ key: CacheKey) async { try? await erase(key) }

  /// Removes entries, unless that fails.
  public func removeAll(extending key: CacheKey) async { try? await erase(extending: key) }

  /// Removes everything, unless that fails.
  public func removeAll() async { try? await eraseAll() }
}

/// An error of a ``FallibleDataCaching`` that distinguishes a failure of the cache from the refusal of one operation.
public protocol DataCacheFailure: Error {
  /// A Boolean value that indicates whether the cache works, but has refused this operation, for example because it is
  /// full.
  ///
  /// A tier counts refusals separately, and they do not open its circuit breaker.
  var isRefusal: Bool { get }
}

/// An adapter for caches that never report failures.
struct UnfailingDataCache: FallibleDataCaching {
  let cache: any DataCaching

  func read(_ key: CacheKey) async throws -> CachedData? { await cache.entry(for: key) }
  func readHeads(of keys: [CacheKey]) async throws -> [CachedDataHead?] { await cache.heads(for: keys) }
  func write(_ entry: CachedData, for key: CacheKey) async throws { await cache.store(entry, for: key) }

  func rewrite(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async throws -> Bool {
    await cache.renew(key, contentID: contentID, expires: expires, metadata: metadata)
  }

  func erase(_ key: CacheKey) async throws { await cache.remove(key) }
  func erase(extending key: CacheKey) async throws { await cache.removeAll(extending: key) }
  func eraseAll() async throws { await cache.removeAll() }
  func peek(_ key: CacheKey) async -> CachedData? { await cache.peek(key) }
  func entries() async -> [DataCacheEntry] { await cache.entries() }
  func statistics() async -> DataCacheStatistics { await cache.statistics() }
  func flush() async { await cache.flush() }
}

extension FallibleDataCaching {
  /// Reads without counting as use, if the cache supports it.
  func peekOrRead(_ key: CacheKey) async throws -> CachedData? {
    if let unfailing = self as? UnfailingDataCache { return await unfailing.peek(key) }
    return try await read(key)
  }
}
