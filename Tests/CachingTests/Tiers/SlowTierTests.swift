import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTesting

/// Tiers that answer, but late; and entries that only this machine may keep.
@Suite(.timeLimit(.minutes(1)))
struct SlowTierTests {
  /// A tier whose first look-up of an entry never ends, until it is cancelled.
  private final class Forgetful: FallibleDataCaching {
    let entry: CachedData
    private let count = Watched(0)

    init(_ entry: CachedData) { self.entry = entry }

    func wait(forReads count: Int) async { await self.count.wait { $0 >= count } }

    func read(_ key: CacheKey) async throws -> CachedData? {
      let isFirst = count.change { count in
        count += 1
        return count == 1
      }
      guard isFirst else { return entry }
      let never = Deferred<Void>()
      await withTaskCancellationHandler {
        await never.value()
      } onCancel: {
        never.resolve(())
      }
      throw CancellationError()
    }

    func readHeads(of keys: [CacheKey]) async throws -> [CachedDataHead?] { keys.map { _ in CachedDataHead(entry) } }
    func write(_ entry: CachedData, for key: CacheKey) async throws {}
    func rewrite(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async throws -> Bool { false }
    func erase(_ key: CacheKey) async throws {}
    func erase(extending key: CacheKey) async throws {}
    func eraseAll() async throws {}
    func entries() async -> [DataCacheEntry] { [] }
    func statistics() async -> DataCacheStatistics { DataCacheStatistics() }
    func flush() async {}
  }

  private let clock = ManualClock()
  private let near = CountingDataCache()
  private let remote = FakeRemoteCache()

  private func makeCache(
    _ remote: any DataCaching,
    _ change: (inout TieredDataCache.RemoteLimits) -> Void = { _ in },
  ) -> TieredDataCache {
    var limits = TieredDataCache.RemoteLimits()
    change(&limits)
    return TieredDataCache([.local(near), .remote(remote, limits: limits)], clock: clock)
  }

  @Test
  func aLookUpThatIsSlowIsMadeASecondTime() async {
    let tier = Forgetful(entry(1))
    let cache = makeCache(tier)
    async let found = cache.entry(for: key(1))
    await tier.wait(forReads: 1)
    clock.advance(by: TieredDataCache.RemoteLimits().slowLimit)
    #expect(await found == entry(1))
    let counts = cache.tierStatistics[1]
    #expect((counts.hedges, counts.timeOuts, counts.errors) == (1, 0, 0))
  }

  @Test
  func aTierThatOnlyEverAnswersSlowlyIsLeftAlone() async {
    let cache = makeCache(remote) { $0.failureLimit = 1 }
    for number in 1...4 {
      remote.condition = .hanging
      await cache.store(entry(number), for: key(number))
      await remote.wait(forBegun: .write, count: number)
      clock.advance(by: .milliseconds(9))
      remote.condition = .working
      await cache.flush()
    }
    #expect(remote.keys.count == 4)
    let counts = cache.tierStatistics[1]
    #expect((counts.slowCalls, counts.timeOuts, counts.breaker) == (4, 0, .open))
  }

  @Test
  func aCallMayWaitForOthersThatWereUnderWay() async {
    let cache = makeCache(remote)
    remote.condition = .hanging
    for number in 1...3 {
      await cache.store(entry(number), for: key(number))
      await remote.wait(forBegun: .write, count: number)
    }
    // The third had two before it, and so a millisecond more.
    clock.advance(by: .milliseconds(9))
    remote.condition = .working
    await cache.flush()
    #expect(cache.tierStatistics[1].slowCalls == 2)
  }

  @Test
  func aLargeBodyMayTakeLonger() async {
    let cache = makeCache(remote) { $0.failureLimit = 1 }
    var large = entry(1)
    large.data = Data(count: 1 << 20)
    remote.condition = .hanging
    await cache.store(large, for: key(1))
    await remote.wait(forBegun: .write)
    // A megabyte has 16 ms more.
    clock.advance(by: .milliseconds(24))
    remote.condition = .working
    await cache.flush()
    #expect(cache.tierStatistics[1].slowCalls == 0)
  }

  @Test
  func whatIsPrivateStaysHereAndRemovesWhatOthersHad() async {
    let cache = makeCache(remote)
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    #expect(remote.stored(key(1)) == entry(1))
    var new = entry(1, version: 1)
    new.isPrivate = true
    await cache.store(new, for: key(1))
    await cache.flush()
    #expect(remote.stored(key(1)) == nil)
    #expect(await cache.entry(for: key(1))?.contentID == new.contentID)
  }

  @Test
  func whatBecomesPrivateIsRenewedHereOnly() async {
    let cache = makeCache(remote)
    let old = entry(1)
    await cache.store(old, for: key(1))
    await cache.flush()
    let isRenewed = await cache.renew(
      key(1),
      contentID: old.contentID,
      expires: clock.now,
      metadata: Data("new".utf8),
      isPrivate: true,
    )
    await cache.flush()
    #expect(isRenewed)
    #expect(await near.peek(key(1))?.metadata == Data("new".utf8))
    #expect(remote.stored(key(1)) == nil)
  }
}
