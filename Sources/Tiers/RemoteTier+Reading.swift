import VitrineCaching
import VitrineRuntime

/// Look-ups in a remote tier, and in its pending writes.
extension RemoteTier {
  /// The answer to a look-up of an entry.
  enum Finding: Sendable {
    case entry(CachedData)
    case missing
    /// The look-up takes longer than a caller waits.
    case later

    var entry: CachedData? { if case .entry(let entry) = self { entry } else { nil } }
  }

  /// Returns the entry for a key.
  ///
  /// With `isPeeking` it does not count as used.
  ///
  /// `late` is called with the result if, and only if, this returns ``Finding/later``.
  func entry(
    for key: CacheKey,
    isPeeking: Bool,
    late: (@Sendable (CachedData?) async -> Void)? = nil,
  ) async -> Finding {
    let finding = await known(key, isPeeking: isPeeking, late: late)
    state.withLock { state in
      if finding.entry == nil { state.counts.misses += 1 } else { state.counts.hits += 1 }
    }
    return finding
  }

  private func known(
    _ key: CacheKey,
    isPeeking: Bool,
    late: (@Sendable (CachedData?) async -> Void)?,
  ) async -> Finding {
    switch state.withLock({ $0.queue.pending(key) }) {
    case .stored(let entry): return .entry(entry)
    case .removed: return .missing
    case .none, .renewed: break
    }
    let reply = await call(.body, hedges: true) { [cache] in
      isPeeking ? try await cache.peekOrRead(key) : try await cache.read(key)
    } late: { found in
      await late?(found ?? nil)
    }
    guard case .value(let found) = reply, var entry = found else {
      return if case .later = reply { .later } else { .missing }
    }
    // A removal or a renewal that was queued meanwhile takes precedence.
    switch state.withLock({ $0.queue.pending(key) }) {
    case .none: return .entry(entry)
    case .stored(let newer): return .entry(newer)
    case .removed: return .missing
    case .renewed(entry.contentID, let expires, let metadata):
      (entry.expires, entry.metadata) = (expires, metadata)
      return .entry(entry)
    case .renewed: return .entry(entry)
    }
  }

  /// Returns the heads for some keys.
  func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    let pending = state.withLock { state in keys.map { state.queue.pending($0) } }
    let asked = zip(keys, pending).compactMap { key, pending in
      switch pending {
      case .none, .renewed: key
      case .stored, .removed: nil
      }
    }
    var answers: [CachedDataHead?] = []
    if !asked.isEmpty {
      answers = await attempt(.head, hedges: true) { [cache] in try await cache.readHeads(of: asked) } ?? []
      // A cache that returns too few heads counts as a miss for every key.
      if answers.count != asked.count { answers = Array(repeating: nil, count: asked.count) }
    }
    var found = zip(asked, answers).makeIterator()
    let heads = zip(keys, pending).map { key, pending -> CachedDataHead? in
      switch pending {
      case .stored(let entry): return CachedDataHead(entry)
      case .removed: return nil
      case .none, .renewed:
        guard var head = found.next()?.1 else { return nil }
        switch state.withLock({ $0.queue.pending(key) }) {
        case .none: return head
        case .stored(let newer): return CachedDataHead(newer)
        case .removed: return nil
        case .renewed(head.contentID, let expires, let metadata):
          (head.expires, head.metadata) = (expires, metadata)
          return head
        case .renewed: return head
        }
      }
    }
    state.withLock { state in
      let count = heads.count { $0 != nil }
      state.counts.headHits += count
      state.counts.headMisses += heads.count - count
    }
    return heads
  }

  /// Returns the entries of the cache; none while the breaker is open.
  func entries() async -> [DataCacheEntry] {
    state.withLock { $0.breaker.state } == .closed ? await cache.entries() : []
  }

  func cacheStatistics() async -> DataCacheStatistics {
    guard state.withLock({ $0.breaker.state }) == .closed else { return DataCacheStatistics() }
    return await attempt(.body) { [cache] in await cache.statistics() } ?? DataCacheStatistics()
  }
}
