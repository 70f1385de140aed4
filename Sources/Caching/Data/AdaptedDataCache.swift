public import VitrineRuntime

/// A cache that stores its entries in a ``SimpleDataCache``.
///
/// An entry is stored as one value with a checksum, over its key, too. A value that was damaged or swapped is a miss,
/// and is removed. A read that throws is a miss; a write that throws leaves no entry. Both are warnings, also in the log
/// of the pipeline. The cache does not know which entries it has: ``entries()`` returns none.
///
/// A caller that is cancelled before its look-up begins misses at once. Changes are made in any case, in their order. If
/// the store is slow, put it behind a `TieredDataCache`, which has deadlines.
public final class AdaptedDataCache: DataCaching, WarningDataCaching {
  /// The store, which only the thread of `queue` uses.
  private final class Store: @unchecked Sendable {
    // Sendable, since the queue has one thread, and all calls are made there.
    var cache: any SimpleDataCache
    init(_ cache: any SimpleDataCache) { self.cache = cache }
  }

  private let owned: Store
  private let entrySizeLimit: Int
  private let warnings: CacheWarnings
  private let queue = WorkQueue(label: "vitrine-cache", width: 1)
  private let counts = Lock(DataCacheStatistics())

  /// Makes a cache.
  ///
  /// - Parameters:
  ///   - cache: The store. It must have no other users.
  ///   - entrySizeLimit: The maximum size of an entry's body, in bytes. Defaults to 32 MB. Larger ones are not stored.
  ///   - warn: Receives the failures of the store, on any thread. Defaults to doing nothing.
  public init(
    _ cache: sending some SimpleDataCache,
    entrySizeLimit: Int = 32 << 20,
    warn: @escaping @Sendable (String) -> Void = { _ in },
  ) {
    (owned, self.entrySizeLimit, warnings) = (Store(cache), entrySizeLimit, CacheWarnings(warn))
  }

  package func addWarning(_ warn: @escaping @Sendable (String) -> Bool) { warnings.add(warn) }

  /// Returns the entry for a key, fresh or expired, and counts the look-up.
  public func entry(for key: CacheKey) async -> CachedData? {
    let entry = await peek(key)
    counts.withLock { counts in
      if entry == nil { counts.misses += 1 } else { counts.hits += 1 }
    }
    return entry
  }

  /// Returns the entry for a key, fresh or expired, without counting the look-up.
  public func peek(_ key: CacheKey) async -> CachedData? {
    // Look-ups have a waiting caller, so they go before changes.
    (try? await queue.run(priority: .high) { [self] _ in read(key) }) ?? nil
  }

  /// Stores an entry and replaces an older one of the same key.
  ///
  /// The older one is removed even if the new one is too large to be stored.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    await change { [self] in
      guard entry.data.count > entrySizeLimit else { return write(entry, key) }
      attempt("remove") { try $0.remove(Self.name(of: key)) }
    }
  }

  /// Replaces the expiry and metadata of an entry, if it still has the given content.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    await change { [self] in
      guard var entry = read(key), entry.contentID == contentID else { return false }
      (entry.expires, entry.metadata) = (expires, metadata)
      write(entry, key)
      return true
    } ?? false
  }

  /// Removes the entry for a key.
  public func remove(_ key: CacheKey) async {
    await change { [self] in attempt("remove") { try $0.remove(Self.name(of: key)) } }
  }

  /// Removes the entries whose keys extend a key by further parts.
  ///
  /// A few others may be removed as well.
  public func removeAll(extending key: CacheKey) async {
    await change { [self] in attempt("remove") { try $0.remove(Self.prefix(of: key)) } }
  }

  /// Removes everything.
  public func removeAll() async {
    await change { [self] in attempt("removeAll") { try $0.removeAll() } }
  }

  /// Returns a Boolean value that indicates whether a key has an entry, which it reads.
  public func contains(_ key: CacheKey) async -> Bool { await peek(key) != nil }

  /// Returns no entries, since the store cannot list them.
  public func entries() async -> [DataCacheEntry] { [] }

  /// Returns the numbers of hits, misses and damaged entries; all others are 0.
  public func statistics() async -> DataCacheStatistics { counts.withLock { $0 } }

  /// Waits for all changes so far.
  public func flush() async { await change {} }

  // MARK: On the thread of the store

  /// Makes a change, also for a caller that has been cancelled; returns `nil` if the system has no thread.
  @discardableResult
  private func change<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
    let outcome = Deferred<Value?>()
    do throws(WorkQueueError) {
      try queue.enqueue { _ in outcome.resolve(body()) }
    } catch {
      warnings.tell("a change was not made: \(error)")
      return nil
    }
    return await outcome.value()
  }

  @discardableResult
  private func attempt<Value>(_ name: String, _ call: (inout any SimpleDataCache) throws -> Value) -> Value? {
    do {
      return try call(&owned.cache)
    } catch {
      warnings.tell("\(name) failed: \(error)")
      return nil
    }
  }

  private func write(_ entry: CachedData, _ key: CacheKey) {
    let name = Self.name(of: key)
    let isStored: Void? = attempt("write") { try $0.write(StoredEntry.encoded(entry, for: key), name) }
    // The older entry must not be served in place of the new one.
    if isStored == nil { attempt("remove") { try $0.remove(name) } }
  }

  private func read(_ key: CacheKey) -> CachedData? {
    let name = Self.name(of: key)
    guard let bytes = attempt("read", { try $0.read(name) }) ?? nil else { return nil }
    if let entry = StoredEntry.decoded(bytes, for: key) { return entry }
    counts.withLock { $0.damaged += 1 }
    attempt("remove") { try $0.remove(name) }
    return nil
  }
}

// MARK: - Names and values

extension AdaptedDataCache {
  /// The maximum number of parts in a name; further ones are in its hash only.
  private static let partLimit = 31
  /// The number of hexadecimal digits of a part, and of the hash of the whole key.
  private static let (partDigits, keyDigits) = (6, 16)

  /// Returns the prefix of the names of all keys that extend a key: a hash for each part, over all parts so far.
  static func prefix(of key: CacheKey) -> String {
    let ends = key.parts.map { parts in (1...max(1, parts.count)).compactMap { key.end(ofParts: $0) } } ?? []
    // A key that was not made of parts is one part.
    return (ends.isEmpty ? [key.bytes.count] : ends).prefix(partLimit)
      .map { digits(of: key.bytes.prefix($0), partDigits) + "-" }.joined()
  }

  /// Returns the name of a key, which begins no other name.
  static func name(of key: CacheKey) -> String {
    "\(prefix(of: key).dropLast()).\(digits(of: key.bytes[...], keyDigits))"
  }

  private static func digits(of bytes: ArraySlice<UInt8>, _ count: Int) -> String {
    String(ContentID(of: Data(bytes)).low.hexDigits().prefix(count))
  }

  /// The bytes of an entry: its head, its body, and the checksum of both and of its key.
  enum StoredEntry {
    private static let mark = "VC1"
    private static let (fixedCount, sumCount) = (44, 16)

    static func encoded(_ entry: CachedData, for key: CacheKey) -> Data {
      var head = HeadWriter(capacity: fixedCount + entry.metadata.count)
      head.append(mark)
      head.append(entry.kind.rawValue)
      head.append(entry.contentID)
      head.append(seconds: entry.stored.timeIntervalSinceReferenceDate)
      head.append(seconds: entry.expires.expirySeconds)
      head.append(count: entry.metadata.count)
      head.append(entry.metadata)
      var sum = HeadWriter(capacity: sumCount)
      let bytes = head.data + entry.data
      sum.append(checksum(bytes, key))
      return bytes + sum.data
    }

    static func decoded(_ bytes: Data, for key: CacheKey) -> CachedData? {
      let end = bytes.count - sumCount
      guard end >= fixedCount else { return nil }
      var (head, sum) = (HeadReader([UInt8](bytes.prefix(fixedCount))), HeadReader([UInt8](bytes.suffix(sumCount))))
      guard head.data(mark.utf8.count) == Data(mark.utf8), sum.contentID() == checksum(bytes.prefix(end), key),
        let kind = head.uint8().flatMap({ CachedData.Kind(rawValue: $0) }), let contentID = head.contentID(),
        let stored = head.seconds(), let expires = head.seconds(), let count = head.count(), count <= end - fixedCount
      else { return nil }
      return CachedData(
        data: Data(bytes.prefix(end).dropFirst(fixedCount + count)),
        kind: kind,
        metadata: Data(bytes.dropFirst(fixedCount).prefix(count)),
        contentID: contentID,
        expires: expires.isFinite ? Date(timeIntervalSinceReferenceDate: expires) : nil,
        stored: Date(timeIntervalSinceReferenceDate: stored),
      )
    }

    private static func checksum(_ bytes: Data, _ key: CacheKey) -> ContentID {
      var hash = ContentHash()
      hash.append(bytes)
      hash.append(Data(key.bytes))
      return hash.value
    }
  }
}
