import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineCaching

/// Both caches under everything at once, for VITRINE_SOAK_SECONDS; without, for so many operations as take about one.
struct SoakTests {
  private static let seconds = ProcessInfo.processInfo.environment["VITRINE_SOAK_SECONDS"].flatMap { Double($0) } ?? 0
  private static let operations = 300

  private static func goesOn(_ number: Int, _ start: ContinuousClock.Instant) -> Bool {
    number < operations || start.duration(to: .now) < .seconds(seconds)
  }

  @Test
  func theDiskCacheAgreesWithItselfUnderEverythingAtOnce() async throws {
    let folder = try Folder()
    let limit = 4 << 20
    var options = DiskOptions(sizeLimit: limit)
    options.syncInterval = .milliseconds(2)
    let cache = try DiskCache(directory: folder.cache, options: options, files: SystemFiles(), clock: .system)
    let start = ContinuousClock.now
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          var random = SplitMix64(seed: UInt64(task))
          var number = 0
          while Self.goesOn(number, start) {
            await Self.step(cache, &random)
            number += 1
          }
        }
      }
    }
    await cache.flush()
    #expect(folder.bytes <= limit + limit / 20)
    #expect(await cache.verify().damaged.isEmpty)
    // The sums that are kept are those of what there is.
    #expect(cache.shared.withLock { $0.isConsistent })
    let statistics = await cache.statistics()
    #expect(statistics.damaged == 0)
    let kept = await cache.entries()
    #expect(statistics.entries == kept.count)
    await cache.close()
    let again = try folder.cache(limit)
    #expect(Set(await again.entries().map(\.key)) == Set(kept.map(\.key)))
  }

  private static func step(_ cache: DiskCache, _ random: inout SplitMix64) async {
    let number = Int.random(in: 0..<200, using: &random)
    let version = Int.random(in: 0..<3, using: &random)
    switch Int.random(in: 0..<1000, using: &random) {
    case 0..<450:
      guard let found = await cache.entry(for: key(number)) else { return }
      if !Promises.isWhole(number, found) { Issue.record("wrong bytes") }
    case 450..<750:
      let size = Int.random(in: 0..<20_000, using: &random)
      let kind: CachedData.Kind = version == 0 ? .finished : .original
      await cache.store(Promises.entry(number, size, version: version, kind: kind), for: key(number))
    case 750..<770: await cache.store(Promises.entry(number, 90_000, version: version), for: key(number))
    case 770..<850: await cache.remove(key(number))
    case 850..<900:
      let data = content(number, 100_000, version: version)
      let metadata = Data(Promises.metadata(number, version, data.count).utf8)
      if version == 0 {
        let writer = await cache.bodyWriter(for: key(number))
        await writer.append(data)
        if number % 2 == 0 { await writer.seal(metadata: metadata, stored: .now) }
      } else {
        let part = await cache.partial(for: key(number))
        if let part, await part.bytes(0..<part.count)?.count != part.count { Issue.record("a part is short") }
        let writer = await cache.partialWriter(for: key(number), metadata: Data(), after: nil)
        await writer?.append(data)
        if version == 1 { await writer?.keep() } else { await writer?.seal(metadata: metadata, stored: .now) }
      }
    case 900..<950:
      guard let known = await cache.entry(for: key(number)) else { return }
      await cache.renew(key(number), contentID: known.contentID, expires: .now, metadata: known.metadata)
    case 950..<985: await cache.flush()
    case 985..<990: await cache.trim(to: 1 << 20)
    case 990..<995: _ = await cache.verify()
    case 995..<998: _ = await cache.entries()
    default: await cache.removeAll()
    }
  }

  @Test
  func theMemoryCacheAgreesWithItselfUnderEverythingAtOnce() {
    let cache = MemoryCache<Int>(costLimit: 50_000, countLimit: 300)
    let start = ContinuousClock.now
    onThreads(8) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      var number = 0
      while Self.goesOn(number / 30, start) {
        number += 1
        Self.step(cache, &random)
        let statistics = cache.statistics
        if statistics.cost > 50_000 || statistics.count > 300 { Issue.record("over a limit") }
      }
    }
    let kept = (0..<500).filter { cache.contains(key($0)) }
    #expect((cache.statistics.count, cache.statistics.cost) == (kept.count, kept.reduce(0, +)))
    cache.removeAll()
    #expect((cache.statistics.count, cache.statistics.cost) == (0, 0))
  }

  private static func step(_ cache: MemoryCache<Int>, _ random: inout SplitMix64) {
    let number = Int.random(in: 0..<500, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<45: if let value = cache.value(for: key(number)), value != number { Issue.record("a wrong value") }
    case 45..<80: cache.store(number, for: key(number), cost: number, group: key(number % 20))
    case 80..<88: cache.remove(key(number))
    case 88..<93:
      let hold = cache.hold(key(number))
      for variant in cache.variants(of: key(number % 20)) where variant.value % 20 != number % 20 {
        Issue.record("a variant of another")
      }
      withExtendedLifetime(hold) {}
    case 93..<97: cache.trim(toCost: Int.random(in: 0...50_000, using: &random))
    case 97: cache.removeAllUnheld()
    case 98: cache.removeAll { _, value in value % 7 == 0 }
    default: cache.removeAll()
    }
  }
}
