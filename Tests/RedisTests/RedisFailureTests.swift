import Foundation
import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

@testable import VitrineRedis

/// Servers that are gone, slow, full or not what they seem.
@Suite(.patient)
struct RedisFailureTests {
  // MARK: No server

  @Test
  func aServerThatIsNotThereIsNamedInTheError() async throws {
    let cache = RedisCache(try RedisServer("unix://u:topsecret@/tmp/nothing-listens-here.sock"))
    let error = await #expect(throws: RedisError.self) { try await cache.read(key(1)) }
    #expect(error?.stage == .connect)
    #expect(error?.isRefusal == false)
    #expect(error?.description.hasPrefix("unix:///tmp/nothing-listens-here.sock?db=0: connect: ") == true)
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(await cache.heads(for: [key(1)]) == [nil])
    await cache.store(entry(), for: key(1))
    #expect(await cache.statistics().entries == 0)
  }

  // MARK: Real servers

  @Test(.needsRedis)
  func aServerThatWasStartedAnewIsUsedAgainAtOnce() async throws {
    let redis = try RedisProcess()
    let cache = try redis.makeCache()
    try await cache.write(entry(), for: key(1))
    redis.kill()
    await #expect(throws: RedisError.self) { try await cache.read(key(1)) }
    try redis.start()
    // Empty, with another epoch, and without the scripts.
    #expect(try await cache.read(key(1)) == nil)
    try await cache.write(entry(of: 2), for: key(1))
    #expect(try await cache.read(key(1)) == entry(of: 2))
    #expect(try await cache.rewrite(key(1), contentID: entry(of: 2).contentID, expires: nil, metadata: Data()))
  }

  @Test(.needsRedis)
  func idleConnectionsThatTheServerHasClosedAreNoError() async throws {
    let redis = try RedisProcess()
    let cache = try redis.makeCache()
    try await cache.write(entry(), for: key(1))
    redis.kill()
    try redis.start()
    #expect(try await cache.read(key(1)) == nil)
  }

  @Test(.needsRedis)
  func aServerThatIsPausedIsATimeOutAndThenWorksAgain() async throws {
    let redis = try RedisProcess()
    let cache = try redis.makeCache()
    let impatient = try redis.makeCache { $0.commandTimeout = .milliseconds(50) }
    try await cache.write(entry(), for: key(1))
    redis.pause()
    let error = await #expect(throws: RedisError.self) { try await impatient.read(key(1)) }
    #expect(error?.isRefusal == false)
    redis.resume()
    #expect(try await cache.read(key(1)) == entry())
    // What came too late is not taken for the reply to what was asked next.
    try await cache.write(entry(of: 7), for: key(2))
    #expect(try await cache.read(key(2)) == entry(of: 7))
  }

  @Test(.needsRedis)
  func aServerThatIsFullRefusesWritesAndAnswersReads() async throws {
    let redis = try RedisProcess("--maxmemory 3mb --maxmemory-policy noeviction")
    let cache = try redis.makeCache()
    try await cache.write(entry(of: 1000), for: key(0))
    var refused: [Int] = []
    for number in 1...40 {
      do {
        try await cache.write(entry(of: 200_000, seed: UInt64(number)), for: key(number))
      } catch let error as RedisError {
        #expect(error.isRefusal)
        #expect(error.description.contains("OOM") || error.description.contains("EXECABORT"))
        refused.append(number)
      }
    }
    #expect(refused.count > 20)
    #expect(try await cache.read(key(0)) == entry(of: 1000))
    for number in refused { #expect(try await cache.read(key(number)) == nil) }
    // An entry that cannot be replaced does not stay as it was.
    await #expect(throws: RedisError.self) { try await cache.write(entry(of: 400_000, seed: 99), for: key(0)) }
    #expect(try await cache.read(key(0)) == nil)
    try await cache.erase(extending: CacheKey(bytes: []))
    // Once there is room again, it is used.
    _ = try await cache.sendPlainly([RedisCommand("CONFIG", ["SET", "maxmemory", "30mb"].map { Data($0) })])
    try await cache.write(entry(of: 200_000), for: key(1))
    #expect(try await cache.read(key(1)) == entry(of: 200_000))
  }

  @Test(.needsRedis, arguments: ["allkeys-lru", "allkeys-random", "volatile-ttl"])
  func aServerThatEvictsServesWholeEntriesOrNone(policy: String) async throws {
    let redis = try RedisProcess("--maxmemory 4mb --maxmemory-policy \(policy)")
    let cache = try redis.makeCache()
    for number in 0..<300 {
      try? await cache.write(entry(of: 20_000, seed: UInt64(number)), for: key(number))
      if number % 7 == 0 { try await cache.erase(key(number)) }
    }
    var hits = 0
    for number in 0..<300 {
      guard let found = try await cache.read(key(number)) else { continue }
      #expect(found == entry(of: 20_000, seed: UInt64(number)))
      #expect(number % 7 != 0)
      hits += 1
    }
    #expect(hits < 300)
    #expect(await cache.statistics().damaged == 0)
  }

  // MARK: Passwords

  @Test(.needsRedis)
  func thePasswordOfTheServerIsSent() async throws {
    let redis = try RedisProcess("--requirepass to%20p@secret")
    try await redis.makeCache(user: ":to%2520p%40secret@").check()
    for user in ["", ":wrongsecret@", "nobody:to%2520p%40secret@"] {
      let error = await #expect(throws: RedisError.self) { try await redis.makeCache(user: user).read(key(1)) }
      #expect(error?.isRefusal == false)
      #expect(error?.description.contains("secret") == false)
      if !user.isEmpty { #expect(error?.stage == .authenticate) }
    }
  }

  @Test(.needsRedis)
  func aUserOfAnAccessListMayDoWhatVitrineNeeds() async throws {
    let redis = try RedisProcess()
    let all = try redis.makeCache()
    // The commands that the documentation names.
    let commands = RedisCache.commands.map { "+\($0)" }
    _ = try await all.sendPlainly([
      RedisCommand(
        "ACL",
        ["SETUSER", "vitrine", "on", ">topsecret", "~vitrine:*"].map { Data($0) } + commands.map { Data($0) },
      )
    ])
    let cache = try redis.makeCache(user: "vitrine:topsecret@")
    try await cache.check()
    try await cache.write(entry(), for: key(1))
    try await cache.write(entry(), for: thumbnail(1, 3))
    #expect(try await cache.read(key(1)) == entry())
    #expect(try await cache.rewrite(key(1), contentID: entry().contentID, expires: nil, metadata: Data()))
    try await cache.erase(extending: key(1))
    #expect(await cache.entries().map(\.key) == [key(1)])
    try await cache.erase(key(1))
    try await cache.eraseAll()
    #expect(await cache.statistics().bytes > 0)
    _ = try await all.sendPlainly([RedisCommand("ACL", Data("SETUSER"), Data("vitrine"), Data("-evalsha"))])
    let error = await #expect(throws: RedisError.self) { try await cache.write(entry(), for: key(1)) }
    #expect(error?.isRefusal == true)
  }

  @Test(.needsRedis)
  func aDatabaseThatDoesNotExistIsAnError() async throws {
    let redis = try RedisProcess()
    let error = await #expect(throws: RedisError.self) { try await redis.makeCache(database: 99).check() }
    #expect(error?.stage == .authenticate)
  }

  // MARK: Servers that are none

  private static let nonsense: [String] = [
    "HTTP/1.1 400 Bad Request\r\n\r\n", "\r\n", "$", "$-5\r\n", "$99999999999\r\n", "$5\r\nhi\r\n", "*3\r\n",
    "*2147483647\r\n", "*-7\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
    ":99999999999999999999999\r\n", "+OK\r\n", ":7\r\n", "$-1\r\n:1\r\n", "$1\r\n1\r\n",
    "$1\r\n1\r\n+OK\r\n+QUEUED\r\n",
    "$1\r\n1\r\n$2\r\nhi\r\n$3\r\nbye\r\n:1\r\n", "$1\r\n1\r\n$2\r\nhi\r\n$3\r\nbye\r\n:7\r\n",
    "$1\r\n1\r\n*0\r\n*0\r\n*0\r\n", "-ERR what?\r\n", "\u{0}\u{1}\u{2}\u{3}",
    "$3\r\nabc\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n", "%1\r\n+a\r\n+b\r\n", "_\r\n",
  ]

  @Test(arguments: nonsense)
  func nonsenseIsAnErrorOrAMissAndNeverAnEntry(reply: String) async throws {
    let server = try FakeRedisServer { _, _ in Data(reply.utf8) }
    var options = RedisCache.Options()
    options.commandTimeout = .milliseconds(100)
    let cache = RedisCache(try RedisServer("redis://:topsecret@127.0.0.1:\(server.port)"), options: options)
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(await cache.heads(for: [key(1), key(2)]) == [nil, nil])
    #expect(await cache.renew(key(1), contentID: entry().contentID, expires: nil, metadata: Data()) == false)
    await cache.store(entry(), for: key(1))
    await cache.remove(key(1))
    await cache.removeAll()
    #expect(await cache.entries().isEmpty)
    do { try await cache.check() } catch { #expect(!"\(error)".contains("topsecret")) }
  }

  @Test
  func aReplyWithoutEndIsCutOff() async throws {
    let server = try FakeRedisServer { _, _ in Data("$4000000000\r\n".utf8) + Data(count: 8 << 20) }
    var options = RedisCache.Options()
    options.entrySizeLimit = 1000
    options.commandTimeout = .seconds(30)
    let cache = RedisCache(try RedisServer("redis://127.0.0.1:\(server.port)"), options: options)
    let error = await #expect(throws: RedisError.self) { try await cache.read(key(1)) }
    #expect(error?.detail.contains("longer than") == true)
  }

  @Test
  func aServerThatClosesEveryConnectionIsAnErrorAfterTwoAttempts() async throws {
    let count = Lock(0)
    let server = try FakeRedisServer { _, _ in
      count.withLock { $0 += 1 }
      return nil
    }
    let cache = RedisCache(try RedisServer("redis://127.0.0.1:\(server.port)"))
    await #expect(throws: RedisError.self) { try await cache.read(key(1)) }
    #expect(count.withLock { $0 } <= 2)
  }

  @Test
  func aCallerThatIsCancelledDoesNotWaitForTheServer() async throws {
    let asked = Deferred<Void>()
    let server = try FakeRedisServer { _, _ in
      asked.resolve(())
      return Data()
    }
    var options = RedisCache.Options()
    options.commandTimeout = .seconds(60)
    let cache = RedisCache(try RedisServer("redis://127.0.0.1:\(server.port)"), options: options)
    let task = Task { try await cache.read(key(1)) }
    await asked.value()
    task.cancel()
    let error = await #expect(throws: RedisError.self) { try await task.value }
    #expect(error?.detail == "cancelled")
  }

  @Test
  func anEntryIsReadWhoeverTheServerIs() async throws {
    let head = RedisHead(entry()).encoded(for: key(1))
    // The epoch, and once more with everything else.
    var whole = Data("$1\r\n1\r\n$\(head.count)\r\n".utf8) + head
    whole += Data("\r\n$\(entry().data.count)\r\n".utf8) + entry().data + Data("\r\n:1\r\n".utf8)
    let reply = whole
    // By what is asked and not by its number: the second request may come on a connection of its own.
    let server = try FakeRedisServer { _, request in
      String(decoding: request, as: UTF8.self).split(separator: "GET\r\n").count > 2
        ? reply : Data("$1\r\n1\r\n".utf8)
    }
    var options = RedisCache.Options()
    options.commandTimeout = .seconds(60)
    let cache = RedisCache(try RedisServer("redis://127.0.0.1:\(server.port)"), options: options)
    #expect(try await cache.read(key(1)) == entry())
  }
}

/// A tier over a server, as pipelines use it.
@Suite(.needsRedis, .patient)
struct RedisTierTests {
  private let redis: RedisProcess
  private let clock = ManualClock()
  private let near = CountingDataCache()

  init() throws { redis = try RedisProcess() }

  private func makeTiers(_ near: CountingDataCache, timeout: Duration = .seconds(30)) throws -> TieredDataCache {
    var limits = TieredDataCache.RemoteLimits()
    limits.failureLimit = 2
    let cache = try redis.makeCache { $0.commandTimeout = timeout }
    return TieredDataCache([.local(near), .remote(cache, name: "redis", limits: limits)], clock: clock)
  }

  @Test
  func whatOneMachineStoresTheOthersHave() async throws {
    let (one, other) = (try makeTiers(near), try makeTiers(CountingDataCache()))
    await one.store(entry(), for: key(1))
    await one.flush()
    #expect(await other.entry(for: key(1)) == entry())
    await other.remove(key(1))
    #expect(await one.entries().map(\.key) == [key(1)])
    await near.removeAll()
    #expect(await one.entry(for: key(1)) == nil)
  }

  @Test
  func aServerThatDiesIsLeftAloneAndTakenUpAgain() async throws {
    let tiers = try makeTiers(near)
    await tiers.store(entry(), for: key(1))
    await tiers.flush()
    redis.kill()
    await near.removeAll()
    for number in 1...4 { #expect(await tiers.entry(for: key(number)) == nil) }
    #expect(tiers.tierStatistics[1].breaker == .open)
    await tiers.store(entry(), for: key(2))
    await tiers.remove(key(3))
    #expect((tiers.tierStatistics[1].queuedWrites, tiers.tierStatistics[1].queuedRemovals) == (1, 1))
    try redis.start()
    clock.advance(by: .seconds(1))
    await tiers.flush()
    await near.removeAll()
    #expect(await tiers.entry(for: key(2)) == entry())
    #expect(tiers.tierStatistics[1].breaker == .closed)
  }

  @Test
  func aServerThatHangsCostsTheDeadlineAndIsTakenUpAgain() async throws {
    let tiers = try makeTiers(near)
    await tiers.store(entry(), for: key(1))
    await tiers.flush()
    await near.removeAll()
    redis.pause()
    for _ in 0..<2 {
      async let found = tiers.entry(for: key(1))
      await clock.pendingCount(reaches: 1)
      clock.advance(by: .milliseconds(250))
      #expect(await found == nil)
    }
    #expect(tiers.tierStatistics[1].timeOuts == 2)
    #expect(await tiers.entry(for: key(1)) == nil)
    #expect(tiers.tierStatistics[1].skipped == 1)
    redis.resume()
    clock.advance(by: .seconds(1))
    #expect(await tiers.entry(for: key(1)) == entry())
  }
}
