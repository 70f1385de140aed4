public import VitrineRuntime

/// A cache that encrypts its entries at rest in another cache.
///
/// ```swift
/// let disk = try DiskCache(directory: folder, sizeLimit: 300 << 20)
/// let cache = SealedDataCache(disk, secret: secret, seal: { bytes, authenticating in … }, open: { … })
/// ```
/// The cipher is yours. It must be authenticated encryption with associated data (AEAD), such as AES-GCM or
/// ChaCha20-Poly1305: it encrypts with a new nonce each time and authenticates further bytes. `open` receives the
/// result of `seal` and must throw if a bit of it, or of the authenticated bytes, has changed. The authenticated bytes
/// are derived from the key, so no entry can be passed off as another.
///
/// **Hidden.** Bodies, metadata and expiry are sealed. Keys, most of which are URLs, are replaced by hashes under the
/// secret. Content ids are encrypted under it. An attacker with the folder cannot even test whether a given URL or file
/// is in it.
///
/// **Visible.** The number, length and kind of the entries, the times of their storing and last use, common prefixes of
/// their keys (the sizes of one image), and the expiry as stored in the underlying cache. An attacker with write access
/// to the folder can restore an older version of a whole entry.
///
/// **Errors.** An entry that cannot be sealed is not stored. An entry that does not open (another secret, damage, a
/// swap) is dropped and counts as a miss.
///
/// Originals and finished images work as in the underlying cache, at the cost of the cipher. Bodies of more than 16 KB
/// are sealed and opened on the cache's own threads. Partial bodies of broken downloads are not kept, since an AEAD
/// cannot authenticate half a message. For a tier in memory, put a ``MemoryDataCache`` in front of this cache in a
/// `TieredDataCache`. An underlying cache belongs to one secret: for another secret use another folder, or remove
/// everything first.
public final class SealedDataCache: DataCaching {
  /// Seals or opens `bytes` and authenticates `authenticating`, which is not part of the result.
  ///
  /// Called on any thread, and by several threads at once.
  public typealias Cipher = @Sendable (_ bytes: Data, _ authenticating: Data) throws -> Data

  private static let inlineLimit = 16 << 10

  private let cache: any DataCaching
  private let secret: Secret
  private let seal: Cipher
  private let open: Cipher
  private let queue: WorkQueue
  private let spoiled = Lock(0)

  /// Creates a cache in front of another one.
  ///
  /// - Parameters:
  ///   - cache: The cache that stores the sealed entries. It must have no other users.
  ///   - secret: The secret that hides keys and content ids. Store it with the cipher's key and for as long.
  ///   - seal: The closure that encrypts and authenticates.
  ///   - open: The closure that verifies and decrypts.
  public init(_ cache: any DataCaching, secret: Secret, seal: @escaping Cipher, open: @escaping Cipher) {
    (self.cache, self.secret, self.seal, self.open) = (cache, secret, seal, open)
    queue = WorkQueue(label: "seal", width: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  /// Returns the entry for a key, fresh or expired, and counts it as used.
  public func entry(for key: CacheKey) async -> CachedData? {
    let name = secret.name(of: key)
    guard let sealed = await cache.entry(for: name) else { return nil }
    let opened = await opened(sealed, key, name)
    guard opened.isSpoiled else { return opened.entry }
    spoiled.withLock { $0 += 1 }
    await cache.remove(name)
    return nil
  }

  /// Returns the entry for a key, fresh or expired, without counting it as used.
  public func peek(_ key: CacheKey) async -> CachedData? {
    let name = secret.name(of: key)
    guard let sealed = await cache.peek(name) else { return nil }
    return await opened(sealed, key, name).entry
  }

  /// Returns the heads of the entries for some keys, without their bodies.
  ///
  /// Opens the metadata only and does not count as use. The length is the sealed body's, which is longer than the plain
  /// one's. An entry that does not open is a miss, and is dropped at the next use.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    let keyNames = keys.map { secret.name(of: $0) }
    let heads = await cache.heads(for: keyNames)
    return zip(heads, zip(keys, keyNames)).map { head, names in
      guard var head else { return nil }
      head.contentID = secret.open(head.contentID, names.1)
      let context = context("metadata", names.0, head.contentID)
      guard let (expires, metadata) = try? openMetadata(head.metadata, in: context) else { return nil }
      (head.expires, head.metadata, head.data) = (expires, metadata, nil)
      return head
    }
  }

  private func opened(
    _ sealed: CachedData,
    _ key: CacheKey,
    _ name: CacheKey,
  ) async -> (entry: CachedData?, isSpoiled: Bool) {
    let contentID = secret.open(sealed.contentID, name)
    let body = await apply(open, sealed.data, context("body \(sealed.kind.rawValue)", key, contentID))
    // The task was cancelled, or no thread was available. The stored entry is still good.
    guard let body else { return (nil, false) }
    do {
      let (expires, metadata) = try openMetadata(sealed.metadata, in: context("metadata", key, contentID))
      var entry = sealed
      (entry.data, entry.metadata, entry.contentID, entry.expires) = (try body.get(), metadata, contentID, expires)
      return (entry, false)
    } catch {
      return (nil, true)
    }
  }

  /// Stores an entry and replaces an older one of the same key.
  ///
  /// The older one is removed even if the new one cannot be sealed.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    let name = secret.name(of: key)
    let body = await apply(seal, entry.data, context("body \(entry.kind.rawValue)", key, entry.contentID))
    guard let data = try? body?.get(),
      let metadata = try? sealMetadata(entry.metadata, entry.expires, in: context("metadata", key, entry.contentID))
    else { return await cache.remove(name) }
    var sealed = entry
    (sealed.data, sealed.metadata, sealed.contentID) = (data, metadata, secret.seal(entry.contentID, name))
    await cache.store(sealed, for: name)
  }

  /// Replaces the expiry and metadata of an entry, if it still has the given content.
  ///
  /// The sealed body stays as it is.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    let name = secret.name(of: key)
    guard let sealed = try? sealMetadata(metadata, expires, in: context("metadata", key, contentID)) else {
      return false
    }
    return await cache.renew(name, contentID: secret.seal(contentID, name), expires: expires, metadata: sealed)
  }

  /// Removes the entry for a key.
  public func remove(_ key: CacheKey) async { await cache.remove(secret.name(of: key)) }

  /// Removes everything.
  public func removeAll() async { await cache.removeAll() }

  /// Returns a Boolean value that indicates whether a key has an entry, without opening it or counting it as used.
  public func contains(_ key: CacheKey) async -> Bool { await cache.contains(secret.name(of: key)) }

  /// Removes the entries whose keys extend a key by further parts.
  public func removeAll(extending key: CacheKey) async { await cache.removeAll(extending: secret.name(of: key)) }

  /// Removes the entries for which `isRemoved` returns `true`, given as ``entries()`` returns them.
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    await cache.removeAll(where: isRemoved)
  }

  /// Returns all entries as the underlying cache knows them: with hashed keys and the lengths of sealed bodies.
  public func entries() async -> [DataCacheEntry] { await cache.entries() }

  /// Returns the statistics of the underlying cache, where entries that did not open count as damaged.
  public func statistics() async -> DataCacheStatistics {
    var statistics = await cache.statistics()
    statistics.damaged += spoiled.withLock { $0 }
    return statistics
  }

  /// Waits until everything is stored where it outlives the process.
  public func flush() async { await cache.flush() }

  // MARK: Sealing

  /// Runs the cipher, inline if that is cheaper than a change of threads; `nil` if it could not be started.
  private func apply(_ cipher: @escaping Cipher, _ bytes: Data, _ context: Data) async -> Result<Data, any Error>? {
    guard bytes.count > Self.inlineLimit else { return Result { try cipher(bytes, context) } }
    return try? await queue.run { _ in Result { try cipher(bytes, context) } }
  }

  /// Returns the bytes to authenticate with one part of an entry, so that the part is valid in no other place.
  private func context(_ part: String, _ key: CacheKey, _ contentID: ContentID) -> Data {
    let parts = CacheKey {
      $0.append(part)
      $0.append(.integer(Int64(bitPattern: contentID.low)))
      $0.append(.integer(Int64(bitPattern: contentID.high)))
      $0.append(key)
    }
    return Data(parts.bytes)
  }

  private func sealMetadata(_ metadata: Data, _ expires: Date?, in context: Data) throws -> Data {
    var head = HeadWriter()
    head.append(seconds: expires.expirySeconds)
    head.append(metadata)
    return try seal(head.data, context)
  }

  private func openMetadata(_ sealed: Data, in context: Data) throws -> (expires: Date?, metadata: Data) {
    var head = HeadReader([UInt8](try open(sealed, context)))
    guard let seconds = head.seconds(), let metadata = head.data(head.remaining) else { throw FileError(code: EBADMSG) }
    return (seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil, metadata)
  }
}

extension SealedDataCache {
  /// A secret of 128 bits.
  public struct Secret: Sendable {
    let value: SipHash.Secret

    /// Creates a secret from 16 bytes, or returns `nil` for any other number.
    ///
    /// Derive them from the cipher's key, or take them from a cryptographic random number generator.
    public init?(bytes: some Collection<UInt8>) {
      guard bytes.count == 16 else { return nil }
      func word(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
      value = SipHash.Secret(low: word(bytes.prefix(8)), high: word(bytes.dropFirst(8)))
    }
  }
}

/// The hidden names of keys and content ids in the underlying cache.
extension SealedDataCache.Secret {
  /// Returns a key of hashes, one for each part over all parts so far.
  ///
  /// The name of an extended key extends the key's name.
  fileprivate func name(of key: CacheKey) -> CacheKey {
    // A key that was not made of parts counts as a single part, with a tag that no part has.
    let parts =
      key.parts.map { parts in parts.map { part in CacheKey { $0.append(part) }.bytes } } ?? [[.max] + key.bytes]
    return CacheKey { name in
      var last: [UInt8] = []
      for part in parts {
        let hash = hash([0] + last + part)
        last = bytes(hash.low, hash.high)
        name.append(.bytes(last))
      }
    }
  }

  fileprivate func seal(_ contentID: ContentID, _ name: CacheKey) -> ContentID {
    var (left, right) = (contentID.low, contentID.high)
    for round in 0..<Self.rounds { (left, right) = (right, left ^ mix(right, round, name)) }
    return ContentID(low: left, high: right)
  }

  fileprivate func open(_ contentID: ContentID, _ name: CacheKey) -> ContentID {
    var (left, right) = (contentID.low, contentID.high)
    for round in (0..<Self.rounds).reversed() { (left, right) = (right ^ mix(left, round, name), left) }
    return ContentID(low: left, high: right)
  }

  // The permutation of 128 bits consists of rounds of a keyed function of 64 bits, after Luby and Rackoff (1988). Four
  // rounds resist an attacker with queries in both directions.
  private static let rounds: UInt8 = 4

  private func mix(_ half: UInt64, _ round: UInt8, _ name: CacheKey) -> UInt64 {
    hash([1, round] + bytes(half) + name.bytes).low
  }

  private func hash(_ bytes: [UInt8]) -> KeyHash { CacheKey(bytes: bytes).hash(under: value) }

  private func bytes(_ words: UInt64...) -> [UInt8] {
    var writer = HeadWriter(capacity: 16)
    for word in words { writer.append(word) }
    return writer.bytes
  }
}
