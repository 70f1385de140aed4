import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineCaching

/// Whatever of a user's the cache calls or releases may call the cache.
@Suite(.patient)
struct MemoryReentrancyTests {
  /// Calls the cache when it is released.
  private final class Value: Sendable {
    private let cache: MemoryCache<Value>?

    init(_ cache: MemoryCache<Value>?) { self.cache = cache }

    deinit {
      _ = cache?.contains(key(1))
      cache?.remove(key(2000))
    }
  }

  @Test
  func valuesThatCallTheCacheWhenTheyAreReleasedHangNothing() {
    let cache = MemoryCache<Value>(costLimit: 1000, countLimit: 100)
    onThreads(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for _ in 0..<500 {
        let number = Int.random(in: 0..<200, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: cache.remove(key(number))
        case 1: cache.trim(toCost: 500)
        case 2: _ = cache.value(for: key(number))
        case 3: cache.removeAll { other, _ in other == key(number) }
        case 4: cache.updateVariants(of: key(number % 10)) { $0.key == key(number) ? nil : Value(cache) }
        default:
          let cost = Int.random(in: 1...30, using: &random)
          cache.store(Value(cache), for: key(number), cost: cost, group: key(number % 10))
        }
      }
    }
    #expect(cache.statistics.cost <= 1000)
    #expect(cache.statistics.count <= 100)
    cache.removeAll()
    #expect((cache.statistics.count, cache.statistics.cost) == (0, 0))
  }

  @Test
  func aClockThatCallsTheCacheHangsNothing() {
    final class Calling: TimeSource {
      let cache = Lock<MemoryCache<Int>?>(nil)
      var now: Date {
        if let cache = cache.withLock({ $0 }) {
          _ = cache.statistics
          cache.store(1, for: key(7), cost: 1)
        }
        return Date(timeIntervalSince1970: 1000)
      }
      var uptime: Duration { .zero }
      func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        ScheduledAction { false }
      }
    }
    let clock = Calling()
    let cache = MemoryCache<Int>(costLimit: 100, clock: clock)
    clock.cache.withLock { $0 = cache }
    cache.store(1, for: key(1), cost: 1, expiration: .at(Date(timeIntervalSince1970: 1001)))
    cache.store(2, for: key(2), cost: 1, expiration: .at(Date(timeIntervalSince1970: 999)))
    #expect(cache.value(for: key(1)) == 1)
    #expect(cache.value(for: key(2)) == nil)
    #expect(cache.contains(key(1)))
    #expect(cache.hold(key(1)) != nil)
    clock.cache.withLock { $0 = nil }
  }

  @Test
  func costsAndLimitsAsLargeAsANumberCanBeAddUp() {
    let cache = MemoryCache<Int>(costLimit: .max)
    // More than any limit counts: refused, and nothing is left of an older one.
    #expect(cache.store(0, for: key(0), cost: 1))
    #expect(!cache.store(0, for: key(0), cost: .max))
    #expect(!cache.contains(key(0)))
    for number in 0..<100 { cache.store(number, for: key(number), cost: .max / 5) }
    #expect(cache.statistics.count > 0)
    #expect(cache.statistics.cost <= .max / 2)
    cache.trim(under: .low)
    cache.trim(toCost: .max)
    cache.trim(toCount: .max)
    cache.costLimit = 10
    #expect(cache.statistics.cost <= 10)
    cache.countLimit = .max
    cache.costLimit = .max
    for number in 0..<1000 { #expect(cache.store(number, for: key(number), cost: number)) }
    #expect(cache.statistics.count == 1000)
    #expect(cache.costLimit == .max)
  }
}
