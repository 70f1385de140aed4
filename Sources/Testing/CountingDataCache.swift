public import VitrineCaching
import VitrineRuntime

/// A data cache in memory that counts its operations.
///
/// It never evicts. Pass it from one pipeline to the next to simulate a restart.
public final class CountingDataCache: DataCaching {
  /// The number of calls of each operation.
  public struct Counts: Sendable, Hashable {
    /// The number of calls of ``CountingDataCache/entry(for:)``.
    public var reads = 0
    /// The number of calls of ``CountingDataCache/store(_:for:)``.
    public var writes = 0
    /// The number of calls of ``CountingDataCache/renew(_:contentID:expires:metadata:)`` that found their content.
    public var renewals = 0
    /// The number of calls of ``CountingDataCache/remove(_:)``.
    public var removals = 0
    /// The number of calls of ``CountingDataCache/heads(for:)``.
    public var headLookups = 0
    /// The number of calls of ``CountingDataCache/flush()``.
    public var flushes = 0
  }

  private struct State {
    var entries: [CacheKey: CachedData] = [:]
    var counts = Counts()
  }

  private let state = Watched(State())

  /// Creates an empty cache.
  public init() {}

  /// The counts so far.
  public var counts: Counts { state.value.counts }

  /// Waits, without a clock, until `count` entries have been stored since the cache was made.
  ///
  /// Returns early if the awaiting task is cancelled, as by a test's time limit.
  public func wait(forWrites count: Int) async {
    await state.wait { $0.counts.writes >= count }
  }

  /// Replaces the bytes of every entry, to simulate damage.
  public func damage(with data: Data) {
    state.change { state in
      for key in state.entries.keys { state.entries[key]?.data = data }
    }
  }

  /// Returns the entry for a key.
  public func entry(for key: CacheKey) async -> CachedData? {
    state.change { state in
      state.counts.reads += 1
      return state.entries[key]
    }
  }

  /// Stores an entry.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    // The replaced entry is released outside the lock.
    let older = state.change { state in
      state.counts.writes += 1
      return state.entries.updateValue(entry, forKey: key)
    }
    _ = consume older
  }

  /// Renews the entry for a key, if it still has that content.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    state.change { state in
      guard state.entries[key]?.contentID == contentID else { return false }
      state.counts.renewals += 1
      state.entries[key]?.expires = expires
      state.entries[key]?.metadata = metadata
      return true
    }
  }

  /// Removes the entry for a key.
  public func remove(_ key: CacheKey) async {
    let older = state.change { state in
      state.counts.removals += 1
      return state.entries.removeValue(forKey: key)
    }
    _ = consume older
  }

  /// Removes all entries.
  public func removeAll() async {
    let older = state.change { state in
      defer { state.entries = [:] }
      return state.entries
    }
    _ = consume older
  }

  /// Returns `true` if there is an entry for a key.
  public func contains(_ key: CacheKey) async -> Bool { state.value.entries[key] != nil }

  /// Returns all entries, without their bytes.
  public func entries() async -> [DataCacheEntry] {
    state.value.entries.map { key, data in DataCacheEntry(CachedDataHead(data), for: key, hits: 1) }
  }

  /// Returns the entry for a key without counting.
  public func peek(_ key: CacheKey) async -> CachedData? { state.value.entries[key] }

  /// Returns the content ID of the entry for a key without counting.
  public func contentID(for key: CacheKey) async -> ContentID? { state.value.entries[key]?.contentID }

  /// Returns the entries for these keys, without their bytes.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    state.change { state in
      state.counts.headLookups += 1
      return keys.map { key in
        guard let entry = state.entries[key] else { return nil }
        var head = CachedDataHead(entry)
        head.data = nil
        return head
      }
    }
  }

  /// Returns the number of entries.
  public func statistics() async -> DataCacheStatistics {
    var statistics = DataCacheStatistics()
    statistics.entries = state.value.entries.count
    return statistics
  }

  /// Counts the call; there is nothing to write.
  public func flush() async { state.change { $0.counts.flushes += 1 } }

  /// Waits, without a clock, until `count` calls of ``flush()`` have been made since the cache was made.
  ///
  /// Returns early if the awaiting task is cancelled, as by a test's time limit.
  public func wait(forFlushes count: Int) async {
    await state.wait { $0.counts.flushes >= count }
  }
}
