import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineCaching

/// Random histories of a cache beside a simple model, which says what is left after each step.
struct MemoryModelTests {
  @Test(arguments: [Eviction.score, .leastRecentlyUsed], 0..<6)
  func aCacheHasWhatTheModelHasAfterEachStep(eviction: Eviction, seed: Int) {
    var history = MemoryHistory(eviction, seed: UInt64(seed))
    for step in 0..<1500 {
      history.take(step)
      guard history.isEqual else {
        Issue.record("\(eviction), seed \(seed): the cache differs from the model after step \(step)")
        return
      }
    }
  }

  @Test
  func onSeveralThreadsLimitsHoldHeldEntriesStayAndNothingIsLost() {
    final class Thing: Sendable {
      let number: Int
      let alive: Lock<Int>
      init(_ number: Int, _ alive: Lock<Int>) {
        (self.number, self.alive) = (number, alive)
        alive.withLock { $0 += 1 }
      }
      deinit { alive.withLock { $0 -= 1 } }
    }
    let alive = Lock(0)
    let cache = MemoryCache<Thing>(costLimit: 20_000, countLimit: 400)
    onThreads(8) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      // The thread's own keys, which no other removes; half of the limits, for all threads together.
      let owned = (0..<20).map { 1000 * (thread + 1) + $0 }
      var holds: [Int: MemoryCacheHold] = [:]
      for step in 0..<600 {
        let (own, number) = (owned[random.below(20)], random.below(500))
        switch random.below(10) {
        case 0..<3:
          if let thing = cache.value(for: key(number)), thing.number != number { Issue.record("a wrong value") }
        case 3..<6:
          cache.store(Thing(number, alive), for: key(number), cost: number % 300, group: key(5000 + number % 9))
        case 6..<8:
          // A held entry is not replaced, since the hold would end.
          guard holds[own] == nil, cache.store(Thing(own, alive), for: key(own), cost: 60) else { continue }
          holds[own] = cache.hold(key(own))
        case 8: cache.remove(key(number))
        default:
          holds[own] = nil
          if step % 50 == 0 { cache.trim(under: .critical) }
        }
        let statistics = cache.statistics
        if statistics.cost > 20_000 || statistics.count > 400 { Issue.record("over a limit") }
        for held in holds.keys where !cache.contains(key(held)) { Issue.record("a held entry has left") }
      }
    }
    let (kept, statistics) = (cache.entries(), cache.statistics)
    #expect(kept.count == statistics.count)
    #expect(kept.allSatisfy { $0.key == key($0.value.number) })
    #expect(kept.reduce(0) { $0 + ($1.value.number < 500 ? $1.value.number % 300 : 60) } == statistics.cost)
    #expect(alive.withLock { $0 } == kept.count)
    #expect((0..<9).reduce(0) { $0 + cache.variants(of: key(5000 + $1)).count } == kept.count { $0.value.number < 500 })
  }

  @Test
  func aGroupListsItsMembersTheNewestFirstAndForgetsThoseThatLeft() {
    var groups = MemoryGroups()
    let (cats, dogs) = (key(1), key(2))
    let numbers = (10..<14).map { groups.add(key($0), to: cats) }
    let dog = groups.add(key(20), to: dogs)
    #expect(groups.members(of: cats).map(\.key) == [13, 12, 11, 10].map(key))
    for number in [numbers[3], numbers[1]] { groups.remove(number, of: cats) }
    #expect(groups.members(of: cats).map(\.key) == [12, 10].map(key))
    // No number is used again: a late removal finds nothing, also in another group.
    #expect(!(numbers + [dog]).contains(groups.add(key(21), to: dogs)))
    groups.remove(numbers[1], of: dogs)
    #expect(groups.members(of: dogs).map(\.key) == [21, 20].map(key))
    groups.remove(numbers[0], of: cats)
    #expect(groups.members(of: cats).map(\.key) == [key(12)])
    groups.remove(numbers[2], of: cats)
    #expect(groups.members(of: cats).isEmpty)
    groups.remove(dog, of: dogs)
    #expect(groups.members(of: dogs).map(\.key) == [key(21)])
  }
}

/// A cache and a model, to which the same happens.
private struct MemoryHistory {
  private var random: SplitMix64
  private let clock = ManualClock()
  private let cache: MemoryCache<Int>
  private var model: MemoryModel
  private var holds: [(token: MemoryCacheHold, number: Int, id: Int)] = []

  init(_ eviction: Eviction, seed: UInt64) {
    (random, model) = (SplitMix64(seed: seed), MemoryModel(eviction))
    cache = MemoryCache(costLimit: 1000, countLimit: 30, entryCostLimit: 700, eviction: eviction, clock: clock)
  }

  mutating func take(_ step: Int) {
    let number = random.below(60)
    switch random.below(100) {
    case 0..<30: look(number)
    case 30..<70: store(step, number)
    case 70..<76:
      #expect(cache.remove(key(number)) == model.entries[number]?.value)
      model.entries[number] = nil
    case 76..<84: hold(number)
    case 84..<90:
      guard !holds.isEmpty else { return }
      let gone = holds.remove(at: random.below(holds.count))
      if model.entries[gone.number]?.id == gone.id { model.entries[gone.number]?.holds -= 1 }
    case 90: clock.advance(by: .seconds(random.below(10)))
    case 91..<94: trim()
    case 94:
      if random.below(2) == 0 { cache.trim(under: .critical) } else { cache.removeAllUnheld() }
      model.entries = model.entries.filter { $0.value.holds > 0 }
    case 95:
      cache.removeAll { _, value in value % 7 == 0 }
      model.entries = model.entries.filter { $0.value.value % 7 != 0 }
    case 96..<98: limit()
    case 98: change(group: random.below(5))
    default:
      guard random.below(5) == 0 else { return }
      cache.removeAll()
      model.entries = [:]
    }
  }

  private func isFresh(_ number: Int) -> Bool { model.entries[number].map { $0.expires > clock.now } ?? false }

  private mutating func look(_ number: Int) {
    let isFresh = isFresh(number)
    #expect(cache.value(for: key(number)) == (isFresh ? model.entries[number]?.value : nil))
    if isFresh { model.use(number) } else { model.entries[number] = nil }
  }

  private mutating func store(_ value: Int, _ number: Int) {
    let cost = random.below(8) == 0 ? random.below(1100) : random.below(80)
    let expires = clock.now.addingTimeInterval(random.below(4) == 0 ? Double(random.below(20)) : 1e6)
    let group = random.below(5)
    let isStored = cache.store(value, for: key(number), cost: cost, group: key(1000 + group), expiration: .at(expires))
    let entry = MemoryModel.Entry(value: value, cost: cost, group: group, expires: expires)
    #expect(isStored == model.store(entry, number, at: clock.now))
  }

  private mutating func hold(_ number: Int) {
    let token = cache.hold(key(number))
    #expect((token != nil) == isFresh(number))
    guard let token, let found = model.entries[number] else { return }
    holds.append((token, number, found.id))
    model.entries[number]?.holds += 1
  }

  private mutating func trim() {
    switch random.below(3) {
    case 0:
      let cost = random.below(1000)
      cache.trim(toCost: cost)
      model.trim(toCost: cost, toCount: .max)
    case 1:
      let count = random.below(30)
      cache.trim(toCount: count)
      model.trim(toCost: .max, toCount: count)
    default:
      cache.trim(under: .low)
      model.trim(toCost: model.cost / 2, toCount: .max)
    }
  }

  private mutating func limit() {
    let (cost, count) = (500 + random.below(1000), 10 + random.below(30))
    if random.below(2) == 0 {
      cache.costLimit = cost
      model.setLimits { $0.costLimit = cost }
    } else {
      cache.countLimit = count
      model.setLimits { $0.countLimit = count }
    }
  }

  private mutating func change(group: Int) {
    cache.updateVariants(of: key(1000 + group)) { $0.value % 3 == 0 ? nil : $0.value + 1_000_000 }
    for (number, entry) in model.entries where entry.group == group && isFresh(number) {
      if entry.value % 3 == 0 { model.entries[number] = nil } else { model.entries[number]?.value += 1_000_000 }
    }
  }

  var isEqual: Bool {
    let kept = Dictionary(uniqueKeysWithValues: cache.entries().map { ($0.key, $0) })
    let (statistics, expected, now) = (cache.statistics, model.entries, clock.now)
    let isSame = expected.allSatisfy { number, entry in
      kept[key(number)].map { ($0.value, $0.uses) == (entry.value, entry.uses) } ?? false
    }
    let areGroups = (0..<5).allSatisfy { group in
      let variants = expected.values.filter { $0.group == group && $0.expires > now }.sorted { $0.id > $1.id }
      return cache.variants(of: key(1000 + group)).map(\.value) == variants.map(\.value)
    }
    return isSame && areGroups && kept.count == expected.count
      && (statistics.count, statistics.cost) == (expected.count, model.cost)
      && statistics.cost <= cache.costLimit && statistics.count <= cache.countLimit
  }
}

/// What a cache of one thread must have, told without shards.
private struct MemoryModel {
  struct Entry {
    var value: Int
    var cost: Int
    var group: Int
    var expires: Date
    var id = 0
    var uses = 0
    var lastUse = 0
    var holds = 0
  }

  let eviction: Eviction
  var costLimit = 1000
  var countLimit = 30
  var entries: [Int: Entry] = [:]
  private var now = 0

  init(_ eviction: Eviction) { self.eviction = eviction }

  var cost: Int { entries.values.reduce(0) { $0 + $1.cost } }

  mutating func use(_ number: Int) {
    now += 1
    entries[number]?.lastUse = now
    entries[number]?.uses += 1
  }

  mutating func store(_ entry: Entry, _ number: Int, at date: Date) -> Bool {
    let older = entries[number]
    let need = (cost: entry.cost - (older?.cost ?? 0), count: older == nil ? 1 : 0)
    let isAllowed = entry.cost <= min(costLimit, 700) && entry.expires > date
    if isAllowed { makeRoom(need.cost, need.count, sparing: number) }
    guard isAllowed, cost + need.cost <= costLimit, entries.count + need.count <= countLimit else {
      entries[number] = nil
      return false
    }
    entries[number] = entry
    entries[number]?.uses = older?.uses ?? 0
    use(number)
    entries[number]?.id = now
    return true
  }

  mutating func setLimits(_ change: (inout MemoryModel) -> Void) {
    change(&self)
    makeRoom(0, 0, sparing: nil)
    evict(toCost: costLimit, toCount: countLimit, includingHeld: true)
  }

  mutating func trim(toCost cost: Int, toCount count: Int) {
    evict(toCost: cost, toCount: count, includingHeld: false)
    evict(toCost: cost, toCount: count, includingHeld: true)
  }

  /// Evicts down to 95 % of the limits that would be exceeded.
  private mutating func makeRoom(_ cost: Int, _ count: Int, sparing number: Int?) {
    evict(
      toCost: self.cost + cost > costLimit ? max(0, costLimit - costLimit / 20 - cost) : .max,
      toCount: entries.count + count > countLimit ? max(0, countLimit - countLimit / 20 - count) : .max,
      includingHeld: false,
      sparing: number,
    )
  }

  private mutating func evict(toCost cost: Int, toCount count: Int, includingHeld: Bool, sparing number: Int? = nil) {
    let score = EvictionScore(fixedCost: 400_000)
    let order = entries.filter { $0.key != number && (includingHeld || $0.value.holds == 0) }
      .map { number, entry -> (number: Int, rank: Float, age: Int) in
        let age = now - entry.lastUse
        let scored = score.score(age: UInt32(age), size: max(entry.cost, 1), hits: UInt32(entry.uses))
        return (number, eviction == .score ? scored : Float(age), age)
      }
      .sorted { ($0.rank, $0.age) > ($1.rank, $1.age) }
    for (number, _, _) in order {
      guard self.cost > cost || entries.count > count else { return }
      entries[number] = nil
    }
  }
}
