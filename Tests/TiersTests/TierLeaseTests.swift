import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineTiers

/// Leases of a remote tier.
@Suite(.patient)
struct TierLeaseTests {
  private let clock = ManualClock()
  private let remote = FakeRemoteCache()
  private let cache: TieredDataCache

  init() {
    var limits = TieredDataCache.RemoteLimits()
    limits.failureLimit = 2
    cache = TieredDataCache([.local(CountingDataCache()), .remote(remote, limits: limits)], clock: clock)
  }

  @Test
  func oneOfTwoHasTheLeaseUntilItEnds() async throws {
    let (one, two) = (KeyLease(key(1)), KeyLease(key(1)))
    #expect(try await cache.acquire(one, for: .seconds(1)) == .acquired)
    #expect(try await cache.acquire(one, for: .seconds(1)) == .acquired)
    #expect(try await cache.acquire(two, for: .seconds(1)) == .held)
    #expect(try await cache.extend(one, for: .seconds(1)))
    #expect(try await !cache.extend(two, for: .seconds(1)))
    try await cache.release(two, inVainFor: nil)
    #expect(remote.leasedKeys == [key(1)])
    try await cache.release(one, inVainFor: nil)
    #expect(try await cache.acquire(two, for: .seconds(1)) == .acquired)
    try await cache.release(two, inVainFor: .seconds(1))
    #expect(try await cache.acquire(one, for: .seconds(1)) == .vain)
  }

  @Test
  func withoutATierThatKeepsLeasesEverybodyWorksAlone() async throws {
    let cache = TieredDataCache([.local(CountingDataCache()), .remote(CountingDataCache())], clock: clock)
    #expect(try await cache.acquire(KeyLease(key(1)), for: .seconds(1)) == .vain)
    #expect(try await !cache.extend(KeyLease(key(1)), for: .seconds(1)))
    #expect(await !cache.isShared(key(1)))
  }

  @Test
  func aTierThatFailsOrHangsMakesEverybodyWorkAlone() async throws {
    remote.condition = .failing
    #expect(try await cache.acquire(KeyLease(key(1)), for: .seconds(1)) == .vain)
    remote.condition = .hanging
    async let answer = cache.acquire(KeyLease(key(1)), for: .seconds(1))
    await clock.pendingCount(reaches: 1)
    clock.advance(by: .milliseconds(25))
    #expect(try await answer == .vain)
    // Left alone now.
    #expect(try await cache.acquire(KeyLease(key(1)), for: .seconds(1)) == .vain)
    #expect(remote.count(of: .acquire) == 2)
  }

  @Test
  func aLeaseThatComesTooLateIsEnded() async throws {
    remote.condition = .stuck
    async let answer = cache.acquire(KeyLease(key(1)), for: .seconds(5))
    await remote.wait(forBegun: .acquire)
    await clock.pendingCount(reaches: 1)
    clock.advance(by: .milliseconds(25))
    #expect(try await answer == .vain)
    remote.condition = .working
    await remote.wait(forEnded: .release)
    await remote.waitForNoLease()
    #expect(remote.leasedKeys.isEmpty)
  }

  @Test
  func aLeaseOfOneWhoHasGoneIsEnded() async throws {
    remote.condition = .stuck
    let caller = Task { [cache] in try await cache.acquire(KeyLease(key(1)), for: .seconds(5)) }
    await remote.wait(forBegun: .acquire)
    caller.cancel()
    #expect(try await caller.value == .vain)
    remote.condition = .working
    await remote.wait(forEnded: .release)
    await remote.waitForNoLease()
    #expect(remote.leasedKeys.isEmpty)
    #expect(try await cache.acquire(KeyLease(key(1)), for: .seconds(5)) == .acquired)
  }

  @Test
  func aLeaseThatCannotBeEndedIsEndedWhenTheTierWorksAgain() async throws {
    let lease = KeyLease(key(1))
    #expect(try await cache.acquire(lease, for: .seconds(5)) == .acquired)
    remote.condition = .failing
    try await cache.release(lease, inVainFor: nil)
    #expect(remote.leasedKeys == [key(1)])
    remote.condition = .working
    await clock.pendingCount(reaches: 1)
    clock.advance(by: .seconds(1))
    await remote.waitForNoLease()
    #expect(remote.leasedKeys.isEmpty)
  }

  @Test
  func anEntryIsSharedOnceItHasArrived() async {
    #expect(await !cache.isShared(key(1)))
    remote.condition = .stuck
    await cache.store(entry(1), for: key(1))
    async let isShared = cache.isShared(key(1))
    await clock.pendingCount(reaches: 2)
    remote.condition = .working
    #expect(await isShared)
    remote.condition = .refusing
    await cache.store(entry(2), for: key(2))
    await cache.flush()
    remote.condition = .working
    #expect(await !cache.isShared(key(2)))
  }

  @Test
  func waitingForAnEntryEndsWithTheDeadlineAndWithTheBreaker() async {
    remote.condition = .stuck
    await cache.store(entry(1), for: key(1))
    async let isShared = cache.isShared(key(1))
    await clock.pendingCount(reaches: 2)
    clock.advance(by: .seconds(2))
    // The queue still has it, and so has who asks this cache.
    #expect(await isShared)
    remote.condition = .working
  }
}
