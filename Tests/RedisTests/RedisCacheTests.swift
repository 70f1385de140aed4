import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineRedis

@Suite(.needsRedis, .patient)
struct RedisCacheTests {
  private let redis: RedisProcess
  private let cache: RedisCache

  init() throws {
    redis = try RedisProcess()
    cache = try redis.makeCache()
  }

  /// The names on the server that begin with something, in the present epoch.
  private func names(_ prefix: (RedisKeys) -> Data) async throws -> [Data] {
    var all: [Data] = []
    try await cache.scan(prefix) { names, _ in all += names }
    return all
  }

  private func name(_ body: (RedisKeys) -> Data) async throws -> Data {
    body(try #require(try await cache.send { _ in [] }).0)
  }

  private func send(_ name: String, _ arguments: Data...) async throws -> RedisReply {
    try await cache.sendPlainly([RedisCommand(name, arguments)])[0]
  }

  // MARK: Entries

  @Test(arguments: [0, 1, 500, 70_000, 3_000_000])
  func anEntryIsReadAsItWasWritten(count: Int) async throws {
    let entry = entry(of: count, expires: Date(timeIntervalSinceNow: 3600))
    try await cache.write(entry, for: key(1))
    let found = try #require(try await cache.read(key(1)))
    #expect(found == entry)
    #expect(try await redis.makeCache().read(key(1)) == entry)
    #expect(try await cache.read(key(2)) == nil)
    #expect(try await cache.read(thumbnail(1, 300)) == nil)
  }

  @Test
  func anEmptyServerHasNothing() async throws {
    #expect(try await cache.read(key(1)) == nil)
    #expect(try await cache.readHeads(of: [key(1), key(2)]) == [nil, nil])
    try await cache.erase(key(1))
    try await cache.erase(extending: key(1))
    #expect(try await !cache.rewrite(key(1), contentID: entry().contentID, expires: nil, metadata: Data()))
    #expect(await cache.entries().isEmpty)
  }

  @Test(arguments: [[], [0], [255, 1], [13, 10, 42], [UInt8](repeating: 0, count: 5_000)] as [[UInt8]])
  func anyBytesAreAKey(bytes: [UInt8]) async throws {
    let key = CacheKey(bytes: bytes)
    try await cache.write(entry(), for: key)
    #expect(try await cache.read(key) == entry())
    #expect(await cache.entries().map(\.key) == [key])
  }

  @Test
  func headsComeInOneRoundTripAndWithoutBodies() async throws {
    try await cache.write(entry(of: 1_000_000), for: key(1))
    try await cache.write(entry(of: 2, seed: 2), for: key(2))
    let before = try await outputBytes()
    let heads = try await cache.readHeads(of: [key(3), key(2), key(1)])
    #expect(heads.map { $0?.byteCount } == [nil, 2, 1_000_000])
    #expect(heads[2]?.metadata == entry().metadata)
    #expect(heads[2]?.data == nil)
    #expect(try await outputBytes() - before < 20_000)
    #expect(await cache.contentID(for: key(2)) == entry(of: 2, seed: 2).contentID)
    #expect(await cache.contains(key(1)))
  }

  private func outputBytes() async throws -> Int {
    let text = try await send("INFO", Data("stats")).bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("total_net_output_bytes:") }
    return try #require(line.flatMap { Int($0.drop { $0 != ":" }.dropFirst()) })
  }

  @Test
  func anEntryLivesAsLongAsItCanBeRevalidated() async throws {
    let clock = ManualClock(now: .now)
    let cache = try redis.makeCache(clock: clock) {
      $0.staleLifetime = .seconds(100)
      $0.maxLifetime = .seconds(1000)
    }
    func lifetime(_ seconds: Double?) async throws -> Int64 {
      let expires = seconds.map { clock.now.addingTimeInterval($0) }
      try await cache.write(entry(expires: expires), for: key(1))
      let name = try await name { $0.head(key(1)) }
      return try #require(try await send("PTTL", name).integer)
    }
    #expect((340_000...400_000).contains(try await lifetime(300)))
    #expect((40_000...50_000).contains(try await lifetime(-50)))
    #expect((900_000...1_000_000).contains(try await lifetime(nil)))
    #expect((900_000...1_000_000).contains(try await lifetime(5000)))
    // What nobody can use is not stored, and takes the older one with it.
    #expect(try await lifetime(-100) == -2)
    #expect(try await cache.read(key(1)) == nil)
  }

  @Test
  func anEntryThatIsTooLargeIsRefusedAndTakesTheOlderOneWithIt() async throws {
    let small = try redis.makeCache { $0.entrySizeLimit = 1000 }
    try await small.write(entry(of: 1000), for: key(1))
    #expect(try await small.read(key(1)) == entry(of: 1000))
    let error = await #expect(throws: RedisError.self) { try await small.write(entry(of: 1001), for: key(1)) }
    #expect(error?.isRefusal == true)
    #expect(try await small.read(key(1)) == nil)
    // One of a machine with a higher limit is neither read nor removed.
    try await cache.write(entry(of: 2000), for: key(1))
    #expect(try await small.read(key(1)) == nil)
    #expect(try await cache.read(key(1)) == entry(of: 2000))
  }

  @Test
  func pixelsDoNotTravel() async throws {
    var pixels = entry()
    pixels.isMachineLocal = true
    let error = await #expect(throws: RedisError.self) { try await cache.write(pixels, for: key(1)) }
    #expect(error?.isRefusal == true)
    #expect(try await send("DBSIZE").integer == 0)
  }

  // MARK: Renewing

  @Test
  func aRenewalReplacesExpiryAndMetadataOfTheSameContentOnly() async throws {
    let (old, expires) = (entry(expires: .now), Date(timeIntervalSinceReferenceDate: 900_000_000))
    try await cache.write(old, for: key(1))
    #expect(try await !cache.rewrite(key(1), contentID: entry(of: 9).contentID, expires: nil, metadata: Data()))
    #expect(try await cache.read(key(1)) == old)
    #expect(try await cache.rewrite(key(1), contentID: old.contentID, expires: expires, metadata: Data("new")))
    var renewed = old
    (renewed.expires, renewed.metadata) = (expires, Data("new"))
    #expect(try await cache.read(key(1)) == renewed)
    try await cache.erase(key(1))
    #expect(try await !cache.rewrite(key(1), contentID: old.contentID, expires: nil, metadata: Data()))
  }

  @Test
  func renewalsOfManyMachinesLeaveAWholeEntry() async throws {
    try await cache.write(entry(), for: key(1))
    let caches = try (0..<4).map { _ in try redis.makeCache() }
    let renewed = try await withThrowingTaskGroup(of: Bool.self) { group in
      for (number, cache) in caches.enumerated() {
        group.addTask {
          try await cache.rewrite(key(1), contentID: entry().contentID, expires: nil, metadata: Data("\(number)"))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(renewed.contains(true))
    let found = try #require(try await cache.read(key(1)))
    #expect(found.data == entry().data)
    #expect((0..<4).map { Data("\($0)") }.contains(found.metadata))
  }

  @Test
  func aServerThatHasForgottenTheScriptsIsSentTheirTexts() async throws {
    try await cache.write(entry(), for: key(1))
    for _ in 0..<2 {
      _ = try await send("SCRIPT", Data("FLUSH"))
      #expect(try await cache.rewrite(key(1), contentID: entry().contentID, expires: nil, metadata: Data("new")))
      #expect(try await cache.rewrite(key(1), contentID: entry().contentID, expires: nil, metadata: Data("newer")))
    }
  }

  @Test
  func theDigestsAreThoseThatTheServerComputes() async throws {
    for script in RedisScript.all {
      #expect(try await send("SCRIPT", Data("LOAD"), Data(script.text)) == .bytes(Data(script.digest)))
    }
  }

  // MARK: Removing

  @Test
  func aRemovalLeavesNothingOfTheEntryOnTheServer() async throws {
    try await cache.write(entry(), for: key(1))
    try await cache.erase(key(1))
    #expect(try await cache.read(key(1)) == nil)
    // The epoch.
    #expect(try await send("DBSIZE").integer == 1)
  }

  @Test
  func theVariantsOfASourceAreRemovedWithoutTheOriginalOrOtherSources() async throws {
    for number in [1, 11] {
      try await cache.write(entry(), for: key(number))
      for size in 1...30 { try await cache.write(entry(), for: thumbnail(number, size)) }
    }
    try await cache.erase(extending: key(1).extended { $0.append("decode") })
    let left = Set(await cache.entries().map(\.key))
    #expect(left == Set([key(1), key(11)] + (1...30).map { thumbnail(11, $0) }))
    #expect(try await names(\.bodyPrefix).count == 32)
    try await cache.erase(extending: thumbnail(11, 3))
    #expect(await cache.entries().count == 32)
  }

  @Test
  func theKeyOfMoreThanASourceRemovesAllThatExtendIt() async throws {
    for number in 1...3 {
      try await cache.write(entry(), for: key(number))
      try await cache.write(entry(), for: thumbnail(number, 300))
    }
    let other = CacheKey { $0.append("other") }
    try await cache.write(entry(), for: other)
    try await cache.erase(
      extending: CacheKey {
        $0.append(CacheKey.Part.none)
        $0.append("url")
      }
    )
    #expect(await cache.entries().map(\.key) == [other])
    try await cache.erase(extending: CacheKey(bytes: []))
    #expect(await cache.entries().isEmpty)
  }

  @Test
  func removingEverythingIsANewEpochForAllMachines() async throws {
    let other = try redis.makeCache()
    try await cache.write(entry(), for: key(1))
    #expect(try await other.read(key(1)) == entry())
    try await cache.eraseAll()
    #expect(try await cache.read(key(1)) == nil)
    #expect(try await other.read(key(1)) == nil)
    try await cache.eraseAll()
    // Written for an epoch that is over, and written again.
    try await other.write(entry(of: 7), for: key(2))
    #expect(try await cache.read(key(2)) == entry(of: 7))
    #expect(try await cache.readHeads(of: [key(1), key(2)]).map { $0 != nil } == [false, true])
  }

  @Test
  func aServerThatLostItsEpochDoesNotGoBackToAnEarlierOne() async throws {
    try await cache.write(entry(), for: key(1))
    _ = try await send("DEL", RedisKeys.epoch(namespace: "vitrine"))
    #expect(try await cache.read(key(1)) == nil)
    try await cache.write(entry(), for: key(2))
    #expect(try await cache.read(key(1)) == nil)
    #expect(try await cache.read(key(2)) == entry())
    _ = try await send("DEL", RedisKeys.epoch(namespace: "vitrine"))
    try await cache.eraseAll()
    #expect(try await cache.read(key(2)) == nil)
  }

  @Test
  func namespacesAndDatabasesAreApart() async throws {
    let others = [try redis.makeCache { $0.namespace = "other" }, try redis.makeCache(database: 1)]
    try await cache.write(entry(), for: key(1))
    for other in others {
      #expect(try await other.read(key(1)) == nil)
      try await other.write(entry(of: 9), for: key(1))
      try await other.eraseAll()
    }
    #expect(try await cache.read(key(1)) == entry())
  }

  @Test
  func aSourceOfTooManyVariantsLosesSome() async throws {
    let cache = try redis.makeCache { $0.variantLimit = 10 }
    for size in 1...40 { try await cache.write(entry(), for: thumbnail(1, size)) }
    #expect(await cache.entries().count == 10)
    try await cache.erase(extending: key(1))
    #expect(await cache.entries().isEmpty)
  }

  // MARK: Half of an entry

  @Test(arguments: ["head", "body", "index"])
  func anEntryThatHasLostAPartIsAMiss(part: String) async throws {
    try await cache.write(entry(), for: key(1))
    let name = try await name { keys in
      switch part {
      case "head": keys.head(key(1))
      case "body": keys.body(key(1))
      default: keys.index(key(1))
      }
    }
    #expect(try await send("DEL", name).integer == 1)
    #expect(try await cache.read(key(1)) == nil)
    try await cache.write(entry(), for: key(1))
    #expect(try await cache.read(key(1)) == entry())
  }

  @Test(arguments: ["head", "body"])
  func damageIsAMissIsCountedAndIsRemoved(part: String) async throws {
    try await cache.write(entry(), for: key(1))
    let name = try await name { part == "head" ? $0.head(key(1)) : $0.body(key(1)) }
    _ = try await send("SETRANGE", name, Data("40"), Data("!?"))
    #expect(try await cache.read(key(1)) == nil)
    #expect(await cache.statistics().damaged == 1)
    #expect(try await names(\.bodyPrefix).isEmpty)
    #expect(try await names(\.headPrefix).isEmpty)
  }

  @Test
  func anEntryUnderTheNameOfAnotherIsAMiss() async throws {
    try await cache.write(entry(), for: key(1))
    try await cache.write(entry(of: 600, seed: 2), for: key(2))
    for part in [RedisKeys.head, RedisKeys.body] {
      let (from, to) = (try await name { part($0)(key(1)) }, try await name { part($0)(key(2)) })
      _ = try await send("COPY", from, to, Data("REPLACE"))
    }
    #expect(try await cache.read(key(2)) == nil)
    #expect(try await cache.readHeads(of: [key(2)]) == [nil])
  }

  @Test
  func anothersValuesUnderOurNamesAreRefused() async throws {
    try await cache.write(entry(), for: key(1))
    let name = try await name { $0.index(key(1)) }
    _ = try await send("SET", name, Data("text"))
    let error = await #expect(throws: RedisError.self) { try await cache.read(key(1)) }
    #expect(error?.isRefusal == true)
  }

  // MARK: Many at once

  @Test
  func whateverManyMachinesDoAtOnceEveryReadIsWhole() async throws {
    let caches = try (0..<3).map { _ in try redis.makeCache() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<12 {
        group.addTask {
          var random = SystemRandomNumberGenerator()
          let cache = caches[worker % 3]
          for step in 0..<60 {
            let key = key(Int.random(in: 0..<4, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
              let entry = entry(of: Int.random(in: 1...50_000), seed: UInt64(worker * 100 + step))
              try await cache.write(entry, for: key)
            case 3: try await cache.erase(key)
            case 4: try await cache.erase(extending: CacheKey { $0.append(CacheKey.Part.none) })
            case 5 where step == 30 && worker == 0: try await cache.eraseAll()
            default:
              if let found = try await cache.read(key) { #expect(ContentID(of: found.data) == found.contentID) }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(await cache.statistics().damaged == 0)
    for cache in caches { #expect(await cache.statistics().damaged == 0) }
  }

  @Test
  func manyRequestsShareFewConnections() async throws {
    try await cache.write(entry(), for: key(1))
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<500 { group.addTask { [cache] in await cache.entry(for: key(1)) == entry() } }
      for await isRight in group { #expect(isRight) }
    }
    let text = try await send("INFO", Data("stats")).bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let line = try #require(
      text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("total_connections_received:") }
    )
    // Four for look-ups, one for the write, and one for this question where that one is not back yet.
    #expect(Int(line.drop { $0 != ":" }.dropFirst()) ?? 99 <= 6)
  }

  @Test
  func statisticsAreThoseOfTheServer() async throws {
    try await cache.write(entry(), for: key(1))
    _ = try await (cache.read(key(1)), cache.read(key(2)))
    let statistics = await cache.statistics()
    #expect((statistics.hits, statistics.misses) == (1, 1))
    #expect(statistics.bytes > 100_000)
    try await cache.check()
  }
}
