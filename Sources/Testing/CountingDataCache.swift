public import VitrineCaching
public import VitrineRuntime

/// A cache of bytes in memory that counts what it is asked.
///
/// It keeps everything until it is told otherwise, and can be handed from one pipeline to the next to stand for what
/// outlives a restart.
public final class CountingDataCache: DataCaching {
  /// How often each operation was called.
  public struct Counts: Sendable, Hashable {
    /// Calls of ``CountingDataCache/entry(for:)``.
    public var reads = 0
    /// Calls of ``CountingDataCache/store(_:for:)``.
    public var writes = 0
    /// Calls of ``CountingDataCache/renew(_:contentID:expires:metadata:)`` that found their content.
    public var renewals = 0
    /// Calls of ``CountingDataCache/remove(_:)``.
    public var removals = 0
    /// Calls of ``CountingDataCache/heads(for:)``.
    public var headLookups = 0
  }

  private struct State {
    var entries: [CacheKey: CachedData] = [:]
    var counts = Counts()
  }

  private let state = Watched(State())

  /// Creates an empty cache.
  public init() {}

  /// What happened so far.
  public var counts: Counts { state.value.counts }

  /// Waits, without a clock, until so many entries have been stored since the cache was made.
  ///
  /// Returns early when the awaiting task is cancelled, as by a test's time limit.
  public func wait(forWrites count: Int) async {
    await state.wait { $0.counts.writes >= count }
  }

  /// Puts bytes in place of those of every entry, as damage would.
  public func damage(with data: Data) {
    state.change { state in
      for key in state.entries.keys { state.entries[key]?.data = data }
    }
  }

  /// Returns what is kept for a key.
  public func entry(for key: CacheKey) async -> CachedData? {
    state.change { state in
      state.counts.reads += 1
      return state.entries[key]
    }
  }

  /// Keeps an entry.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    // What it takes the place of is released with the lock open.
    let older = state.change { state in
      state.counts.writes += 1
      return state.entries.updateValue(entry, forKey: key)
    }
    _ = consume older
  }

  /// Renews what is kept, if it still is that content.
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

  /// Removes what is kept for a key.
  public func remove(_ key: CacheKey) async {
    let older = state.change { state in
      state.counts.removals += 1
      return state.entries.removeValue(forKey: key)
    }
    _ = consume older
  }

  /// Removes everything.
  public func removeAll() async {
    let older = state.change { state in
      defer { state.entries = [:] }
      return state.entries
    }
    _ = consume older
  }

  /// Returns whether something is kept for a key.
  public func contains(_ key: CacheKey) async -> Bool { state.value.entries[key] != nil }

  /// Returns what is kept, without the bytes.
  public func entries() async -> [DataCacheEntry] {
    state.value.entries.map { key, data in
      DataCacheEntry(
        key: key,
        kind: data.kind,
        byteCount: data.data.count,
        stored: data.stored,
        expires: data.expires,
        hits: 1,
      )
    }
  }

  /// Returns what is kept for a key; not counted.
  public func peek(_ key: CacheKey) async -> CachedData? { state.value.entries[key] }

  /// Returns what the bytes that are kept for a key are known by; not counted.
  public func contentID(for key: CacheKey) async -> ContentID? { state.value.entries[key]?.contentID }

  /// Returns what is kept for each of these keys, without the bytes, so that who wants these asks for the entry.
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

  /// How many entries there are.
  public func statistics() async -> DataCacheStatistics {
    var statistics = DataCacheStatistics()
    statistics.entries = state.value.entries.count
    return statistics
  }

  /// Does nothing.
  public func flush() async {}
}
