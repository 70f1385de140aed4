import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineRedis

/// Writes that arrive late, as from a server that was paused or from another machine's queue.
@Suite(.patient)
struct RedisOrderTests {
  private let clock = ManualClock()

  private func entry(_ seed: UInt64, secondsAgo: Double = 0) -> CachedData {
    RedisTests.entry(seed: seed, stored: clock.now.addingTimeInterval(-secondsAgo))
  }

  @Test(.needsRedis)
  func aLateWriteDoesNotReplaceALaterEntry() async throws {
    let redis = try RedisProcess()
    let caches = [try redis.makeCache(clock: clock), try redis.makeCache(clock: clock)]
    try await caches[0].write(entry(2), for: key(1))
    try await caches[1].write(entry(1, secondsAgo: 1), for: key(1))
    #expect(try await caches[0].read(key(1)) == entry(2))
    // At the same time the last one stays.
    try await caches[1].write(entry(3), for: key(1))
    #expect(try await caches[0].read(key(1)) == entry(3))
  }

  @Test(.needsRedis)
  func aMachineWhoseClockIsAheadDoesNotShutTheOthersOut() async throws {
    let redis = try RedisProcess()
    let cache = try redis.makeCache(clock: clock)
    try await cache.write(entry(1, secondsAgo: -3600), for: key(1))
    try await cache.write(entry(2), for: key(1))
    #expect(try await cache.read(key(1)) == entry(2))
  }

  @Test(.needsRedis, arguments: [1, 2, 3])
  func whatWasStoredBeforeARemovalDoesNotComeBackAfterIt(parts: Int) async throws {
    let redis = try RedisProcess()
    let caches = [try redis.makeCache(clock: clock), try redis.makeCache(clock: clock)]
    for cache in caches { try await cache.write(entry(1), for: thumbnail(1, 3)) }
    let (old, other) = (entry(4), key(2))
    clock.advance(by: .seconds(1))
    // Of the source, of all URLs, of all.
    let end = try #require(key(1).end(ofParts: parts))
    try await caches[0].erase(extending: CacheKey(bytes: Array(key(1).bytes.prefix(end))))
    try await caches[1].write(old, for: thumbnail(1, 3))
    try await caches[1].write(old, for: key(1))
    #expect(try await caches[0].read(thumbnail(1, 3)) == nil)
    #expect(try await caches[0].read(key(1)) == nil)
    try await caches[1].write(old, for: other)
    #expect(try await caches[0].read(other) == old)
    try await caches[1].write(entry(5), for: key(1))
    #expect(try await caches[0].read(key(1)) == entry(5))
  }

  /// The removal of what is there may have waited in a queue for that write, which took its place.
  @Test(.needsRedis)
  func aWriteThatARemovalHasOvertakenTakesTheOlderEntryWithIt() async throws {
    let redis = try RedisProcess()
    let cache = try redis.makeCache(clock: clock)
    try await cache.write(entry(1), for: key(1))
    clock.advance(by: .seconds(1))
    let newer = entry(2)
    clock.advance(by: .seconds(1))
    // The variants, and not the original itself.
    try await cache.erase(extending: key(1))
    #expect(try await cache.read(key(1))?.contentID == entry(1).contentID)
    try await cache.write(newer, for: key(1))
    #expect(try await cache.read(key(1)) == nil)
    try await cache.write(entry(3), for: key(1))
    #expect(try await cache.read(key(1)) == entry(3))
  }

  @Test(.needsRedis)
  func whatWasStoredBeforeEverythingWasRemovedDoesNotComeBack() async throws {
    let redis = try RedisProcess()
    let caches = [try redis.makeCache(clock: clock), try redis.makeCache(clock: clock)]
    try await caches[1].write(entry(1), for: key(1))
    let old = entry(4)
    clock.advance(by: .seconds(1))
    try await caches[0].eraseAll()
    try await caches[1].write(old, for: key(2))
    #expect(try await caches[0].read(key(2)) == nil)
    try await caches[1].write(entry(5), for: key(2))
    #expect(try await caches[0].read(key(2)) == entry(5))
  }
}
