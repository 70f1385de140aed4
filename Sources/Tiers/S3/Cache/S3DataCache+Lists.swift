public import VitrineCaching
import VitrineHTTP
import VitrineRuntime

extension S3DataCache {
  /// Returns the heads of the entries for some keys, with one request for each and without bodies.
  ///
  /// A missing bucket looks like a miss, since the response to a head does not distinguish the two.
  ///
  /// - Returns: One element for each key, in the same order, `nil` where there is no entry.
  /// - Throws: The first ``S3Error``, which ends the requests.
  public func readHeads(of keys: [CacheKey]) async throws(S3Error) -> [CachedDataHead?] {
    try await mapped(keys) { (key) async throws(S3Error) in try await self.head(of: self.object(of: key), key)?.head }
  }

  private func head(
    of object: ObjectURL,
    _ key: CacheKey?,
  ) async throws(S3Error) -> (head: CachedDataHead, key: CacheKey?)? {
    guard case .head(let head, _)? = try await found(object, key) else { return nil }
    var (found, ownKey) = (head.cached, CacheKey?.none)
    if head.hasMetadataInPreface || key == nil && head.keyCount > 0 {
      guard let preface = try await preface(of: head, object), let opened = head.open(preface: preface) else {
        return nil
      }
      (found.metadata, ownKey) = opened
    }
    return (found, ownKey)
  }

  private func preface(of head: EntryHead, _ object: ObjectURL) async throws(S3Error) -> Data? {
    let answer = try await attempt { () throws(S3Error) in
      try await client.read(object, range: 0..<head.prefaceCount, within: options.readDeadline)
    }
    // The object may have been replaced since its head was read: in that case its checksum differs.
    return answer?.body
  }

  /// Returns all entries without their bodies, in no particular order: a list of their names, and a request for each.
  ///
  /// The result is limited by ``Options/maxListedEntries``. The number of uses of an entry is unknown, so `hits` is 1.
  public func entries() async -> [DataCacheEntry] {
    var names: [String] = []
    // Entries that were listed before a failure are returned.
    _ = try? await attempt { () throws(S3Error) in
      try await client.list(
        bucket,
        prefix: prefix,
        limit: options.maxListedEntries,
        within: options.readDeadline,
      ) { names += $0.map(\.key) }
    }
    let entries = try? await mapped(names) { (name) async throws(S3Error) -> DataCacheEntry? in
      guard let object = ObjectURL(bucket: self.bucket, key: name) else { return nil }
      let key = ObjectName.key(of: self.name(of: object))
      guard let (head, ownKey) = (try? await self.head(of: object, key)) ?? nil, let key = key ?? ownKey,
        self.object(of: key) == object
      else { return nil }
      return DataCacheEntry(head, for: key, hits: 1)
    }
    return entries?.compactMap(\.self) ?? []
  }

  /// Removes all objects whose names begin with the prefix.
  ///
  /// - Throws: ``S3Error`` if the server cannot be reached, takes too long or refuses.
  public func eraseAll() async throws(S3Error) { try await eraseAll(named: prefix) }

  /// Removes the entries whose keys extend a key by further parts, by the prefix of their names.
  ///
  /// The names of keys of more than 600 bytes are cut; then entries whose keys begin alike are removed, too.
  ///
  /// - Throws: ``S3Error`` if the server cannot be reached, takes too long or refuses.
  public func erase(extending key: CacheKey) async throws(S3Error) {
    let own = object(of: key).key
    try await eraseAll(named: prefix + ObjectName.prefix(of: key)) { $0 != own }
  }

  /// Removes the entries for which `isRemoved` returns `true`, at the cost of ``entries()``.
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    let names = await entries().filter(isRemoved).map { object(of: $0.key).key }
    _ = try? await attempt { () throws(S3Error) in
      try await client.remove(names, in: bucket, within: options.writeDeadline)
    }
  }

  private func eraseAll(
    named prefix: String,
    where isRemoved: (String) -> Bool = { _ in true },
  ) async throws(S3Error) {
    try await attempt { () throws(S3Error) in
      try await client.list(
        bucket,
        prefix: prefix,
        limit: options.maxRemovedEntries,
        within: options.writeDeadline,
      ) { (objects) async throws(S3Error) in
        let keys = objects.map(\.key).filter(isRemoved)
        try await self.client.remove(keys, in: self.bucket, within: self.options.writeDeadline)
      }
    }
  }

  /// Maps elements concurrently, as many at a time as the options allow, in order; ends with the first error.
  private func mapped<Element: Sendable, Value: Sendable>(
    _ elements: [Element],
    _ transform: @escaping @Sendable (Element) async throws(S3Error) -> Value?,
  ) async throws(S3Error) -> [Value?] {
    let limit = max(1, options.concurrency)
    let result = await withTaskGroup(of: (Int, Result<Value?, S3Error>).self) { group in
      var values = [Value?](repeating: nil, count: elements.count)
      var next = 0
      while next < min(elements.count, limit) {
        group.addTask { [next] in (next, await Self.result(elements[next], transform)) }
        next += 1
      }
      while let (index, result) = await group.next() {
        switch result {
        case .success(let value): values[index] = value
        case .failure(let error):
          group.cancelAll()
          return Result<[Value?], S3Error>.failure(error)
        }
        guard next < elements.count else { continue }
        group.addTask { [next] in (next, await Self.result(elements[next], transform)) }
        next += 1
      }
      return .success(values)
    }
    return try result.get()
  }

  private static func result<Element, Value>(
    _ element: Element,
    _ transform: (Element) async throws(S3Error) -> Value?,
  ) async -> Result<Value?, S3Error> {
    do throws(S3Error) {
      return .success(try await transform(element))
    } catch {
      return .failure(error)
    }
  }
}
