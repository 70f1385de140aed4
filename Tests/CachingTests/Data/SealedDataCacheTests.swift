import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

/// Encryption at rest.
@Suite(.patient)
struct SealedDataCacheTests {
  private static let address = "https://example.org/private/passport-of-ann.jpg"
  private let below = CountingDataCache()
  private let cipher = TestCipher()

  private func secret(_ number: UInt8 = 1) throws -> SealedDataCache.Secret {
    try #require(SealedDataCache.Secret(bytes: [UInt8](repeating: number, count: 16)))
  }

  private func start(_ cipher: TestCipher? = nil, over cache: (any DataCaching)? = nil) throws -> SealedDataCache {
    let cipher = cipher ?? self.cipher
    return SealedDataCache(cache ?? below, secret: try secret(), seal: cipher.seal, open: cipher.open)
  }

  private var source: CacheKey {
    CacheKey {
      $0.append(nil as String?)
      $0.append("url")
      $0.append(Self.address)
    }
  }

  private func image(_ width: Int) -> CacheKey {
    source.extended {
      $0.append("decode")
      $0.append(width)
    }
  }

  /// Bytes that are easily recognised.
  private func body(_ count: Int) -> Data { Data("the picture of ann's passport. ".utf8.cycled(count)) }

  private func entry(_ count: Int = 1000, kind: CachedData.Kind = .original, expires: Date? = nil) -> CachedData {
    CachedData(
      data: body(count),
      kind: kind,
      metadata: Data("ETag: \(Self.address)".utf8),
      contentID: ContentID(of: body(count)),
      expires: expires,
      stored: Date(timeIntervalSince1970: 1000),
    )
  }

  // MARK: Heads

  @Test
  func aHeadHasItsMetadataOpenedAndNoBytes() async throws {
    let cache = try start()
    let entry = entry(expires: Date(timeIntervalSince1970: 2000))
    await cache.store(entry, for: source)
    let heads = await cache.heads(for: [image(1), source])
    #expect(heads[0] == nil)
    let head = try #require(heads[1])
    #expect((head.metadata, head.expires, head.contentID) == (entry.metadata, entry.expires, entry.contentID))
    #expect((head.kind, head.stored, head.data) == (entry.kind, entry.stored, nil))
    #expect(head.byteCount > entry.data.count)
    #expect(below.counts.reads == 0)
    // What another secret has sealed is missed and stays.
    let other = try start(TestCipher(2))
    #expect(await other.heads(for: [source]) == [nil])
    #expect(await cache.heads(for: [source])[0] != nil)
  }

  // MARK: As a cache

  @Test(arguments: [0, 1, 1000, 16 << 10, 200_000])
  func whatIsStoredIsFound(count: Int) async throws {
    let cache = try start()
    for (kind, expires) in [(CachedData.Kind.original, nil), (.finished, Date(timeIntervalSince1970: 1_234_567.8))] {
      let entry = entry(count, kind: kind, expires: expires)
      await cache.store(entry, for: source)
      #expect(await cache.entry(for: source) == entry)
      let reads = below.counts.reads
      #expect(await cache.peek(source) == entry)
      #expect(below.counts.reads == reads)
      #expect(await cache.contains(source))
      #expect(await cache.contentID(for: source) == entry.contentID)
    }
    #expect(await cache.entry(for: image(1)) == nil)
    #expect(await cache.contentID(for: image(1)) == nil)
    await cache.remove(source)
    #expect(await !cache.contains(source))
  }

  @Test
  func aRenewalChangesExpiryAndMetadataOfThatContentOnly() async throws {
    let cache = try start()
    let entry = entry()
    await cache.store(entry, for: source)
    let later = Date(timeIntervalSince1970: 9999)
    let (other, news) = (ContentID(low: 1, high: 2), Data("news".utf8))
    #expect(await !cache.renew(source, contentID: other, expires: later, metadata: news))
    #expect(await !cache.renew(image(1), contentID: entry.contentID, expires: later, metadata: news))
    #expect(await cache.renew(source, contentID: entry.contentID, expires: later, metadata: news))
    let renewed = await cache.entry(for: source)
    #expect((renewed?.expires, renewed?.metadata, renewed?.data) == (later, news, entry.data))
  }

  @Test
  func theImagesOfASourceGoTogether() async throws {
    let cache = try start()
    for key in [source, image(1), image(2)] { await cache.store(entry(), for: key) }
    let other = source.extended { $0.append("other") }
    await cache.store(entry(), for: other)
    await cache.removeAll(extending: source.extended { $0.append("decode") })
    #expect(await !cache.contains(image(1)))
    #expect(await !cache.contains(image(2)))
    #expect(await cache.contains(source))
    #expect(await cache.contains(other))
    await cache.removeAll { _ in true }
    #expect(await cache.entries().isEmpty)
  }

  @Test(arguments: [[], [0], [255], [1, 200], [1, 1, 65], [0, 0, 0]] as [[UInt8]])
  func anyBytesAreAKey(bytes: [UInt8]) async throws {
    let cache = try start()
    await cache.store(entry(), for: CacheKey(bytes: bytes))
    await cache.store(entry(7), for: source)
    #expect(await cache.entry(for: CacheKey(bytes: bytes)) == entry())
    #expect(await cache.entry(for: source) == entry(7))
  }

  @Test
  func aTierInMemoryIsPutInFront() async throws {
    let cache = TieredDataCache([
      .local(MemoryDataCache(sizeLimit: 1 << 20, memoryPressure: nil)), .local(try start()),
    ])
    await cache.store(entry(), for: source)
    await cache.store(entry(), for: image(1))
    #expect(await cache.entry(for: source) == entry())
    #expect(below.counts.reads == 0)
    await cache.removeAll(extending: source)
    #expect(await !cache.contains(image(1)))
  }

  // MARK: What is hidden

  @Test
  func theFolderShowsNeitherAddressesNorBytes() async throws {
    let folder = try Folder()
    for isSealed in [false, true] {
      let disk = try folder.cache()
      let cache: any DataCaching = isSealed ? try start(over: disk) : disk
      await cache.removeAll()
      await cache.store(entry(50_000), for: source)
      await cache.store(entry(1_100_000), for: image(1))
      await cache.store(entry(kind: .finished), for: image(2))
      await cache.flush()
      await disk.close()
      let words = [entry(50_000), entry(1_100_000)].flatMap { [$0.contentID.low, $0.contentID.high] }
      let ids = words.map { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
      let telling = [Array(Self.address.utf8), Array("passport".utf8), Array("decode".utf8), Array(body(64))] + ids
      var seen: Set<[UInt8]> = []
      for data in Files.all(in: folder.cache).values { seen.formUnion(data.those(of: telling)) }
      // Without sealing all of it is to be seen, so the search would have found it.
      #expect(seen.count == (isSealed ? 0 : telling.count))
      // It is all there after a restart.
      let again = try folder.cache()
      let reopened: any DataCaching = isSealed ? try start(over: again) : again
      #expect(await reopened.entry(for: image(1)) == entry(1_100_000))
      #expect(await reopened.entry(for: source) == entry(50_000))
      await again.close()
    }
  }

  @Test
  func namesDependOnTheSecret() async throws {
    let other = CountingDataCache()
    await SealedDataCache(below, secret: try secret(1), seal: cipher.seal, open: cipher.open).store(
      entry(),
      for: source,
    )
    await SealedDataCache(other, secret: try secret(2), seal: cipher.seal, open: cipher.open).store(
      entry(),
      for: source,
    )
    let (one, two) = (await below.entries(), await other.entries())
    #expect(one.count == 1 && two.count == 1)
    #expect(one.map(\.key) != two.map(\.key))
    #expect(await below.contentID(for: one[0].key) != other.contentID(for: two[0].key))
    // The same content under another key is not seen to be that.
    await SealedDataCache(below, secret: try secret(1), seal: cipher.seal, open: cipher.open).store(
      entry(),
      for: image(1),
    )
    var ids: Set<ContentID?> = []
    for entry in await below.entries() { ids.insert(await below.contentID(for: entry.key)) }
    #expect(ids.count == 2)
  }

  @Test(arguments: [0, 15, 17, 32])
  func aSecretHasSixteenBytes(count: Int) {
    #expect(SealedDataCache.Secret(bytes: [UInt8](repeating: 1, count: count)) == nil)
  }

  // MARK: What is wrong

  private enum Damage: CaseIterable {
    case body, metadata, cut, otherKeysBody, otherKeysMetadata, otherKind, otherContentID, allOfAnotherKey
  }

  @Test(arguments: Damage.allCases)
  private func whatDoesNotOpenIsDroppedAndMissed(damage: Damage) async throws {
    let cache = try start()
    await cache.store(entry(), for: source)
    let name = try #require(await below.entries().first?.key)
    await cache.store(entry(), for: image(1))
    let otherName = try #require(await below.entries().map(\.key).first { $0 != name })
    var kept = try #require(await below.entry(for: name))
    let other = try #require(await below.entry(for: otherName))
    switch damage {
    case .body: kept.data[20] ^= 1
    case .metadata: kept.metadata[10] ^= 1
    case .cut: kept.data = Data(kept.data.dropLast())
    case .otherKeysBody: kept.data = other.data
    case .otherKeysMetadata: kept.metadata = other.metadata
    case .otherKind: kept.kind = .finished
    case .otherContentID: kept.contentID.low ^= 1
    case .allOfAnotherKey: kept = other
    }
    await below.store(kept, for: name)

    #expect(await cache.entry(for: source) == nil)
    #expect(await !below.contains(name))
    #expect(await cache.statistics().damaged == 1)
    // It works on.
    #expect(await cache.entry(for: image(1)) == entry())
    await cache.store(entry(5), for: source)
    #expect(await cache.entry(for: source) == entry(5))
  }

  @Test
  func underAnotherCipherKeyNothingOpens() async throws {
    await (try start()).store(entry(100_000), for: source)
    let other = try start(TestCipher(2))
    #expect(await other.entry(for: source) == nil)
    #expect(await !below.contains(source))
    #expect(await below.entries().isEmpty)
  }

  @Test(arguments: [100, 100_000])
  func whatCannotBeSealedIsNotStoredAndTheOlderOneGoes(count: Int) async throws {
    let fails = Lock(false)
    let cache = SealedDataCache(
      below,
      secret: try secret(),
      seal: { [cipher] bytes, context in
        if fails.withLock({ $0 }) { throw TestCipher.Refused() }
        return cipher.seal(bytes, context)
      },
      open: cipher.open,
    )
    await cache.store(entry(count), for: source)
    fails.withLock { $0 = true }
    #expect(await !cache.renew(source, contentID: entry(count).contentID, expires: nil, metadata: Data()))
    #expect(await cache.entry(for: source) == entry(count))
    await cache.store(entry(count + 1), for: source)
    #expect(await cache.entry(for: source) == nil)
    #expect(await below.entries().isEmpty)
  }

  @Test
  func aCancelledReadDropsNothing() async throws {
    let cache = try start()
    await cache.store(entry(100_000), for: source)
    let task = Task { [source] in
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await cache.entry(for: source)
    }
    _ = await task.value
    #expect(await cache.entry(for: source) == entry(100_000))
    #expect(await cache.statistics().damaged == 0)
  }

  @Test
  func manyAtOnceGetWhatIsTheirs() async throws {
    let cache = try start()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          let (key, entry) = (image(number), entry(number * 1000))
          await cache.store(entry, for: key)
          #expect(await cache.entry(for: key) == entry)
        }
      }
    }
    #expect(await cache.statistics().entries == 64)
  }
}

extension Data {
  /// Which of some byte strings are in it.
  fileprivate func those(of wanted: [[UInt8]]) -> Set<[UInt8]> {
    let all = [UInt8](self)
    var found: Set<[UInt8]> = []
    let table = (0...255).map { first in wanted.filter { $0.first == UInt8(first) } }
    for (index, byte) in all.enumerated() where !table[Int(byte)].isEmpty {
      for bytes in table[Int(byte)] where all[index...].starts(with: bytes) { found.insert(bytes) }
    }
    return found
  }
}

extension Collection {
  /// So many of its elements, over and over again.
  fileprivate func cycled(_ count: Int) -> [Element] {
    var all: [Element] = []
    while all.count < count { all += prefix(count - all.count) }
    return all
  }
}
