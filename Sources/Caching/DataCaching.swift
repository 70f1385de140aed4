public import VitrineRuntime

/// Bytes as a cache keeps them, with what their owner has to know about them.
public struct CachedData: Sendable, Hashable {
  /// What the bytes are, which decides whose budget they count towards.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// As they came from their source.
    case original = 0
    /// An image that was made of an original.
    case finished = 1
  }

  /// The bytes.
  public var data: Data
  /// What the bytes are.
  public var kind: Kind
  /// A few bytes more whose meaning is their owner's: validators, headers.
  public var metadata: Data
  /// What the bytes are known by, wherever they are kept or made into something.
  public var contentID: ContentID
  /// Until when they are fresh; `nil` if for ever.
  ///
  /// A cache returns them afterwards too: who asks may renew them.
  public var expires: Date?
  /// When they were stored.
  public var stored: Date

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - kind: What they are; an original by default.
  ///   - metadata: A few bytes more; none by default.
  ///   - contentID: What the bytes are known by.
  ///   - expires: Until when they are fresh; for ever by default.
  ///   - stored: When they were stored.
  public init(
    data: Data,
    kind: Kind = .original,
    metadata: Data = Data(),
    contentID: ContentID,
    expires: Date? = nil,
    stored: Date,
  ) {
    self.data = data
    self.kind = kind
    self.metadata = metadata
    self.contentID = contentID
    self.expires = expires
    self.stored = stored
  }
}

/// Tells one content from another, with 128 bits.
public struct ContentID: Hashable, Sendable {
  /// The lower half.
  public var low: UInt64
  /// The upper half.
  public var high: UInt64

  /// Creates one of its two halves.
  public init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Creates the one of these bytes.
  ///
  /// It is the same on every machine and in every run, and two contents do not share one by accident; whoever wants two
  /// that do can make them. Complexity: O(count), about 0.15 nanoseconds a byte.
  public init(of data: Data) {
    var hash = ContentHash()
    hash.append(data)
    self = hash.value
  }
}

/// Keeps bytes under keys, in whatever place.
///
/// Nothing throws: a cache that cannot do its work misses, and those who use it load.
public protocol DataCaching: Sendable {
  /// Returns what is kept for a key, fresh or not, and counts it as used.
  func entry(for key: CacheKey) async -> CachedData?

  /// Keeps an entry, in place of an older one of the same key.
  ///
  /// It can be read as soon as this returns.
  func store(_ entry: CachedData, for key: CacheKey) async

  /// Replaces expiry and metadata of what is kept for a key, if it still is that content; the bytes stay as they are.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - contentID: The content that is meant.
  ///   - expires: Until when it is fresh from now on; `nil` if for ever.
  ///   - metadata: The metadata from now on.
  /// - Returns: Whether that content was there.
  @discardableResult
  func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool

  /// Removes what is kept for a key.
  func remove(_ key: CacheKey) async

  /// Removes everything.
  func removeAll() async

  /// Returns whether something is kept for a key; does not count as use.
  func contains(_ key: CacheKey) async -> Bool

  /// Returns what the bytes that are kept for a key are known by, `nil` where there are none; does not count as use.
  func contentID(for key: CacheKey) async -> ContentID?

  /// Removes the entries whose keys were made of another one by appending parts.
  func removeAll(extending key: CacheKey) async

  /// Returns what is kept for a key, fresh or not; does not count as use.
  func peek(_ key: CacheKey) async -> CachedData?

  /// Returns what is kept for each of these keys, fresh or not, without the bytes unless these are at hand anyway.
  ///
  /// Does not count as use and changes nothing.
  ///
  /// - Returns: As many answers as there are keys, in their order; `nil` where nothing is kept.
  func heads(for keys: [CacheKey]) async -> [CachedDataHead?]

  /// Removes the entries for which `isRemoved` says so.
  func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async

  /// Returns what is kept, in no order, without the bytes.
  func entries() async -> [DataCacheEntry]

  /// How much is kept, and what happened so far.
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

/// Several caches used as one.
///
/// A get asks them in order, and the first answer counts; everything else goes to all of them.
public struct DataCacheList: DataCaching {
  private let caches: [any DataCaching]

  /// Creates a cache of caches, the one to be asked first in front.
  public init(_ caches: [any DataCaching]) {
    self.caches = caches
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
