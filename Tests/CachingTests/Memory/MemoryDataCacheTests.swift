import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

struct MemoryDataCacheTests {
  private func data(_ count: Int, _ byte: UInt8 = 1, kind: CachedData.Kind = .original) -> CachedData {
    let bytes = Data(repeating: byte, count: count)
    return CachedData(data: bytes, kind: kind, contentID: ContentID(of: bytes), stored: Date(timeIntervalSince1970: 0))
  }

  @Test
  func whatIsStoredIsFoundListedAndRemoved() async {
    let cache = MemoryDataCache(sizeLimit: 10_000, memoryPressure: nil)
    await cache.store(data(100), for: key(1))
    await cache.store(data(200, kind: .finished), for: key(2))
    #expect(await cache.entry(for: key(1)) == data(100))
    #expect(await cache.entry(for: key(3)) == nil)
    #expect(await cache.contains(key(2)))
    let entries = await cache.entries().sorted { $0.byteCount < $1.byteCount }
    #expect(entries.map(\.key) == [key(1), key(2)])
    #expect(entries.map(\.hits) == [2, 1])
    let statistics = await cache.statistics()
    #expect((statistics.entries, statistics.originals, statistics.finished) == (2, 1, 1))
    #expect((statistics.hits, statistics.misses) == (1, 1))
    #expect(statistics.bytes == 300 + key(1).bytes.count + key(2).bytes.count)
    await cache.remove(key(1))
    #expect(await !cache.contains(key(1)))
    await cache.removeAll()
    #expect(await cache.entries().isEmpty)
  }

  @Test
  func onlyTheContentThatIsMeantIsRenewed() async {
    let cache = MemoryDataCache(sizeLimit: 10_000, memoryPressure: nil)
    await cache.store(data(100), for: key(1))
    let later = Date(timeIntervalSince1970: 1000)
    let other = data(100, 2).contentID
    #expect(await !cache.renew(key(1), contentID: other, expires: later, metadata: Data([1])))
    #expect(await !cache.renew(key(2), contentID: other, expires: later, metadata: Data([1])))
    #expect(await cache.renew(key(1), contentID: data(100).contentID, expires: later, metadata: Data([1])))
    let entry = await cache.entry(for: key(1))
    #expect((entry?.expires, entry?.metadata, entry?.data) == (later, Data([1]), data(100).data))
  }

  @Test
  func theLimitHoldsAndWhatIsTooLargeIsNotKept() async {
    let cache = MemoryDataCache(sizeLimit: 8000, memoryPressure: nil)
    await cache.store(data(100), for: key(0))
    await cache.store(data(1001), for: key(0))
    #expect(await !cache.contains(key(0)))
    for number in 0..<50 {
      await cache.store(data(500), for: key(number))
      #expect(await cache.statistics().bytes <= 8000)
    }
    #expect(await cache.statistics().evictions > 30)
  }

  @Test
  func memoryThatIsScarceIsGivenBack() async {
    let pressure = ManualMemoryPressure()
    let cache = MemoryDataCache(sizeLimit: 10_000, memoryPressure: pressure)
    await cache.store(data(100), for: key(1))
    pressure.tell(.critical)
    #expect(await !cache.contains(key(1)))
  }

  @Test
  func inFrontOfAnotherItAnswersFirst() async {
    let (front, back) = (MemoryDataCache(sizeLimit: 10_000, memoryPressure: nil), CountingDataCache())
    let both = TieredDataCache([.local(front), .local(back)])
    await both.store(data(100), for: key(1))
    #expect(await both.entry(for: key(1)) == data(100))
    #expect(back.counts.reads == 0)
    await front.removeAll()
    #expect(await both.entry(for: key(1)) == data(100))
  }
}
