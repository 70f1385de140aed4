public import VitrineCaching
import VitrineHTTP
import VitrineRuntime

extension S3DataCache {
  /// Returns the heads of the entries for some keys, with one request for each and without bodies.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    await mapped(keys) { key in await self.head(of: self.object(of: key), key)?.head }
  }

  private func head(of object: ObjectURL, _ key: CacheKey?) async -> (head: CachedDataHead, key: CacheKey?)? {
    guard case .head(let head, let tag)? = await found(object, key) else { return nil }
    var (metadata, ownKey) = (head.metadata, CacheKey?.none)
    if head.hasMetadataInPreface || key == nil && head.keyCount > 0 {
      guard let preface = await preface(of: head, object, tag), let opened = head.open(preface: preface) else {
        return nil
      }
      (metadata, ownKey) = opened
    }
    let found = CachedDataHead(
      kind: head.kind,
      byteCount: head.byteCount,
      metadata: metadata,
      contentID: head.contentID,
      expires: head.expires,
      stored: head.stored,
    )
    return (found, ownKey)
  }

  private func preface(of head: EntryHead, _ object: ObjectURL, _ tag: String?) async -> Data? {
    let answer = await attempt { () throws(S3Error) in
      try await client.read(object, range: 0..<head.prefaceCount, within: options.readDeadline)
    }
    // The object may have been replaced since its head was read: then its checksum differs.
    return (answer ?? nil)?.body
  }

  /// Returns all entries without their bodies, in no particular order: a list of their names, and a request for each.
  ///
  /// At most as many as the options say. How often an entry was used is not known, so that `hits` is 1.
  public func entries() async -> [DataCacheEntry] {
    var names: [String] = []
    await attempt { () throws(S3Error) in
      try await client.list(
        bucket,
        prefix: prefix,
        limit: options.maxListedEntries,
        within: options.readDeadline,
      ) { names += $0.map(\.key) }
    }
    return await mapped(names) { name -> DataCacheEntry? in
      guard let object = ObjectURL(bucket: self.bucket, key: name) else { return nil }
      let key = ObjectName.key(of: self.name(of: object))
      guard let (head, ownKey) = await self.head(of: object, key), let key = key ?? ownKey,
        self.object(of: key) == object
      else { return nil }
      return DataCacheEntry(
        key: key,
        kind: head.kind,
        byteCount: head.byteCount,
        stored: head.stored,
        expires: head.expires,
        hits: 1,
      )
    }.compactMap(\.self)
  }

  /// Removes everything whose name begins with the prefix.
  public func removeAll() async { await removeAll(named: prefix) }

  /// Removes the entries whose keys extend a key by further parts, by the beginning of their names.
  ///
  /// A key of more than 600 bytes is cut in names; then entries whose keys begin alike are removed, too.
  public func removeAll(extending key: CacheKey) async {
    let own = object(of: key).key
    await removeAll(named: prefix + ObjectName.prefix(of: key)) { $0 != own }
  }

  /// Removes the entries for which `isRemoved` returns `true`; see ``entries()`` for what it costs.
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    let names = await entries().filter(isRemoved).map { object(of: $0.key).key }
    await attempt { () throws(S3Error) in
      try await client.remove(names, in: bucket, within: options.writeDeadline)
    }
  }

  private func removeAll(named prefix: String, where isRemoved: (String) -> Bool = { _ in true }) async {
    await attempt { () throws(S3Error) in
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

  /// Maps elements concurrently, as many at a time as the options allow, in order.
  private func mapped<Element: Sendable, Value: Sendable>(
    _ elements: [Element],
    _ transform: @escaping @Sendable (Element) async -> Value?,
  ) async -> [Value?] {
    var values = [Value?](repeating: nil, count: elements.count)
    await withTaskGroup(of: (Int, Value?).self) { group in
      for (index, element) in elements.enumerated() {
        if index >= max(1, options.concurrency), let (done, value) = await group.next() { values[done] = value }
        group.addTask { (index, await transform(element)) }
      }
      for await (done, value) in group { values[done] = value }
    }
    return values
  }
}
