import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineTiers

/// Tiers that answer, but late; and entries that only this machine may keep.
@Suite(.patient)
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

  /// The clock of a busy machine, whose alarms ring after twice their time.
  private struct LateClock: TimeSource {
    let clock: ManualClock

    var now: Date { clock.now }
    var uptime: Duration { clock.uptime }

    func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
      clock.schedule(after: delay * 2, action)
    }
  }

  private let clock = ManualClock()
  private let near = CountingDataCache()
  private let remote = FakeRemoteCache()

  private func makeCache(
    _ remote: any DataCaching,
    by clock: (any TimeSource)? = nil,
    _ change: (inout TieredDataCache.RemoteLimits) -> Void = { _ in },
  ) -> TieredDataCache {
    var limits = TieredDataCache.RemoteLimits()
    change(&limits)
    return TieredDataCache([.local(near), .remote(remote, limits: limits)], clock: clock ?? self.clock)
  }

  /// Lets quick calls tell that the tier is a quick one.
  private func learn(_ cache: TieredDataCache, _ count: Int = Pace.least) async {
    for _ in 0..<count {
      #expect(await cache.entry(for: key(99)) == nil)
      #expect(await cache.heads(for: [key(99)]) == [nil])
      await cache.remove(key(99))
    }
  }

  /// Has the tier answer a look-up of heads after some time.
  private func heads(_ cache: TieredDataCache, after time: Duration) async -> [CachedDataHead?] {
    remote.condition = .hanging
    let count = remote.count(of: .heads)
    async let found = cache.heads(for: [key(1)])
    await remote.wait(forBegun: .heads, count: count + 1)
    clock.advance(by: time)
    remote.condition = .working
    return await found
  }

  @Test
  func aLookUpThatIsSlowIsMadeASecondTime() async {
    let tier = Forgetful(entry(1))
    let cache = makeCache(tier)
    async let found = cache.entry(for: key(1))
    await tier.wait(forReads: 1)
    clock.advance(by: TieredDataCache.RemoteLimits().bodyPatience.upperBound / 2)
    #expect(await found == entry(1))
    let counts = cache.tierStatistics[1]
    #expect((counts.hedges, counts.timeOuts, counts.errors, counts.slowCalls) == (1, 0, 0, 0))
  }

  // MARK: Patience

  @Test
  func aTierThatAlwaysTakesAWhileStaysUsed() async {
    let cache = makeCache(remote) {
      ($0.headPatience, $0.headDeadline) = (.milliseconds(10) ... .milliseconds(200), .milliseconds(500))
      $0.hedgeShare = 0
    }
    remote.put(entry(1), for: key(1))
    for _ in 0..<50 { #expect(await heads(cache, after: .milliseconds(40)).first??.contentID == entry(1).contentID) }
    #expect(await heads(cache, after: .milliseconds(159)).first??.contentID == entry(1).contentID)
    #expect(cache.tierStatistics[1].slowCalls == 0)
    #expect(await heads(cache, after: .milliseconds(160)) == [nil])
    let counts = cache.tierStatistics[1]
    #expect((counts.slowCalls, counts.timeOuts, counts.skipped, counts.breaker) == (1, 0, 0, .closed))
  }

  @Test
  func aTierThatBecomesSlowIsNotWaitedForAndLeftAlone() async {
    let cache = makeCache(remote) {
      ($0.headPatience, $0.headDeadline) = (.milliseconds(10) ... .milliseconds(200), .milliseconds(500))
      $0.hedgeShare = 0
    }
    await learn(cache, 16)
    // Two of 10 ms are as bad as five failures.
    for number in 1...2 {
      #expect(cache.tierStatistics[1].breaker == .closed)
      // Its answers come, when nobody waits any more.
      #expect(await heads(cache, after: .milliseconds(10)) == [nil])
      #expect(cache.tierStatistics[1].slowCalls == number)
    }
    #expect(cache.tierStatistics[1].breaker == .open)
    clock.advance(by: .seconds(1))
    #expect(await heads(cache, after: .milliseconds(10)) == [nil])
    #expect((cache.tierStatistics[1].openings, cache.tierStatistics[1].breaker) == (2, .open))
    clock.advance(by: .seconds(2))
    #expect(await heads(cache, after: .milliseconds(9)) == [nil])
    #expect(cache.tierStatistics[1].breaker == .closed)
  }

  @Test
  func aCallThatNobodyWaitsForGoesOnUntilItsDeadline() async {
    let cache = makeCache(remote) { $0.hedgeShare = 0 }
    await learn(cache)
    remote.condition = .hanging
    async let found = cache.heads(for: [key(1)])
    await remote.wait(forBegun: .heads, count: Pace.least + 1)
    clock.advance(by: .milliseconds(8))
    #expect(await found == [nil])
    #expect((cache.tierStatistics[1].slowCalls, cache.tierStatistics[1].timeOuts) == (1, 0))
    clock.advance(by: .milliseconds(17))
    await remote.wait(forEnded: .heads, count: Pace.least + 1)
    #expect((cache.tierStatistics[1].slowCalls, cache.tierStatistics[1].timeOuts) == (1, 1))
  }

  /// The first answers come before the alarm, the others after it.
  @Test(arguments: [12, 16])
  func aBusyMachineIsNotTakenForASlowTier(time: Int) async {
    let cache = makeCache(remote, by: LateClock(clock: clock))
    await learn(cache)
    // After these the tier's own pace is that slow.
    for _ in 0..<Pace.least { _ = await heads(cache, after: .milliseconds(time)) }
    #expect((cache.tierStatistics[1].slowCalls, cache.tierStatistics[1].openings) == (Pace.least, 0))
  }

  @Test(arguments: [12, 16])
  func aSlowTierIsLeftAlone(time: Int) async {
    let cache = makeCache(remote)
    await learn(cache)
    for _ in 0..<3 { _ = await heads(cache, after: .milliseconds(time)) }
    #expect((cache.tierStatistics[1].slowCalls, cache.tierStatistics[1].openings) == (3, 1))
  }

  /// Reads an entry that is stuck in the remote tier, as long as a caller waits for it.
  private func leaveRead(of cache: TieredDataCache) async {
    await learn(cache)
    remote.put(entry(1), for: key(1))
    remote.condition = .stuck
    async let found = cache.entry(for: key(1))
    await remote.wait(forBegun: .read, count: Pace.least + 1)
    clock.advance(by: .milliseconds(25))
    #expect(await found == nil)
  }

  @Test
  func anEntryThatComesLateIsThereForTheNextCaller() async {
    let cache = makeCache(remote)
    await leaveRead(of: cache)
    #expect(await !near.contains(key(1)))
    remote.condition = .working
    await near.wait(forWrites: 1)
    #expect(await near.peek(key(1)) == entry(1))
    #expect(cache.tierStatistics[0].promotions == 1)
  }

  @Test
  func anEntryThatComesLateReplacesNothingNewer() async {
    let cache = makeCache(remote)
    await leaveRead(of: cache)
    let new = entry(1, version: 1)
    await cache.store(new, for: key(1))
    remote.condition = .working
    await remote.wait(forEnded: .read, count: Pace.least + 1)
    await cache.flush()
    #expect(await near.peek(key(1)) == new)
    #expect(remote.stored(key(1)) == new)
  }

  // MARK: Writes

  @Test
  func aTierThatOnlyEverWritesSlowlyIsLeftAlone() async {
    let cache = makeCache(remote) { $0.failureLimit = 1 }
    for number in 1...4 {
      remote.condition = .hanging
      await cache.store(entry(number), for: key(number))
      await remote.wait(forBegun: .write, count: number)
      clock.advance(by: .milliseconds(101))
      remote.condition = .working
      await cache.flush()
    }
    #expect(remote.keys.count == 4)
    let counts = cache.tierStatistics[1]
    #expect((counts.slowCalls, counts.timeOuts, counts.breaker) == (4, 0, .open))
  }

  @Test
  func aTrialThatHangsMakesRoomForTheNextLongBeforeItsDeadline() async {
    let cache = makeCache(remote) { $0.writeDeadline = .seconds(30) }
    remote.condition = .failing
    for _ in 0..<5 { #expect(await cache.entry(for: key(9)) == nil) }
    await cache.store(entry(1), for: key(1))
    remote.condition = .stuck
    clock.advance(by: .seconds(1))
    await remote.wait(forBegun: .write)
    #expect(cache.tierStatistics[1].breaker == .halfOpen)
    await clock.pendingCount(reaches: 2)
    clock.advance(by: .milliseconds(100))
    #expect((cache.tierStatistics[1].breaker, cache.tierStatistics[1].openings) == (.open, 2))
    remote.condition = .working
    await remote.wait(forEnded: .write)
    clock.advance(by: .seconds(2))
    #expect(await cache.entry(for: key(9)) == nil)
    #expect(cache.tierStatistics[1].breaker == .closed)
  }

  @Test
  func aCallMayWaitForOthersThatWereUnderWay() async {
    let cache = makeCache(remote)
    await learn(cache)
    remote.condition = .hanging
    for number in 1...3 {
      await cache.store(entry(number), for: key(number))
      await remote.wait(forBegun: .write, count: number)
    }
    // The third had two before it, and so a millisecond more.
    clock.advance(by: .milliseconds(26))
    remote.condition = .working
    await cache.flush()
    #expect(cache.tierStatistics[1].slowCalls == 2)
  }

  @Test(arguments: [(41, 0), (42, 1)])
  func aLargeBodyMayTakeLonger(milliseconds: Int, slowCalls: Int) async {
    let cache = makeCache(remote)
    await learn(cache)
    var large = entry(1)
    large.data = Data(count: 1 << 20)
    remote.condition = .hanging
    await cache.store(large, for: key(1))
    await remote.wait(forBegun: .write)
    // A megabyte has 16 ms more.
    clock.advance(by: .milliseconds(milliseconds))
    remote.condition = .working
    await cache.flush()
    #expect(cache.tierStatistics[1].slowCalls == slowCalls)
  }

  // MARK: What stays here

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
