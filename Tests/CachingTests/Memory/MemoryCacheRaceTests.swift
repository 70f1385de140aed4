import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport

struct MemoryCacheRaceTests {
  private static let soakSeconds = ProcessInfo.processInfo.environment["VITRINE_SOAK_SECONDS"].flatMap { Int($0) }

  @Test(arguments: [Eviction.score, .leastRecentlyUsed])
  func totalsAgreeAfterRandomOperationsOnSixteenThreads(policy: Eviction) {
    // Over ten thousand operations for each policy, with a limit that is looked at after each.
    run(policy, until: { step in step >= 700 })
  }

  /// The same for as long as somebody wants, with `VITRINE_SOAK_SECONDS`.
  @Test(.enabled(if: soakSeconds != nil), arguments: [Eviction.score, .leastRecentlyUsed])
  func totalsAgreeAfterALongTime(policy: Eviction) throws {
    let end = systemUptime() + .seconds(try #require(Self.soakSeconds)) / 2
    run(policy, until: { _ in systemUptime() >= end })
  }

  private func run(_ policy: Eviction, until isOver: @escaping @Sendable (Int) -> Bool) {
    let cache = MemoryCache<Int>(costLimit: 20_000, countLimit: 300, eviction: policy)
    onThreads(16) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      var holds: [MemoryCacheHold] = []
      var step = 0
      while !isOver(step) {
        step += 1
        let number = Int.random(in: 0..<500, using: &random)
        switch random.next() % 10 {
        case 0..<4:
          if let value = cache.value(for: key(number)), value != number { Issue.record("a wrong value") }
        case 4..<8:
          cache.store(number, for: key(number), cost: number, group: key(number % 20))
        case 8:
          cache.remove(key(number))
        default:
          if let hold = cache.hold(key(number)) { holds.append(hold) }
          if step % 100 == 0 { cache.trim(toCost: 10_000) }
          if step % 500 == 0 { cache.trim(under: step % 1000 == 0 ? .critical : .low) }
          if cache.variants(of: key(number % 20)).contains(where: { $0.value % 20 != number % 20 }) {
            Issue.record("a wrong variant")
          }
          if holds.count > 10 { holds.removeAll() }
        }
        let statistics = cache.statistics
        if statistics.cost > 20_000 || statistics.count > 300 { Issue.record("over a limit") }
      }
    }
    let kept = (0..<500).filter { cache.contains(key($0)) }
    let statistics = cache.statistics
    #expect((statistics.count, statistics.cost) == (kept.count, kept.reduce(0, +)))
    #expect((0..<20).flatMap { cache.variants(of: key($0)).map(\.value) }.sorted() == kept)
    let left =
      statistics.evictionsByLimit + statistics.evictionsByTrimming + statistics.evictionsByPressure
      + statistics.removals
    #expect(statistics.insertions >= left + statistics.count)
    // Nothing is held any more, so nothing is kept back.
    cache.trim(under: .critical)
    #expect(cache.statistics.count == 0)
  }
}
