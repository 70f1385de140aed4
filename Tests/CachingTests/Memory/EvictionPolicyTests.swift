import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport

/// What the policies evict, one entry at a time.
struct EvictionPolicyTests {
  /// Asks a cache of `count` entries of one size for numbers in turn, and returns those that were there.
  private func hits(_ numbers: [Int], count: Int, _ eviction: Eviction) -> [Bool] {
    let cache = MemoryCache<Int>(costLimit: .max, eviction: eviction)
    return numbers.map { number in
      if cache.value(for: key(number)) != nil { return true }
      cache.trim(toCount: count - 1)
      cache.store(number, for: key(number), cost: 1)
      return false
    }
  }

  /// Some are wanted far more often than others.
  private func requests(_ count: Int, among kinds: Int) -> [Int] {
    var random = SplitMix64(seed: 3)
    return (0..<count).map { _ in Int(Double(kinds) * pow(Double.random(in: 0..<1, using: &random), 3)) }
  }

  @Test
  func leastRecentlyUsedEvictsTheOldest() {
    var kept: [Int] = []
    let numbers = requests(3000, among: 100)
    let expected = numbers.map { number in
      let isHit = kept.contains(number)
      kept.removeAll { $0 == number }
      if !isHit, kept.count == 30 { kept.removeFirst() }
      kept.append(number)
      return isHit
    }
    #expect(hits(numbers, count: 30, .leastRecentlyUsed) == expected)
  }

  @Test(arguments: [Eviction.score, .leastRecentlyUsed])
  func everyPolicyKeepsToTheLimitsAndLeavesWhatIsHeld(eviction: Eviction) {
    let cache = MemoryCache<Int>(costLimit: 10_000, countLimit: 50, eviction: eviction)
    cache.store(-1, for: key(-1), cost: 500)
    cache.store(-2, for: key(-2), cost: 500)
    let holds = [cache.hold(key(-1)), cache.hold(key(-2))]
    for number in requests(2000, among: 300) {
      if cache.value(for: key(number)) == nil {
        #expect(cache.store(number, for: key(number), cost: 100 + 7 * (number % 50)))
      }
      let statistics = cache.statistics
      #expect(statistics.cost <= 10_000)
      #expect(statistics.count <= 50)
    }
    #expect(cache.contains(key(-1)))
    #expect(cache.contains(key(-2)))
    // Where only what is held is left, that goes too.
    cache.trim(toCount: 0)
    #expect(cache.statistics.count == 0)
    withExtendedLifetime(holds) {}
  }
}
