import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineCaching

struct MemoryCacheTests {
  private func filled(_ count: Int, cost: Int = 10, limit: Int = 1000) -> MemoryCache<Int> {
    let cache = MemoryCache<Int>(costLimit: limit)
    for number in 0..<count { cache.store(number, for: key(number), cost: cost) }
    return cache
  }

  private func present(_ cache: MemoryCache<Int>, _ numbers: Range<Int>) -> [Int] {
    numbers.filter { cache.contains(key($0)) }
  }

  @Test
  func setGetReplaceAndRemoveKeepCountAndCostRight() {
    let cache = filled(3)
    #expect(cache.value(for: key(1)) == 1)
    #expect(cache.value(for: key(3)) == nil)
    cache.store(11, for: key(1), cost: 50)
    #expect(cache.value(for: key(1)) == 11)
    #expect((cache.statistics.count, cache.statistics.cost) == (3, 70))
    #expect(cache.remove(key(1)) == 11)
    #expect(cache.remove(key(1)) == nil)
    #expect((cache.statistics.count, cache.statistics.cost) == (2, 20))
    cache.removeAll()
    #expect((cache.statistics.count, cache.statistics.cost) == (0, 0))
    #expect((cache.statistics.hits, cache.statistics.misses, cache.statistics.insertions) == (2, 1, 4))
    #expect(cache.statistics.removals == 3)
  }

  @Test
  func replacingCountsAsUse() {
    let cache = filled(100)
    cache.store(0, for: key(0), cost: 10)
    cache.store(100, for: key(100), cost: 10)
    // 1,010 bytes are 60 over 95 %: six of the oldest go, and the replaced one is not among them.
    #expect(present(cache, 0..<101) == [0] + Array(7...100))
  }

  @Test
  func overTheLimitItShrinksTo95PercentAtOnce() {
    let cache = filled(101)
    #expect(cache.statistics.cost == 950)
    #expect(cache.statistics.evictionsByLimit == 6)
    #expect(present(cache, 0..<101) == Array(6...100))
  }

  @Test
  func theOftenUsedStayAndTheLargeGoFirst() {
    let cache = MemoryCache<Int>(costLimit: 3_000_000)
    cache.store(0, for: key(0), cost: 1_000_000)
    cache.store(1, for: key(1), cost: 100_000)
    cache.store(2, for: key(2), cost: 1_000_000)
    for _ in 0..<9 { #expect(cache.value(for: key(0)) == 0) }
    cache.store(3, for: key(3), cost: 950_000)
    // key(1) is as old as key(2) but small, key(0) was used ten times.
    #expect(present(cache, 0..<4) == [0, 1, 3])
  }

  @Test
  func theOrderOfEvictionIsThatOfTheScores() {
    // Sizes, and how often each is used afterwards; the last use of all is at a different time each.
    var random = SplitMix64(seed: 7)
    let costs = (0..<60).map { _ in Int.random(in: 1_000...2_000_000, using: &random) }
    let cache = MemoryCache<Int>(costLimit: .max)
    var uses: [(last: Int, hits: Int)] = []
    var tick = 0
    for number in costs.indices {
      cache.store(number, for: key(number), cost: costs[number])
      tick += 1
      uses.append((tick, 1))
    }
    for _ in 0..<300 {
      let number = Int.random(in: costs.indices, using: &random)
      #expect(cache.value(for: key(number)) == number)
      tick += 1
      uses[number] = (tick, uses[number].hits + 1)
    }
    let score = EvictionScore(fixedCost: 400_000)
    let order = costs.indices.sorted {
      let (left, right) = (uses[$0], uses[$1])
      return score.score(age: UInt32(tick - left.last), size: costs[$0], hits: UInt32(left.hits))
        > score.score(age: UInt32(tick - right.last), size: costs[$1], hits: UInt32(right.hits))
    }
    for gone in 1...60 {
      cache.trim(toCount: 60 - gone)
      #expect(Set(present(cache, 0..<60)) == Set(order[gone...]))
    }
  }

  @Test
  func loweringALimitTrimsAtOnce() {
    let cache = filled(100)
    cache.costLimit = 500
    #expect(cache.statistics.cost == 470)
  }

  @Test
  func aCountLimitHoldsToo() {
    let cache = MemoryCache<Int>(costLimit: .max, countLimit: 40)
    for number in 0..<100 {
      cache.store(number, for: key(number), cost: number)
      #expect(cache.statistics.count <= 40)
    }
    cache.countLimit = 20
    #expect(cache.statistics.count == 19)
    cache.countLimit = 1
    #expect(cache.statistics.count == 1)
  }

  @Test
  func aLimitOfZeroStoresNothing() {
    for cache in [MemoryCache<Int>(costLimit: 0), MemoryCache<Int>(costLimit: 10, countLimit: 0)] {
      #expect(!cache.store(1, for: key(1), cost: 0))
      #expect(cache.value(for: key(1)) == nil)
    }
    let cache = filled(5)
    cache.costLimit = 0
    #expect(cache.statistics.count == 0)
  }

  @Test
  func anEntryOverTheLimitIsRefusedAndItsOlderSelfRemoved() {
    let cache = MemoryCache<Int>(costLimit: 100, entryCostLimit: 50)
    #expect(cache.store(1, for: key(1), cost: 50))
    #expect(!cache.store(2, for: key(1), cost: 51))
    #expect(cache.value(for: key(1)) == nil)
    cache.entryCostLimit = .max
    #expect(cache.store(1, for: key(1), cost: 100))
    #expect(!cache.store(1, for: key(1), cost: 101))
    #expect(cache.statistics.refusals == 2)
    #expect(cache.statistics.cost == 0)
  }

  @Test
  func anEntryAsLargeAsTheLimitStays() {
    let cache = filled(100)
    #expect(cache.store(-1, for: key(-1), cost: 1000))
    #expect(cache.statistics.count == 1)
    #expect(cache.value(for: key(-1)) == -1)
  }

  @Test
  func expiredEntriesAreNotReturned() {
    let clock = ManualClock()
    let cache = MemoryCache<Int>(costLimit: 100, expiration: .after(.seconds(10)), clock: clock)
    cache.store(1, for: key(1), cost: 1)
    cache.store(2, for: key(2), cost: 1, expiration: .after(.seconds(20)))
    cache.store(3, for: key(3), cost: 1, expiration: .never)
    cache.store(4, for: key(4), cost: 1, expiration: .at(clock.now.addingTimeInterval(5)))
    #expect(!cache.store(5, for: key(5), cost: 1, expiration: .after(.zero)))
    clock.advance(by: .seconds(5))
    #expect(present(cache, 1..<6) == [1, 2, 3])
    clock.advance(by: .seconds(5))
    #expect(cache.value(for: key(1)) == nil)
    #expect(cache.value(for: key(2)) == 2)
    clock.advance(by: .seconds(10))
    #expect(cache.hold(key(2)) == nil)
    #expect(cache.value(for: key(3)) == 3)
    #expect(cache.statistics.evictionsByExpiry == 1)
  }

  @Test
  func whatIsHeldGoesLastAndCountsOnce() {
    let cache = filled(100)
    let holds = [cache.hold(key(0)), cache.hold(key(0)), cache.hold(key(1))]
    #expect(cache.statistics.cost == 1000)
    cache.store(100, for: key(100), cost: 10)
    #expect(present(cache, 0..<101) == [0, 1] + Array(8...100))
    cache.trim(toCost: 10)
    #expect(cache.statistics.count == 1)
    _ = holds
  }

  @Test
  func underPressureAllButWhatIsInUseGoes() {
    let cache = filled(10)
    do {
      let hold = cache.hold(key(4))
      #expect(hold != nil)
      cache.removeAllUnheld()
      #expect(present(cache, 0..<10) == [4])
    }
    cache.removeAllUnheld()
    #expect(cache.statistics.count == 0)
    #expect(cache.hold(key(4)) == nil)
  }

  @Test
  func whereMemoryIsLowHalfOfItGoesAndWhereItIsCriticalAllThatIsNotHeld() {
    let cache = filled(100)
    let pressure = ManualMemoryPressure()
    let hold = cache.hold(key(3))
    do {
      let observation = cache.trims(under: pressure)
      pressure.tell(.low)
      // The oldest went, but for the one that is held.
      #expect(present(cache, 0..<100) == [3] + Array(51..<100))
      pressure.tell(.critical)
      #expect(present(cache, 0..<100) == [3])
      #expect(cache.statistics.evictionsByPressure == 99)
      withExtendedLifetime(observation) {}
    }
    #expect(pressure.observerCount == 0)
    for number in 0..<100 { cache.store(number, for: key(number), cost: 10) }
    pressure.tell(.critical)
    #expect(cache.statistics.count == 100)
    withExtendedLifetime(hold) {}
  }

  @Test
  func whatIsHeldIsTrimmedToHalfOnlyWhenNothingElseIsLeft() {
    let cache = filled(4)
    let holds = (0..<4).map { cache.hold(key($0)) }
    cache.trim(under: .low)
    #expect(present(cache, 0..<4) == [2, 3])
    cache.trim(under: .critical)
    #expect(present(cache, 0..<4) == [2, 3])
    withExtendedLifetime(holds) {}
  }

  @Test
  func aCacheOfObjectsAndOneOfValuesGiveBackWhatWasStored() {
    final class Thing: Sendable {}
    let (objects, values) = (MemoryCache<Thing>(costLimit: 10), MemoryCache<[String]>(costLimit: 10))
    let thing = Thing()
    objects.store(thing, for: key(1), cost: 1, group: key(2))
    values.store(["a", "b"], for: key(1), cost: 1)
    #expect(objects.value(for: key(1)) === thing)
    #expect(objects.variants(of: key(2)).first?.value === thing)
    #expect(values.value(for: key(1)) == ["a", "b"])
    #expect(objects.remove(key(1)) === thing)
    #expect(values.remove(key(1)) == ["a", "b"])
  }

  @Test
  func whatIsEvictedIsReleased() {
    final class Thing: Sendable {}
    let cache = MemoryCache<Thing>(costLimit: 1000)
    weak var evicted: Thing?
    do {
      let thing = Thing()
      evicted = thing
      cache.store(thing, for: key(0), cost: 10)
    }
    #expect(evicted != nil)
    cache.removeAllUnheld()
    #expect(evicted == nil)
  }

  @Test
  func anotherThreadsUseCountsAtTheNextEviction() {
    let cache = filled(100)
    onThreads(1) { _ in for number in 0..<5 { #expect(cache.value(for: key(number)) == number) } }
    cache.store(100, for: key(100), cost: 10)
    // 5 to 10 are the oldest now.
    #expect(present(cache, 0..<101) == Array(0..<5) + Array(11...100))
  }

  @Test
  func aHoldConcernsOnlyTheEntryThatItWasTakenOf() {
    let cache = filled(1)
    let older = cache.hold(key(0))
    cache.store(1, for: key(0), cost: 10)
    cache.removeAllUnheld()
    #expect(cache.statistics.count == 0)
    cache.store(2, for: key(0), cost: 10)
    let newer = cache.hold(key(0))
    withExtendedLifetime(older) {}
    cache.removeAllUnheld()
    #expect(cache.value(for: key(0)) == 2)
    withExtendedLifetime(newer) {}
  }

  @Test
  func variantsOfOneImageAreFoundTogether() {
    let cache = MemoryCache<String>(costLimit: 1000)
    let (cat, dog) = (key(1), key(2))
    for (group, name) in [(cat, "cat"), (dog, "dog")] {
      for size in 1...3 {
        cache.store("\(name) \(size)", for: group.extended { $0.append(size) }, cost: size, group: group)
      }
    }
    cache.store("none", for: key(3), cost: 1)
    #expect(cache.variants(of: cat).map(\.value) == ["cat 3", "cat 2", "cat 1"])
    #expect(cache.variants(of: cat).map(\.cost) == [3, 2, 1])
    cache.remove(cat.extended { $0.append(2) })
    #expect(cache.variants(of: cat).map(\.value) == ["cat 3", "cat 1"])
    cache.store("cat 1 b", for: cat.extended { $0.append(1) }, cost: 5, group: cat)
    #expect(cache.variants(of: cat).map(\.value) == ["cat 1 b", "cat 3"])
    cache.store("cat 3 b", for: cat.extended { $0.append(3) }, cost: 5)
    #expect(cache.variants(of: cat).map(\.value) == ["cat 1 b"])
    cache.removeAll { key, value in value.hasPrefix("dog") }
    #expect(cache.variants(of: dog).isEmpty)
    #expect(cache.variants(of: key(3)).isEmpty)
    cache.removeAll()
    #expect(cache.variants(of: cat).isEmpty)
  }

  @Test
  func variantsAreChangedAndRemovedTogetherAndOthersAreLeftAlone() {
    let cache = MemoryCache<String>(costLimit: 100)
    let (cat, dog) = (key(1), key(2))
    cache.store("cat 1", for: key(11), cost: 1, group: cat)
    cache.store("cat 2", for: key(12), cost: 2, group: cat)
    cache.store("dog", for: key(21), cost: 4, group: dog)
    let hold = cache.hold(key(11))

    cache.updateVariants(of: cat) { variant in variant.value == "cat 1" ? "kitten" : nil }

    #expect(cache.variants(of: cat).map(\.value) == ["kitten"])
    #expect(cache.value(for: key(11)) == "kitten")
    #expect(cache.value(for: key(12)) == nil)
    #expect(cache.value(for: key(21)) == "dog")
    #expect(cache.statistics.cost == 5)
    cache.trim(toCount: 1)
    // A changed one is held as before.
    #expect(cache.value(for: key(11)) == "kitten")
    _ = hold
  }

  @Test
  func aVariantReplacedWhileItIsChangedStaysAsItWasReplaced() {
    let cache = MemoryCache<String>(costLimit: 100)
    cache.store("old", for: key(11), cost: 1, group: key(1))
    cache.updateVariants(of: key(1)) { _ in
      cache.store("new", for: key(11), cost: 1, group: key(1))
      return "changed"
    }
    #expect(cache.value(for: key(11)) == "new")
  }

  @Test
  func aValueMayUseTheCacheWhenItIsReleased() {
    final class Nosy: Sendable {
      let cache: MemoryCache<Nosy>
      init(_ cache: MemoryCache<Nosy>) { self.cache = cache }
      deinit { _ = cache.contains(key(0)) }
    }
    let cache = MemoryCache<Nosy>(costLimit: 100)
    for number in 0..<50 { cache.store(Nosy(cache), for: key(number), cost: 10) }
    cache.store(Nosy(cache), for: key(49), cost: 10)
    cache.costLimit = 50
    cache.removeAll { _, _ in true }
    #expect(cache.statistics.count == 0)
  }
}
