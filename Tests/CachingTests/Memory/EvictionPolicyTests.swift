import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport

/// Each policy beside what its paper says, one entry leaving at a time.
struct EvictionPolicyTests {
  /// Asks a cache of `count` entries of one size for numbers in turn, and returns those that were there.
  private func hits(_ numbers: [Int], count: Int, _ eviction: Eviction) -> [Bool] {
    let cache = MemoryCache<Int>(costLimit: .max, eviction: eviction)
    return numbers.map { number in
      if cache.value(for: key(number)) != nil { return true }
      cache.trim(toCount: count - 1)
      cache.set(number, for: key(number), cost: 1)
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

  @Test
  func sieveEvictsWhatItsHandFindsNotUsed() {
    // From the oldest to the newest, as in the paper, where the head is the newest.
    var queue: [(number: Int, isVisited: Bool)] = []
    var hand = 0
    let numbers = requests(3000, among: 100)
    let expected = numbers.map { number in
      if let index = queue.firstIndex(where: { $0.number == number }) {
        queue[index].isVisited = true
        return true
      }
      if queue.count == 30 {
        if hand >= queue.count { hand = 0 }
        while queue[hand].isVisited {
          queue[hand].isVisited = false
          hand = (hand + 1) % queue.count
        }
        queue.remove(at: hand)
      }
      // A hand that is past the newest begins anew at the oldest, and so it does not stay where the next one comes in.
      if hand == queue.count { hand = 0 }
      queue.append((number, false))
      return false
    }
    #expect(hits(numbers, count: 30, .sieve) == expected)
  }

  @Test
  func s3FIFOEvictsNewcomersThatNobodyWantsAndLetsThemBackAmongTheOthers() {
    let numbers = Array(0..<20) + [0, 0, 1, 1] + Array(100..<118) + [0, 1, 5, 5, 5] + Array(200..<218) + [0, 1, 5]
    let found = hits(numbers, count: 20, .s3FIFO)
    // 0 and 1 were used twice when they were new, so what passes by does not evict them.
    #expect(found.suffix(3).prefix(2) == [true, true])
    // 5 had left, was remembered, and went among the others at once.
    #expect(Array(found[(20 + 4 + 18)...].prefix(5)) == [true, true, false, true, true])
    #expect(found.last == true)
  }

  @Test
  func greedyDualSizeFrequencyEvictsTheLowestValue() {
    var random = SplitMix64(seed: 5)
    let sizes = (0..<100).map { _ in Int.random(in: 1_000...2_000_000, using: &random) }
    let numbers = requests(3000, among: 100)
    // By the paper: the value of an entry is set when it is used, from the inflation at that time.
    var kept: [Int: (value: Double, uses: Int)] = [:]
    var inflation = 0.0
    func value(_ number: Int, uses: Int) -> Double {
      inflation + Double(uses) * (400_000 + Double(sizes[number])) / Double(sizes[number])
    }
    let expected = numbers.map { number in
      let isHit = kept[number] != nil
      if !isHit, kept.count == 30, let lowest = kept.min(by: { $0.value.value < $1.value.value }) {
        inflation = lowest.value.value
        kept[lowest.key] = nil
      }
      let uses = (kept[number]?.uses ?? 0) + 1
      kept[number] = (value(number, uses: uses), uses)
      return isHit
    }
    let cache = MemoryCache<Int>(costLimit: .max, eviction: .greedyDualSizeFrequency)
    let found = numbers.map { number in
      if cache.value(for: key(number)) != nil { return true }
      cache.trim(toCount: 29)
      cache.set(number, for: key(number), cost: sizes[number])
      return false
    }
    #expect(found == expected)
  }

  @Test(arguments: ["score", "leastRecentlyUsed", "sieve", "s3FIFO", "greedyDualSizeFrequency"])
  func everyPolicyKeepsToTheLimitsAndLeavesWhatIsHeld(name: String) {
    let cache = MemoryCache<Int>(costLimit: 10_000, countLimit: 50, eviction: eviction(name))
    cache.set(-1, for: key(-1), cost: 500)
    cache.set(-2, for: key(-2), cost: 500)
    let holds = [cache.hold(key(-1)), cache.hold(key(-2))]
    for number in requests(2000, among: 300) {
      if cache.value(for: key(number)) == nil {
        #expect(cache.set(number, for: key(number), cost: 100 + 7 * (number % 50)))
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

  @Test
  func aPolicyOfOnesOwnIsAskedAndOneThatSaysNothingIsMadeUpFor() {
    final class Newest: EvictionPolicy {
      var order: [Int] = []
      func insert(_ entry: EvictionCandidate, into place: Int) { order.append(place) }
      func remove(_ place: Int) { order.removeAll { $0 == place } }
      func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
        [-1, 1 << 40] + order.reversed().filter { candidates[$0]?.isEvictable == true }
      }
    }
    final class Silent: EvictionPolicy {
      func insert(_ entry: EvictionCandidate, into place: Int) {}
      func remove(_ place: Int) {}
      func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] { [] }
    }
    for (eviction, kept) in [(Eviction { Newest() }, 0..<5), (Eviction { Silent() }, 5..<10)] {
      let cache = MemoryCache<Int>(costLimit: 100, eviction: eviction)
      for number in 0..<10 { cache.set(number, for: key(number), cost: 1) }
      cache.trim(toCount: 5)
      #expect((0..<10).filter { cache.contains(key($0)) } == Array(kept))
    }
  }
}
