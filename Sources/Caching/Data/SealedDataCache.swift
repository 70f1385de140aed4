public import VitrineRuntime

/// A cache that keeps bytes in another one in a form that only the holder of a secret can read: encryption at rest.
///
/// ```swift
/// let disk = try DiskCache(directory: folder, sizeLimit: 300 << 20)
/// let cache = SealedDataCache(disk, secret: secret, seal: { bytes, authenticating in … }, open: { … })
/// ```
/// The cipher is yours: any that encrypts with a nonce of its own each time and authenticates further bytes along with it (AEAD),
/// such as AES-GCM or ChaCha20-Poly1305. `open` gets what `seal` returned and has to throw if a bit of it, or of the further
/// bytes, is another one. Those are made of the key, so that what is stored for one cannot be passed off as another's.
///
/// **What is hidden.** Bodies and metadata, with the expiry, are sealed. Keys, which are addresses mostly, are replaced by hashes
/// under the secret, and content ids are encrypted with it, so that whoever has the folder cannot even find out whether a certain
/// address or file is in it. **What is not:** how many entries there are and of what length and kind, when they were stored and
/// used, which of them have their first parts in common (the sizes of one image), and their expiry as it is written for the
/// cache below. An entry as a whole can be put back to an older state of itself.
///
/// **Errors.** What cannot be sealed is not stored. What does not open (another secret, damage, a swap) is dropped, and missed.
///
/// Entries, originals and finished images alike, work as in the cache below, at the price of the cipher: what is longer than
/// 16 KB is sealed and opened on threads of the cache's own. Parts of broken downloads are not kept, as a cipher of this kind
/// has no half of a message. For a tier in memory put a ``MemoryDataCache`` in front, in a ``DataCacheList``. One cache below
/// belongs to one secret: with another one put a folder of its own there, or remove everything.
public final class SealedDataCache: DataCaching {
  /// Seals or opens bytes, of which a second argument is authenticated, too, that is not in the result.
  ///
  /// Called on any threads, several at once.
  public typealias Cipher = @Sendable (_ bytes: Data, _ authenticating: Data) throws -> Data

  private static let inlineLimit = 16 << 10

  private let cache: any DataCaching
  private let names: SealedNames
  private let seal: Cipher
  private let open: Cipher
  private let queue: WorkQueue
  private let spoiled = Lock(0)

  /// Creates a cache in front of another one.
  ///
  /// - Parameters:
  ///   - cache: The cache of sealed entries; nothing else should use it.
  ///   - secret: The secret that hides keys and content ids; keep it where the cipher's key is, and as long.
  ///   - seal: The closure that encrypts and authenticates.
  ///   - open: The closure that verifies and decrypts.
  public init(_ cache: any DataCaching, secret: Secret, seal: @escaping Cipher, open: @escaping Cipher) {
    (self.cache, self.seal, self.open) = (cache, seal, open)
    names = SealedNames(secret)
    queue = WorkQueue(label: "seal", width: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  /// Returns the entry of a key, fresh or not, and counts it as used.
  public func entry(for key: CacheKey) async -> CachedData? {
    let name = names.name(of: key)
    guard let sealed = await cache.entry(for: name) else { return nil }
    let opened = await opened(sealed, key, name)
    guard opened.isSpoiled else { return opened.entry }
    spoiled.withLock { $0 += 1 }
    await cache.remove(name)
    return nil
  }

  /// Returns the entry of a key, fresh or not; does not count as use.
  public func peek(_ key: CacheKey) async -> CachedData? {
    let name = names.name(of: key)
    guard let sealed = await cache.peek(name) else { return nil }
    return await opened(sealed, key, name).entry
  }

  /// Returns the entry of each of these keys, without the bytes, which stay sealed; does not count as use.
  ///
  /// Opens the metadata. The number of bytes is that of the sealed body, which is longer than the open one. An entry that does
  /// not open is missed, and dropped when it is to be used.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    let keyNames = keys.map { names.name(of: $0) }
    let heads = await cache.heads(for: keyNames)
    return zip(heads, zip(keys, keyNames)).map { head, names in
      guard var head else { return nil }
      head.contentID = self.names.open(head.contentID, names.1)
      guard let (expires, metadata) = try? openMetadata(head.metadata, names.0, head.contentID) else { return nil }
      (head.expires, head.metadata, head.data) = (expires, metadata, nil)
      return head
    }
  }

  private func opened(
    _ sealed: CachedData,
    _ key: CacheKey,
    _ name: CacheKey,
  ) async -> (entry: CachedData?, isSpoiled: Bool) {
    let contentID = names.open(sealed.contentID, name)
    let body = await apply(open, sealed.data, bodyContext(key, contentID, sealed.kind))
    // Cancelled, or no thread to be had: what is kept is as good as before.
    guard let body else { return (nil, false) }
    do {
      let (expires, metadata) = try openMetadata(sealed.metadata, key, contentID)
      let entry = CachedData(
        data: try body.get(),
        kind: sealed.kind,
        metadata: metadata,
        contentID: contentID,
        expires: expires,
        stored: sealed.stored,
      )
      return (entry, false)
    } catch {
      return (nil, true)
    }
  }

  /// Keeps an entry, in place of an older one of the same key; what cannot be sealed is not kept, and the older one goes.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    let name = names.name(of: key)
    let body = await apply(seal, entry.data, bodyContext(key, entry.contentID, entry.kind))
    guard let data = try? body?.get(),
      let metadata = try? sealMetadata(entry.metadata, entry.expires, key, entry.contentID)
    else { return await cache.remove(name) }
    var sealed = entry
    (sealed.data, sealed.metadata, sealed.contentID) = (data, metadata, names.seal(entry.contentID, name))
    await cache.store(sealed, for: name)
  }

  /// Replaces expiry and metadata of a key's entry, if it still has that content; the body stays sealed as it is.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    let name = names.name(of: key)
    guard let sealed = try? sealMetadata(metadata, expires, key, contentID) else { return false }
    return await cache.renew(name, contentID: names.seal(contentID, name), expires: expires, metadata: sealed)
  }

  /// Removes the entry of a key.
  public func remove(_ key: CacheKey) async { await cache.remove(names.name(of: key)) }

  /// Removes everything.
  public func removeAll() async { await cache.removeAll() }

  /// Returns a Boolean value that indicates whether a key has an entry, without opening it; does not count as use.
  public func contains(_ key: CacheKey) async -> Bool { await cache.contains(names.name(of: key)) }

  /// Returns the identity of the bytes of a key's entry, without opening them; does not count as use.
  public func contentID(for key: CacheKey) async -> ContentID? {
    let name = names.name(of: key)
    return await cache.contentID(for: name).map { names.open($0, name) }
  }

  /// Removes the entries whose keys were made of another one by appending parts.
  public func removeAll(extending key: CacheKey) async { await cache.removeAll(extending: names.name(of: key)) }

  /// Removes the entries for which `isRemoved` says so, which sees them as ``entries()`` does.
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    await cache.removeAll(where: isRemoved)
  }

  /// Returns the entries, in no order, as the cache below knows them: with hashes for keys and the lengths of sealed bodies.
  public func entries() async -> [DataCacheEntry] { await cache.entries() }

  /// Returns the statistics of the cache below; entries that did not open count as damaged.
  public func statistics() async -> DataCacheStatistics {
    var statistics = await cache.statistics()
    statistics.damaged += spoiled.withLock { $0 }
    return statistics
  }

  /// Waits until everything is where it outlives the process.
  public func flush() async { await cache.flush() }

  // MARK: Sealing

  /// Works in place where that takes less than a change of threads; `nil` where it could not be begun.
  private func apply(_ cipher: @escaping Cipher, _ bytes: Data, _ context: Data) async -> Result<Data, any Error>? {
    guard bytes.count > Self.inlineLimit else { return Result { try cipher(bytes, context) } }
    return try? await queue.run { _ in Result { try cipher(bytes, context) } }
  }

  private func bodyContext(_ key: CacheKey, _ contentID: ContentID, _ kind: CachedData.Kind) -> Data {
    context("body \(kind.rawValue)", key, contentID)
  }

  /// What is authenticated with a part of an entry, so that it is good for nothing else.
  private func context(_ part: String, _ key: CacheKey, _ contentID: ContentID) -> Data {
    let parts = CacheKey {
      $0.append(part)
      $0.append(.integer(Int64(bitPattern: contentID.low)))
      $0.append(.integer(Int64(bitPattern: contentID.high)))
      $0.append(key)
    }
    return Data(parts.bytes)
  }

  private func sealMetadata(
    _ metadata: Data,
    _ expires: Date?,
    _ key: CacheKey,
    _ contentID: ContentID,
  ) throws -> Data {
    let word = (expires?.timeIntervalSinceReferenceDate ?? .infinity).bitPattern
    var bytes = Data((0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) })
    bytes.append(metadata)
    return try seal(bytes, context("metadata", key, contentID))
  }

  private func openMetadata(
    _ sealed: Data,
    _ key: CacheKey,
    _ contentID: ContentID,
  ) throws -> (expires: Date?, metadata: Data) {
    let bytes = try open(sealed, context("metadata", key, contentID))
    guard bytes.count >= 8 else { throw FileError(code: EBADMSG) }
    let word = bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let seconds = Double(bitPattern: word)
    return (seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil, Data(bytes.dropFirst(8)))
  }
}

extension SealedDataCache {
  /// 128 bits that nobody else knows.
  public struct Secret: Sendable {
    let value: SipHash.Secret

    /// Makes a secret of 16 bytes; `nil` if there are more or fewer.
    ///
    /// They are best derived from the cipher's key, or taken from a random number generator for cryptography.
    public init?(bytes: some Collection<UInt8>) {
      guard bytes.count == 16 else { return nil }
      func word(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
      value = SipHash.Secret(low: word(bytes.prefix(8)), high: word(bytes.dropFirst(8)))
    }
  }
}

/// What keys and content ids are called below.
private struct SealedNames: Sendable {
  private let secret: SipHash.Secret

  init(_ secret: SealedDataCache.Secret) { self.secret = secret.value }

  /// A key of hashes, one for each part, each of all parts so far: what extends a key extends its name.
  func name(of key: CacheKey) -> CacheKey {
    // Where it was not made of parts it is one, of a kind that no part has.
    let parts =
      key.parts.map { parts in parts.map { part in CacheKey { $0.append(part) }.bytes } } ?? [[.max] + key.bytes]
    return CacheKey { name in
      var last: [UInt8] = []
      for part in parts {
        last = bytes(hash([0] + last + part))
        name.append(.bytes(last))
      }
    }
  }

  func seal(_ contentID: ContentID, _ name: CacheKey) -> ContentID {
    var (left, right) = (contentID.low, contentID.high)
    for round in 0..<Self.rounds { (left, right) = (right, left ^ mix(right, round, name)) }
    return ContentID(low: left, high: right)
  }

  func open(_ contentID: ContentID, _ name: CacheKey) -> ContentID {
    var (left, right) = (contentID.low, contentID.high)
    for round in (0..<Self.rounds).reversed() { (left, right) = (right ^ mix(left, round, name), left) }
    return ContentID(low: left, high: right)
  }

  // A permutation of 128 bits out of a keyed function of 64, after Luby and Rackoff (1988): four rounds where an attacker may
  // try both ways.
  private static let rounds: UInt8 = 4

  private func mix(_ half: UInt64, _ round: UInt8, _ name: CacheKey) -> UInt64 {
    hash([1, round] + bytes(half) + name.bytes).low
  }

  private func hash(_ bytes: [UInt8]) -> KeyHash { CacheKey(bytes: bytes).hash(under: secret) }

  private func bytes(_ hash: KeyHash) -> [UInt8] { bytes(hash.low) + bytes(hash.high) }

  private func bytes(_ word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
}
