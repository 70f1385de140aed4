public import VitrineCaching
import VitrineRuntime

extension RedisCache {
  /// Stores an entry and replaces an older one of the same key, atomically.
  ///
  /// It has no effect if the server's entry was stored later, by the clocks of the storing machines, or if the variants
  /// of the source, or all entries, have been removed since.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or is full, and for an entry that is too large or useful
  ///   to this machine only. After a refusal the key has no entry.
  public func write(_ entry: CachedData, for key: CacheKey) async throws {
    if entry.isMachineLocal || entry.isPrivate { throw refusal("only one machine may use the entry") }
    guard entry.data.count <= options.entrySizeLimit else {
      try await erase(key)
      throw refusal("the entry has \(entry.data.count) bytes, more than \(options.entrySizeLimit)")
    }
    guard let lifetime = lifetime(until: entry.expires) else { return try await erase(key) }
    let head = RedisHead(entry).encoded(for: key)
    let (stored, bound) = (Self.time(entry.stored), Self.time(clock.now.addingTimeInterval(Self.clockDifference)))
    let count: Int64?
    do throws(RedisError) {
      count = try await run(.storeEntry, creates: true) { [namespace = options.namespace] keys in
        [
          keys.head(key), keys.body(key), keys.index(key), keys.removal(key),
          RedisKeys.cleared(namespace: namespace),
        ]
      } arguments: { _ in
        [head, entry.data, lifetime, Data(key.bytes), indexLifetime, stored, bound]
      }
    } catch {
      // The older entry must not stay in its place.
      if error.isRefusal { try await erase(key) }
      throw error
    }
    guard let count else { throw nonsense("GET") }
    if count > options.variantLimit {
      let surplus = Data(number: count - Int64(options.variantLimit))
      _ = try await send(isChange: true) { [RedisCommand("SPOP", $0.index(key), surplus)] }
    }
  }

  /// The usual maximum difference between the clocks of two machines, in seconds.
  private static let clockDifference = 60.0
  /// The time for which writes from before a removal are refused, in milliseconds.
  static let removalLifetime = Data(number: Int64(86_400_000))

  /// Returns a time as scripts compare it.
  static func time(_ date: Date) -> Data { Data("\(date.timeIntervalSinceReferenceDate)") }

  private func refusal(_ detail: String) -> RedisError { RedisError(.send, server, detail, isRefusal: true) }

  /// Returns the time for which an entry is kept, in milliseconds; `nil` if it is over.
  private func lifetime(until expires: Date?) -> Data? {
    let longest = options.maxLifetime / .milliseconds(1)
    guard let expires else { return Data(number: Int64(max(1, longest))) }
    let rest = expires.timeIntervalSince(clock.now) * 1000 + options.staleLifetime / .milliseconds(1)
    return rest >= 1 ? Data(number: Int64(min(rest, longest))) : nil
  }

  /// The lifetime of an index, which is the maximum lifetime of its entries.
  private var indexLifetime: Data { Data(number: max(1, Int64(clamping: options.maxLifetime / .milliseconds(1)))) }

  /// Replaces the expiry and metadata of an entry, if it still has the given content.
  ///
  /// The body stays as it is, and is not transferred.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func rewrite(
    _ key: CacheKey,
    contentID: ContentID,
    expires: Date?,
    metadata: Data,
  ) async throws -> Bool {
    guard let lifetime = lifetime(until: expires) else {
      try await erase(key)
      return false
    }
    // Another machine may renew it at the same time.
    for _ in 0..<3 {
      guard let reply = try await send(isChange: true, { [RedisCommand("GET", $0.head(key))] })?.1[0] else {
        return false
      }
      if let text = reply.error { throw RedisError(reply: text, server) }
      guard let old = reply.bytes, var head = RedisHead(old, for: key), head.cached.contentID == contentID else {
        return false
      }
      (head.cached.expires, head.cached.metadata) = (expires, metadata)
      let new = head.encoded(for: key)
      let isReplaced = try await run(.replaceHead) {
        [$0.head(key), $0.body(key), $0.index(key)]
      } arguments: { _ in
        [old, new, lifetime, indexLifetime]
      }
      if isReplaced == 1 { return true }
    }
    return false
  }

  /// Removes the entry for a key.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func erase(_ key: CacheKey) async throws {
    let sent = try await send(isChange: true) { keys in
      [
        RedisCommand("SREM", keys.index(key), Data(key.bytes)),
        RedisCommand("UNLINK", keys.head(key), keys.body(key)),
      ]
    }
    if let sent { try check(sent.1) }
  }

  /// Removes the entries whose keys extend a key.
  ///
  /// For the key of a source, or a longer one, the cost depends on the number of its variants. For a shorter one, all
  /// names on the server are scanned.
  ///
  /// - Throws: ``RedisError`` if the server cannot be reached or replies with an error.
  public func erase(extending key: CacheKey) async throws {
    guard RedisKeys.sourceEnd(of: key) == nil else { return try await removeExtensions(of: key) { $0.index(key) } }
    try await scan {
      $0.indexPrefix + Data(key.bytes)
    } _: { names, _ in
      for name in names { try await self.removeExtensions(of: key) { _ in name } }
    }
  }

  private func removeExtensions(of key: CacheKey, _ index: (RedisKeys) -> Data) async throws(RedisError) {
    _ = try await run(.removeExtensions, creates: true) {
      [index($0), $0.removal(index: index($0))]
    } arguments: {
      [Data(key.bytes), $0.headPrefix, $0.bodyPrefix, Self.time(clock.now), Self.removalLifetime]
    }
  }
}
