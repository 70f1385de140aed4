import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineCaching

/// A cache of a program's own, of four functions.
@Suite(.patient)
struct AdaptedDataCacheTests {
  private struct Refused: Error {}

  /// A store in memory, with the faults that a test sets.
  private final class Store: SimpleDataCache, Sendable {
    let entries = Lock([String: Data]())
    let failing = Lock(Set<String>())
    let isBlocking = Lock(false)
    let gate = Gate()
    let calls = Record<String>()

    private func enter(_ call: String) throws {
      calls.add(call)
      if isBlocking.withLock({ $0 }) { gate.wait() }
      if failing.withLock({ $0.contains(call) }) { throw Refused() }
    }

    func read(_ name: String) throws -> Data? {
      try enter("read")
      return entries.withLock { $0[name] }
    }

    func write(_ data: Data, _ name: String) throws {
      try enter("write")
      entries.withLock { $0[name] = data }
    }

    func remove(_ prefix: String) throws {
      try enter("remove")
      entries.withLock { $0 = $0.filter { !$0.key.hasPrefix(prefix) } }
    }

    func removeAll() throws {
      try enter("removeAll")
      entries.withLock { $0 = [:] }
    }
  }

  private let store = Store()
  private let warnings = Record<String>()
  private let cache: AdaptedDataCache

  init() {
    cache = AdaptedDataCache(store, entrySizeLimit: 1000) { [warnings] in warnings.add($0) }
  }

  private func key(_ name: String, _ more: Int...) -> CacheKey {
    CacheKey { key in
      key.append(name)
      for part in more { key.append(part) }
    }
  }

  private func entry(_ text: String, expires: Date? = nil) -> CachedData {
    CachedData(
      data: Data(text.utf8),
      kind: .finished,
      metadata: Data("head of \(text)".utf8),
      contentID: ContentID(of: Data(text.utf8)),
      expires: expires,
      stored: Date(timeIntervalSince1970: 1000),
    )
  }

  @Test(arguments: [Date?.none, Date(timeIntervalSince1970: 2000)])
  func anEntryComesBackAsItWas(expires: Date?) async {
    await cache.store(entry("cat", expires: expires), for: key("a"))

    #expect(await cache.entry(for: key("a")) == entry("cat", expires: expires))
    #expect(await cache.entry(for: key("b")) == nil)
    #expect(await cache.contains(key("a")))
    let statistics = await cache.statistics()
    #expect((statistics.hits, statistics.misses) == (1, 1))
    #expect(warnings.events.isEmpty)
  }

  @Test
  func anEntryIsRenewedOnlyWhileItHasThatContent() async {
    await cache.store(entry("cat"), for: key("a"))
    let expires = Date(timeIntervalSince1970: 3000)

    #expect(
      await cache.renew(key("a"), contentID: entry("cat").contentID, expires: expires, metadata: Data("new".utf8))
    )
    #expect(await !cache.renew(key("a"), contentID: entry("dog").contentID, expires: nil, metadata: Data()))
    #expect(await !cache.renew(key("b"), contentID: entry("cat").contentID, expires: nil, metadata: Data()))

    let renewed = await cache.peek(key("a"))
    #expect(renewed?.expires == expires)
    #expect(renewed?.metadata == Data("new".utf8))
    #expect(renewed?.data == Data("cat".utf8))
  }

  @Test
  func extensionsOfAKeyAreRemovedAndNothingElse() async {
    let kept = [key("a"), key("b"), key("b", 1), key("ab", 1)]
    let removed = [key("a", 1), key("a", 1, 2), key("a", 12)]
    for key in kept + removed { await cache.store(entry("cat"), for: key) }

    await cache.removeAll(extending: key("a"))

    for key in kept { #expect(await cache.contains(key)) }
    for key in removed { #expect(await !cache.contains(key)) }
    await cache.remove(key("b"))
    #expect(await !cache.contains(key("b")))
    #expect(await cache.contains(key("b", 1)))
    await cache.removeAll()
    #expect(await !cache.contains(key("a")))
  }

  @Test
  func namesAreNamesOfFilesHoweverLongTheKey() {
    let long = CacheKey { key in for part in 0..<300 { key.append("part \(part)") } }
    let bare = CacheKey(bytes: [9, 255])
    let names = [long, bare, CacheKey(bytes: []), key("a")].map { AdaptedDataCache.name(of: $0) }

    #expect(Set(names).count == 4)
    for name in names {
      #expect(name.utf8.count <= 240)
      #expect(name.allSatisfy { "0123456789abcdef-.".contains($0) })
    }
  }

  /// Any bytes but those that were written for the key are a miss.
  @Test
  func whatWasDamagedCutOrSwappedIsAMissAndIsRemoved() async throws {
    await cache.store(entry("cat"), for: key("a"))
    let name = AdaptedDataCache.name(of: key("a"))
    let good = try #require(store.entries.withLock { $0[name] })
    var bad = [Data(), good.dropLast(), good + [0], Data(good.dropFirst())]
    for index in good.indices {
      var flipped = good
      flipped[index] ^= 1
      bad.append(flipped)
    }
    for bytes in bad {
      store.entries.withLock { $0[name] = bytes }
      #expect(await cache.entry(for: key("a")) == nil)
      #expect(store.entries.withLock { $0.isEmpty })
    }
    #expect(await cache.statistics().damaged == bad.count)
    // Another key's value.
    store.entries.withLock { $0[AdaptedDataCache.name(of: key("b"))] = good }
    #expect(await cache.entry(for: key("b")) == nil)
  }

  @Test
  func aStoreThatThrowsIsAMissAndAWarning() async {
    await cache.store(entry("cat"), for: key("a"))
    store.failing.withLock { $0 = ["read"] }
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(warnings.events == ["read failed: Refused()"])

    // The older entry is not served in place of the one that was not stored.
    store.failing.withLock { $0 = ["write"] }
    await cache.store(entry("dog"), for: key("a"))
    #expect(await cache.entry(for: key("a")) == nil)
    #expect(warnings.events.last == "write failed: Refused()")
  }

  @Test
  func aLargerEntryIsNotStoredAndRemovesTheOlder() async {
    await cache.store(entry("cat"), for: key("a"))
    await cache.store(entry(String(repeating: "x", count: 1001)), for: key("a"))
    #expect(await cache.entry(for: key("a")) == nil)
    await cache.store(entry(String(repeating: "x", count: 1000)), for: key("a"))
    #expect(await cache.contains(key("a")))
  }

  @Test
  func aCancelledCallerMissesAtOnceAndItsRemovalIsMade() async {
    await cache.store(entry("cat"), for: key("a"))
    store.isBlocking.withLock { $0 = true }
    // The thread of the store is busy.
    let busy = Task { [cache] in await cache.peek(key("c")) }
    await store.calls.reaches(2)
    let look = Task { [cache] in await cache.entry(for: key("a")) }
    let removal = Task { [cache] in await cache.remove(key("a")) }
    look.cancel()
    removal.cancel()
    #expect(await look.value == nil)

    store.isBlocking.withLock { $0 = false }
    store.gate.open()
    await removal.value
    #expect(await busy.value == nil)
    #expect(await !cache.contains(key("a")))
  }
}
