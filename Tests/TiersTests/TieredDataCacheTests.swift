import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@Suite(.patient)
struct TieredDataCacheTests {
  private let clock = ManualClock()
  private let near = CountingDataCache()
  private let remote = FakeRemoteCache()
  private let limits: TieredDataCache.RemoteLimits = {
    var limits = TieredDataCache.RemoteLimits()
    limits.failureLimit = 3
    return limits
  }()
  private let cache: TieredDataCache

  init() {
    cache = TieredDataCache(
      [.local(near, name: "near"), .remote(remote, name: "far", limits: limits)],
      clock: clock,
    )
  }

  private var counts: TieredDataCache.TierStatistics { cache.tierStatistics[1] }

  /// Has the breaker open.
  private func breakIt() async {
    remote.condition = .failing
    for _ in 0..<limits.failureLimit { #expect(await cache.entry(for: key(99)) == nil) }
    #expect(counts.breaker == .open)
  }

  /// Lets the time pass at which the breaker lets one call through.
  private func waitForTrial() { clock.advance(by: limits.backOff) }

  // MARK: Look-ups

  @Test
  func aHitInARemoteTierIsPromoted() async {
    remote.put(entry(1), for: key(1))
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(await near.peek(key(1)) == entry(1))
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(remote.calls == [.read])
    let counts = cache.tierStatistics
    #expect(counts.map(\.name) == ["near", "far"])
    #expect(counts.map(\.hits) == [1, 1])
    #expect(counts.map(\.misses) == [1, 0])
    #expect(counts.map(\.promotions) == [1, 0])
  }

  @Test
  func aHitInASlowLocalTierIsPromotedToAllBeforeIt() async {
    let slow = CountingDataCache()
    let cache = TieredDataCache([.local(near), .remote(remote), .local(slow)], clock: clock)
    await slow.store(entry(1), for: key(1))
    #expect(await cache.entry(for: key(1)) == entry(1))
    await cache.flush()
    #expect(await near.peek(key(1)) == entry(1))
    #expect(remote.stored(key(1)) == entry(1))
    #expect(cache.tierStatistics.map(\.name) == ["local", "remote", "local-2"])
  }

  @Test
  func aPeekPromotesNothing() async {
    remote.put(entry(1), for: key(1))
    #expect(await cache.peek(key(1)) == entry(1))
    #expect(await !near.contains(key(1)))
  }

  @Test
  func headsAndIdentitiesAreReadWithoutTheBody() async {
    remote.put(entry(1), for: key(1))
    await near.store(entry(2), for: key(2))
    let heads = await cache.heads(for: [key(3), key(2), key(1)])
    #expect(heads.map { $0?.contentID } == [nil, entry(2).contentID, entry(1).contentID])
    #expect(await cache.contentID(for: key(1)) == entry(1).contentID)
    #expect(await cache.contains(key(1)))
    #expect(await !cache.contains(key(3)))
    #expect(Set(remote.calls) == [.heads])
    #expect(near.counts.reads == 0)
    #expect((counts.headHits, counts.headMisses) == (3, 2))
  }

  @Test
  func aRemoteTierIsAskedOnlyForWhatIsMissing() async {
    await near.store(entry(1), for: key(1))
    #expect(await cache.heads(for: [key(1)]).count == 1)
    #expect(remote.calls.isEmpty)
  }

  // MARK: Deadlines

  @Test
  func aLookUpThatHangsIsAMissAfterItsDeadline() async {
    remote.condition = .hanging
    async let found = cache.entry(for: key(1))
    await remote.wait(forBegun: .read)
    clock.advance(by: limits.bodyDeadline)
    #expect(await found == nil)
    #expect((counts.timeOuts, counts.errors, counts.misses) == (1, 0, 1))
    // What hung was cancelled.
    await remote.wait(forEnded: .read)
    #expect(counts.lastFailure == "no answer in time")
  }

  @Test
  func headsHaveAShorterDeadline() async {
    remote.condition = .hanging
    async let found = cache.heads(for: [key(1), key(2)])
    await remote.wait(forBegun: .heads)
    clock.advance(by: limits.headDeadline)
    #expect(await found == [nil, nil])
    #expect(counts.timeOuts == 1)
  }

  @Test
  func anAnswerThatComesTooLateIsNotServed() async {
    remote.put(entry(1), for: key(1))
    remote.condition = .stuck
    async let found = cache.entry(for: key(1))
    await remote.wait(forBegun: .read)
    clock.advance(by: limits.bodyDeadline)
    #expect(await found == nil)
    remote.condition = .working
    await remote.wait(forEnded: .read)
    #expect(await !near.contains(key(1)))
  }

  @Test
  func aCallerThatLeavesIsNeitherAFailureNorATimeOut() async {
    remote.condition = .stuck
    let task = Task { await cache.entry(for: key(1)) }
    await remote.wait(forBegun: .read)
    task.cancel()
    #expect(await task.value == nil)
    #expect((counts.timeOuts, counts.errors) == (0, 0))
    remote.condition = .working
  }

  // MARK: The circuit breaker

  @Test
  func aTierThatKeepsFailingIsLeftAloneUntilATrialSucceeds() async {
    await breakIt()
    #expect((counts.errors, counts.openings) == (3, 1))
    remote.condition = .working
    remote.put(entry(1), for: key(1))
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(remote.count(of: .read) == 3)
    #expect(counts.skipped == 1)
    waitForTrial()
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(counts.breaker == .closed)
  }

  @Test
  func whileATrialRunsNobodyElseWaits() async {
    await breakIt()
    remote.condition = .hanging
    waitForTrial()
    async let trial = cache.entry(for: key(1))
    await remote.wait(forBegun: .read, count: 4)
    #expect(counts.breaker == .halfOpen)
    #expect(await cache.entry(for: key(2)) == nil)
    clock.advance(by: limits.bodyDeadline)
    #expect(await trial == nil)
    #expect(counts.breaker == .open)
    #expect((counts.openings, counts.skipped) == (2, 1))
  }

  @Test
  func aTrialWhoseCallerLeavesMakesRoomForTheNext() async {
    await breakIt()
    remote.condition = .hanging
    waitForTrial()
    let trial = Task { await cache.entry(for: key(1)) }
    await remote.wait(forBegun: .read, count: 4)
    trial.cancel()
    _ = await trial.value
    remote.condition = .working
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(counts.breaker == .closed)
  }

  @Test
  func refusalsAreCountedAndDoNotOpenTheBreaker() async {
    remote.condition = .refusing
    for number in 0..<20 { await cache.store(entry(number), for: key(number)) }
    await cache.flush()
    #expect((counts.refusals, counts.errors, counts.droppedWrites, counts.writes) == (20, 0, 20, 0))
    #expect(counts.breaker == .closed)
    remote.condition = .working
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    #expect(remote.stored(key(1)) == entry(1))
  }

  @Test
  func whatWaitedIsWrittenByItselfOnceTheTierWorksAgain() async {
    await breakIt()
    await cache.store(entry(1), for: key(1))
    await cache.store(entry(2), for: key(2))
    #expect(counts.queuedWrites == 2)
    remote.condition = .working
    waitForTrial()
    await remote.wait(forEnded: .write, count: 2)
    #expect(remote.stored(key(1)) == entry(1))
    #expect(remote.stored(key(2)) == entry(2))
  }

  // MARK: Writes

  @Test
  func aRemoteWriteIsNotWaitedForAndReadFromTheQueue() async {
    remote.condition = .stuck
    await cache.store(entry(1), for: key(1))
    await near.removeAll()
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(await cache.heads(for: [key(1)]).first??.contentID == entry(1).contentID)
    #expect(remote.count(of: .read) == 0)
    #expect((counts.queuedWrites, counts.queuedBytes > 500) == (1, true))
    remote.condition = .working
    await cache.flush()
    #expect(remote.stored(key(1)) == entry(1))
    #expect((counts.writes, counts.queuedWrites, counts.queuedBytes) == (1, 0, 0))
  }

  @Test
  func writesThatPileUpAreDroppedAndCounted() async {
    var limits = limits
    limits.queuedEntries = 10
    let cache = TieredDataCache([.local(near), .remote(remote, limits: limits)], clock: clock)
    remote.condition = .stuck
    for number in 0..<25 { await cache.store(entry(number), for: key(number)) }
    #expect(cache.tierStatistics[1].queuedWrites == 10)
    #expect(cache.tierStatistics[1].droppedWrites == 15)
    remote.condition = .working
    await cache.flush()
    #expect(remote.keys == Set((0..<10).map { key($0) }))
    // The local tier has all.
    #expect(near.counts.writes == 25)
  }

  @Test
  func whatOnlyThisMachineCanUseDoesNotTravel() async {
    var pixels = entry(1)
    pixels.isMachineLocal = true
    await cache.store(pixels, for: key(1))
    await cache.flush()
    #expect(remote.calls.isEmpty)
    #expect(await near.contains(key(1)))
  }

  @Test
  func aRenewalReachesEveryTier() async {
    let expires = Date(timeIntervalSince1970: 5)
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    #expect(await cache.renew(key(1), contentID: entry(1).contentID, expires: expires, metadata: Data("new".utf8)))
    await cache.flush()
    #expect(remote.stored(key(1))?.expires == expires)
    #expect(await near.peek(key(1))?.metadata == Data("new".utf8))
    #expect(await !cache.renew(key(1), contentID: entry(2).contentID, expires: nil, metadata: Data()))
  }

  @Test
  func whereOnlyARemoteTierHasTheEntryItsAnswerIsWaitedFor() async {
    remote.put(entry(1), for: key(1))
    #expect(await cache.renew(key(1), contentID: entry(1).contentID, expires: nil, metadata: Data()))
    #expect(await !cache.renew(key(1), contentID: entry(2).contentID, expires: nil, metadata: Data()))
    await breakIt()
    #expect(await !cache.renew(key(1), contentID: entry(1).contentID, expires: nil, metadata: Data()))
  }

  // MARK: Removals

  @Test
  func aRemovalHasArrivedWhenItReturns() async {
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    await cache.remove(key(1))
    #expect(remote.stored(key(1)) == nil)
    #expect(await cache.entry(for: key(1)) == nil)
  }

  @Test
  func aRemovalWinsOverAWriteThatRuns() async {
    remote.condition = .stuck
    await cache.store(entry(1), for: key(1))
    await remote.wait(forBegun: .write)
    async let removed: Void = cache.remove(key(1))
    // The deadlines of the write and of the removal's caller.
    await clock.pendingCount(reaches: 2)
    #expect(await cache.entry(for: key(1)) == nil)
    remote.condition = .working
    await removed
    #expect(remote.stored(key(1)) == nil)
    #expect(remote.calls == [.write, .erase])
  }

  @Test
  func aLateWriteDoesNotOutliveARemoval() async {
    remote.condition = .stuck
    await cache.store(entry(1), for: key(1))
    await remote.wait(forBegun: .write)
    clock.advance(by: limits.writeDeadline)
    async let removed: Void = cache.remove(key(1))
    await clock.pendingCount(reaches: 1)
    // Late, but it is written all the same.
    remote.condition = .working
    await removed
    #expect(remote.stored(key(1)) == nil)
  }

  @Test
  func aRemovalThatCannotArriveIsRepeatedUntilItDoes() async {
    remote.put(entry(1), for: key(1))
    await breakIt()
    await cache.remove(key(1))
    #expect(counts.queuedRemovals == 1)
    remote.condition = .working
    waitForTrial()
    await remote.wait(forEnded: .erase)
    #expect(remote.stored(key(1)) == nil)
    #expect(await cache.entry(for: key(1)) == nil)
  }

  @Test
  func whatIsToBeRemovedIsNotServedMeanwhile() async {
    remote.put(entry(1), for: key(1))
    remote.condition = .failing
    await cache.remove(key(1))
    #expect(counts.breaker == .open || counts.queuedRemovals == 0 || remote.stored(key(1)) != nil)
    remote.condition = .working
    #expect(await cache.peek(key(1)) == nil)
    #expect(await cache.contentID(for: key(1)) == nil)
  }

  @Test
  func aRemovalWaitsNoLongerThanAWriteMay() async {
    remote.condition = .stuck
    async let removed: Void = cache.remove(key(1))
    await clock.pendingCount(reaches: 2)
    clock.advance(by: limits.writeDeadline)
    await removed
    remote.condition = .working
  }

  @Test
  func removingAVariantOrAllReachesEveryTier() async {
    let thumbnail = key(1).extended { $0.append(300) }
    for key in [key(1), thumbnail, key(2)] { await cache.store(entry(1), for: key) }
    await cache.flush()
    await cache.removeAll(extending: key(1))
    #expect(remote.keys == [key(1), key(2)])
    await cache.removeAll { $0.key == key(2) }
    #expect(remote.keys == [key(1)])
    #expect(await near.entries().map(\.key) == [key(1)])
    await cache.removeAll()
    #expect(remote.keys.isEmpty)
    #expect(await cache.entries().isEmpty)
  }

  @Test
  func anEntryThatWasRemovedWhileItWasReadIsNotPromoted() async {
    remote.put(entry(1), for: key(1))
    remote.condition = .stuck
    async let found = cache.entry(for: key(1))
    await remote.wait(forBegun: .read)
    async let removed: Void = cache.remove(key(1))
    await remote.wait(forBegun: .erase)
    remote.condition = .working
    _ = await (found, removed)
    #expect(await !near.contains(key(1)))
    #expect(remote.stored(key(1)) == nil)
  }

  // MARK: The whole

  @Test
  func contentsAreThoseOfAllTiers() async {
    await near.store(entry(1), for: key(1))
    remote.put(entry(1), for: key(1))
    remote.put(entry(2), for: key(2))
    #expect(Set(await cache.entries().map(\.key)) == [key(1), key(2)])
    #expect(await cache.statistics().entries == 3)
    await breakIt()
    #expect(await cache.entries().map(\.key) == [key(1)])
  }

  @Test
  func flushingDoesNotWaitForATierThatIsLeftAlone() async {
    await breakIt()
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    #expect(counts.queuedWrites == 1)
    #expect(near.counts.flushes == 1)
  }

  @Test
  func aFlushThatWaitsEndsWhenTheBreakerOpens() async {
    remote.condition = .stuck
    await cache.store(entry(1), for: key(1))
    await remote.wait(forBegun: .write)
    async let flushed: Void = cache.flush()
    remote.condition = .failing
    await breakIt()
    await flushed
  }
}

/// What has expired on one machine may be fresh on another.
struct TierFreshnessTests {
  private let clock = ManualClock()
  private let near = CountingDataCache()
  private let remote = FakeRemoteCache()
  private let cache: TieredDataCache
  private let old: CachedData

  init() async {
    cache = TieredDataCache([.local(near), .remote(remote)], clock: clock)
    old = entry(1, metadata: "old", expires: clock.now.addingTimeInterval(10))
    await cache.store(old, for: key(1))
    await cache.flush()
    clock.advance(by: .seconds(10))
  }

  @Test
  func whatIsFreshIsNotAskedForElsewhere() async {
    let fresh = entry(2, expires: clock.now.addingTimeInterval(1))
    await near.store(fresh, for: key(2))
    #expect(await cache.entry(for: key(2)) == fresh)
    _ = await cache.heads(for: [key(2)])
    #expect(remote.count(of: .heads) == 0)
  }

  @Test
  func anEntryThatAnotherMachineHasRenewedIsRenewedHereWithoutItsBody() async {
    var renewed = old
    (renewed.expires, renewed.metadata) = (clock.now.addingTimeInterval(60), Data("new".utf8))
    remote.put(renewed, for: key(1))
    #expect(await cache.heads(for: [key(1)]).first??.expires == renewed.expires)
    #expect(await cache.entry(for: key(1)) == renewed)
    #expect(await near.peek(key(1)) == renewed)
    #expect(remote.count(of: .read) == 0)
  }

  @Test
  func anEntryThatAnotherMachineHasReplacedIsPromoted() async {
    var new = entry(1, version: 1, expires: clock.now.addingTimeInterval(60))
    new.stored = old.stored.addingTimeInterval(1)
    remote.put(new, for: key(1))
    #expect(await cache.heads(for: [key(1)]).first??.contentID == new.contentID)
    #expect(await cache.entry(for: key(1)) == new)
    #expect(await near.peek(key(1)) == new)
  }

  /// What a server has replaced may have had the longer lifetime.
  @Test
  func whatWasStoredEarlierElsewhereIsNotFresherHoweverLongItLasts() async {
    var earlier = entry(1, version: 1, expires: clock.now.addingTimeInterval(600))
    earlier.stored = old.stored.addingTimeInterval(-1)
    remote.put(earlier, for: key(1))
    #expect(await cache.heads(for: [key(1)]).first??.contentID == old.contentID)
    #expect(await cache.entry(for: key(1)) == old)
    #expect(await near.peek(key(1)) == old)
  }

  @Test
  func anOlderOneElsewhereChangesNothing() async {
    remote.put(entry(1, version: 1, expires: clock.now.addingTimeInterval(-60)), for: key(1))
    #expect(await cache.entry(for: key(1)) == old)
    remote.put(nil, for: key(1))
    #expect(await cache.entry(for: key(1)) == old)
    remote.condition = .failing
    #expect(await cache.entry(for: key(1)) == old)
    #expect(await cache.heads(for: [key(1)]).first??.expires == old.expires)
  }
}
