import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineCaching

/// Caches that answer on the caller's thread, and lists of caches.
struct WarmDataCachingTests {
  private func describe(_ entry: WarmEntry) -> CachedData?? {
    switch entry {
    case .entry(let entry): .some(.some(entry))
    case .missing: .some(nil)
    case .unknown: nil
    }
  }

  @Test
  func theDiskAnswersFromWhatIsStagedAndFromWhatTheSystemHasInMemory() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    await cache.store(entry(1, 50_000), for: key(1))
    #expect(describe(cache.warmEntry(for: key(1))) == .some(entry(1, 50_000)))
    await cache.flush()
    // The system may have put what was written out of its memory by now: the read brings it back.
    #expect(await cache.entry(for: key(1)) == entry(1, 50_000))
    #expect(describe(cache.warmEntry(for: key(1))) == .some(entry(1, 50_000)))
    #expect(describe(cache.warmEntry(for: key(2))) == .some(nil))
    let statistics = await cache.statistics()
    // What is missing is not counted: its caller asks again.
    #expect((statistics.hits, statistics.misses) == (3, 0))
    #expect(await cache.entry(for: key(2)) == nil)
    #expect(await cache.statistics().misses == 1)
    await cache.close()
  }

  @Test
  func aBodyThatIsAFileOfItsOwnIsNotReadWithoutWaiting() async throws {
    let folder = try Folder()
    let cache = try folder.cache(1 << 20)
    await cache.store(entry(1, 40_000), for: key(1))
    await cache.flush()
    #expect(describe(cache.warmEntry(for: key(1))) == nil)
    #expect(await cache.statistics().hits == 0)
    #expect(await cache.entry(for: key(1)) == entry(1, 40_000))
    await cache.close()
  }

  @Test
  func oneTierAnswersAsItsCacheDoes() async throws {
    let folder = try Folder()
    let disk = try folder.cache(1 << 20)
    let tiers = TieredDataCache([.local(disk)])
    await tiers.store(entry(1), for: key(1))
    #expect(describe(tiers.warmEntry(for: key(1))) == .some(entry(1)))
    #expect(describe(tiers.warmEntry(for: key(2))) == .some(nil))
    #expect(await disk.statistics().misses == 0)
    #expect(tiers.tierStatistics.map(\.hits) == [1])
    #expect(tiers.tierStatistics.map(\.misses) == [0])
    await disk.close()
  }

  @Test
  func whatTheFirstTierHasIsKnownAtOnceAndNothingElse() async {
    let memory = MemoryDataCache(sizeLimit: 1 << 20, memoryPressure: nil)
    let tiers = TieredDataCache([.local(memory), .local(CountingDataCache())])
    #expect(describe(tiers.warmEntry(for: key(1))) == nil)
    #expect(await memory.statistics().misses == 0)
    await memory.store(entry(1), for: key(1))
    #expect(describe(tiers.warmEntry(for: key(1))) == .some(entry(1)))
    #expect(describe(TieredDataCache([]).warmEntry(for: key(1))) == .some(nil))
    // A remote tier in front is asked first.
    #expect(describe(TieredDataCache([.remote(memory), .local(memory)]).warmEntry(for: key(1))) == nil)
  }

  @Test
  func memoryShowsHeadsWithoutBytesAndCountsNothing() async {
    let cache = MemoryDataCache(sizeLimit: 1 << 20, memoryPressure: nil)
    await cache.store(entry(1), for: key(1))
    let heads = await cache.heads(for: [key(2), key(1)])
    #expect(heads.map { $0?.byteCount } == [nil, 500])
    #expect(heads[1]?.data == nil)
    let statistics = await cache.statistics()
    #expect((statistics.hits, statistics.misses) == (0, 0))
    #expect(describe(cache.warmEntry(for: key(1))) == .some(entry(1)))
    #expect(describe(cache.warmEntry(for: key(2))) == .some(nil))
    #expect(await cache.statistics().hits == 1)
    #expect(await cache.statistics().misses == 0)
  }

  @Test
  func aCacheOfAnothersIsPeekedAt() async {
    let cache = PeekingCache(entry: entry(1))
    #expect(await cache.heads(for: [key(1), key(1)]) == [CachedDataHead(entry(1)), CachedDataHead(entry(1))])
  }
}

/// A cache that has no more than it must.
private struct PeekingCache: DataCaching {
  let entry: CachedData

  func entry(for key: CacheKey) async -> CachedData? { nil }
  func peek(_ key: CacheKey) async -> CachedData? { entry }
  func store(_ entry: CachedData, for key: CacheKey) async {}
  func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool { false }
  func remove(_ key: CacheKey) async {}
  func removeAll() async {}
  func contains(_ key: CacheKey) async -> Bool { true }
  func entries() async -> [DataCacheEntry] { [] }
  func statistics() async -> DataCacheStatistics { DataCacheStatistics() }
  func flush() async {}
}
