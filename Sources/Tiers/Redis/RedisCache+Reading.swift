public import VitrineCaching
import VitrineRuntime

extension RedisCache {
  /// Returns the entry for a key, fresh or expired.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func read(_ key: CacheKey) async throws -> CachedData? {
    let entry = try await find(key)
    counts.withLock { counts in
      if entry == nil { counts.misses += 1 } else { counts.hits += 1 }
    }
    return entry
  }

  private func find(_ key: CacheKey) async throws(RedisError) -> CachedData? {
    // The commands are not within `MULTI`, which a full server refuses even for reads. So another machine may write in
    // between, and parts that do not fit together are read again.
    let found = try await look(for: key)
    guard case .unfit(let first) = found else { return found.entry }
    let second = try await look(for: key)
    guard case .unfit(let again) = second, again == first else { return second.entry }
    if again.isDamaged { counts.withLock { $0.damaged += 1 } }
    // The entry is deleted unless it has been replaced.
    _ = try await run(.deleteIfEqual) {
      [$0.head(key), $0.body(key)]
    } arguments: { _ in
      [again.head]
    }
    return nil
  }

  private func look(for key: CacheKey) async throws(RedisError) -> Look {
    let limit = options.entrySizeLimit
    let sent = try await send { keys in
      [
        RedisCommand("GET", keys.head(key)),
        // The range limits the size, whatever the server has stored.
        RedisCommand("GETRANGE", keys.body(key), Data(number: 0), Data(number: max(0, limit - 1))),
        RedisCommand("SISMEMBER", keys.index(key), Data(key.bytes)),
      ]
    }
    guard let replies = sent?.1 else { return .missing }
    try check(replies)
    switch (replies[0], replies[1], replies[2]) {
    // An entry outside its index counts as removed.
    case (.null, .bytes, .integer), (.bytes, .bytes, .integer(0)): return .missing
    case (.bytes(let bytes), .bytes(let body), .integer(1)):
      guard let head = RedisHead(bytes, for: key) else { return .unfit(Unfit(head: bytes, isDamaged: true)) }
      // Another machine has a higher limit.
      guard head.cached.byteCount <= limit else { return .missing }
      if let entry = head.entry(body) { return .entry(entry) }
      // An evicted body is not damage.
      return .unfit(Unfit(head: bytes, isDamaged: !body.isEmpty))
    default: throw nonsense("GET")
    }
  }

  /// Returns the heads of the entries for some keys, in one round trip and without their bodies.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func readHeads(of keys: [CacheKey]) async throws -> [CachedDataHead?] {
    guard !keys.isEmpty else { return [] }
    let sent = try await send { names in
      [RedisCommand("MGET", keys.map { names.head($0) })]
        + keys.map { RedisCommand("SISMEMBER", names.index($0), Data($0.bytes)) }
    }
    guard let replies = sent?.1 else { return Array(repeating: nil, count: keys.count) }
    try check(replies)
    guard let heads = replies[0].array, heads.count == keys.count else { throw nonsense("MGET") }
    var found: [CachedDataHead?] = []
    for (index, (key, reply)) in zip(keys, heads).enumerated() {
      switch (reply, replies[index + 1]) {
      case (.null, .integer), (.bytes, .integer(0)): found.append(nil)
      case (.bytes(let bytes), .integer(1)): found.append(RedisHead(bytes, for: key)?.cached)
      default: throw nonsense("MGET")
      }
    }
    return found
  }

  // MARK: All entries

  /// Returns all entries without their bodies, by a scan of all names on the server.
  ///
  /// The result is empty if the server cannot be reached.
  public func entries() async -> [DataCacheEntry] {
    var entries: [CacheKey: DataCacheEntry] = [:]
    try? await scan(\.headPrefix) { names, prefix in
      let keys = names.map { CacheKey(bytes: Array($0.dropFirst(prefix.count))) }
      for (key, head) in zip(keys, try await self.readHeads(of: keys)) {
        guard let head else { continue }
        entries[key] = DataCacheEntry(head, for: key, hits: 1)
      }
    }
    return Array(entries.values)
  }

  /// Scans the names with a prefix, some at a time.
  func scan(
    _ prefix: (RedisKeys) -> Data,
    _ body: (_ names: [Data], _ prefix: Data) async throws -> Void,
  ) async throws {
    var cursor = Data("0")
    repeat {
      guard
        let (keys, replies) = try await send({ keys in
          [RedisCommand("SCAN", cursor, Data("MATCH"), RedisKeys.pattern(prefix(keys)), Data("COUNT"), Data("500"))]
        })
      else { return }
      try check(replies)
      guard let parts = replies[0].array, parts.count == 2, let next = parts[0].bytes, let names = parts[1].array else {
        throw nonsense("SCAN")
      }
      let start = prefix(keys)
      // The server interprets the pattern, so the prefix is checked here.
      let found = names.compactMap(\.bytes).filter { $0.starts(with: start) }
      if !found.isEmpty { try await body(found, start) }
      cursor = next
    } while cursor != Data("0")
  }

  /// Returns the memory of the server, and the look-ups of this cache.
  ///
  /// The server cannot count the entries. Bytes, limit and evictions concern the whole server.
  public func statistics() async -> DataCacheStatistics {
    var statistics = DataCacheStatistics()
    counts.withLock { counts in
      (statistics.hits, statistics.misses, statistics.damaged) = (counts.hits, counts.misses, counts.damaged)
    }
    guard
      let replies = try? await sendPlainly([
        RedisCommand("INFO", Data("memory")), RedisCommand("INFO", Data("stats")),
      ])
    else { return statistics }
    func number(_ name: String) -> Int {
      for reply in replies {
        for line in String(decoding: reply.bytes ?? Data(), as: UTF8.self).split(whereSeparator: \.isNewline)
        where line.hasPrefix("\(name):") {
          return Int(line.dropFirst(name.count + 1)) ?? 0
        }
      }
      return 0
    }
    (statistics.bytes, statistics.limit) = (number("used_memory"), number("maxmemory"))
    statistics.evictions = number("evicted_keys")
    return statistics
  }

  /// Returns at once, since the server has received all writes.
  public func flush() async {}
}

/// The result of a look-up.
private enum Look: Sendable {
  case missing
  case entry(CachedData)
  case unfit(Unfit)

  var entry: CachedData? { if case .entry(let entry) = self { entry } else { nil } }
}

/// A head that cannot be read, or has another body.
private struct Unfit: Sendable, Equatable {
  let head: Data
  let isDamaged: Bool
}
