import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineCaching

/// Whatever of a user's the cache calls or releases may call the cache.
@Suite(.patient)
struct EvictionTurnsTests {
  /// Calls the cache whenever it is called, and sees to it that it is called by one thread at a time.
  private final class Meddling: EvictionPolicy, @unchecked Sendable {
    // Sendable, since the cache calls it by one thread at a time, and `state` is a lock.
    struct State {
      var cache: MemoryCache<Value>?
      var calls = 0
      var isBusy = false
      var overlaps = 0
      /// The places that are in use as far as it was told, and what it was told wrongly.
      var places: Set<Int> = []
      var surprises = 0
    }

    let state = Lock(State())

    private func called(_ change: (inout State) -> Void = { _ in }) {
      let (cache, number) = state.withLock { state in
        if state.isBusy { state.overlaps += 1 }
        state.isBusy = true
        state.calls += 1
        change(&state)
        return (state.cache, state.calls)
      }
      if let cache {
        _ = cache.value(for: key(number % 50))
        if number % 3 == 0 { cache.set(Value(cache), for: key(1000 + number % 7), cost: 10) }
        if number % 3 == 1 { cache.remove(key(1000 + (number + 3) % 7)) }
        if number % 5 == 0 { cache.trim(toCount: 90) }
        _ = cache.statistics
      }
      state.withLock { $0.isBusy = false }
    }

    func insert(_ entry: EvictionCandidate, into place: Int) { called { $0.places.insert(place) } }

    func remove(_ place: Int) {
      called { state in
        if state.places.remove(place) == nil { state.surprises += 1 }
      }
    }

    func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
      called()
      return candidates.numbers.filter { candidates[$0]?.isEvictable == true }
    }
  }

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
  func aPolicyAndValuesThatCallTheCacheHangNothing() {
    let policy = Meddling()
    let cache = MemoryCache<Value>(costLimit: 1000, countLimit: 100, eviction: Eviction { policy })
    policy.state.withLock { $0.cache = cache }
    onThreads(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for _ in 0..<500 {
        let number = Int.random(in: 0..<200, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: cache.remove(key(number))
        case 1: cache.trim(toCost: 500)
        case 2: _ = cache.value(for: key(number))
        case 3: cache.removeAll { other, _ in other == key(number) }
        default: cache.set(Value(cache), for: key(number), cost: .random(in: 1...30, using: &random))
        }
      }
    }
    // The next change has what is left told.
    cache.set(Value(nil), for: key(0), cost: 1)
    #expect(cache.statistics.cost <= 1000)
    #expect(cache.statistics.count <= 100)
    let state = policy.state.withLock { ($0.calls, $0.overlaps, $0.surprises) }
    #expect(state.0 > 100)
    #expect((state.1, state.2) == (0, 0))
    policy.state.withLock { $0.cache = nil }
    cache.removeAll()
  }

  @Test
  func aPolicyThatStoresWheneverSomethingIsStoredEndsAllTheSame() {
    final class Restless: EvictionPolicy, @unchecked Sendable {
      // Sendable, since it has nothing but a lock.
      let cache = Lock<MemoryCache<Int>?>(nil)
      func insert(_ entry: EvictionCandidate, into place: Int) { store(place) }
      func remove(_ place: Int) { store(place) }
      func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] {
        store(count)
        return []
      }
      private func store(_ number: Int) {
        cache.withLock { $0 }?.set(number, for: key(number % 3), cost: 40)
      }
    }
    let policy = Restless()
    let cache = MemoryCache<Int>(costLimit: 100, eviction: Eviction { policy })
    policy.cache.withLock { $0 = cache }
    for number in 0..<20 {
      cache.set(number, for: key(10 + number), cost: 10)
      #expect(cache.statistics.cost <= 100)
    }
    policy.cache.withLock { $0 = nil }
  }

  @Test
  func aPolicyHearsOfEverythingInOrderAndOfNoMoreThanThereIs() {
    let policy = Meddling()
    let cache = MemoryCache<Value>(costLimit: 100, eviction: Eviction { policy })
    for number in 0..<50 { cache.set(Value(nil), for: key(number % 20), cost: 7) }
    #expect(policy.state.withLock { $0.places.count } == cache.statistics.count)
    cache.removeAll()
    #expect(policy.state.withLock { $0.places.isEmpty && $0.surprises == 0 })
  }

  @Test
  func whileAPolicyBlocksOthersGoOnWithinALittleMoreThanTheLimit() {
    final class Blocking: EvictionPolicy, @unchecked Sendable {
      // Sendable, since it has nothing but gates.
      let (reached, gate) = (Gate(), Gate())
      func insert(_ entry: EvictionCandidate, into place: Int) {
        reached.open()
        gate.wait()
      }
      func remove(_ place: Int) {}
      func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int] { [] }
    }
    let policy = Blocking()
    let cache = MemoryCache<Int>(costLimit: 800, eviction: Eviction { policy })
    onThreads(2) { thread in
      if thread == 0 {
        cache.set(0, for: key(-1), cost: 1)
        return
      }
      policy.reached.wait()
      for number in 0..<500 {
        cache.set(number, for: key(number), cost: 10)
        #expect(cache.value(for: key(number)) == number)
        #expect(cache.statistics.cost <= 900)
      }
      policy.gate.open()
    }
    #expect(cache.statistics.cost <= 800)
  }

  @Test
  func entriesThatComeAndGoBeforeAPolicyHearsOfThemLeaveNoNotes() {
    var notes = PolicyNotes()
    let candidate = EvictionCandidate(id: 1, cost: 1, age: 0, uses: 1, isEvictable: true)
    for _ in 0..<1000 {
      notes.insert(candidate, into: 0, replaces: false)
      notes.insert(candidate, into: 0, replaces: true)
      notes.remove(0)
    }
    #expect(notes.isEmpty)
    #expect(notes.takeAll().isEmpty)
    // What the policy knows of has to go, once.
    notes.insert(candidate, into: 0, replaces: true)
    notes.remove(0)
    notes.insert(candidate, into: 0, replaces: false)
    #expect(notes.takeAll().count == 2)
    #expect(notes.isEmpty)
  }

  @Test
  func aClockThatCallsTheCacheHangsNothing() {
    final class Calling: TimeSource {
      let cache = Lock<MemoryCache<Int>?>(nil)
      var now: Date {
        if let cache = cache.withLock({ $0 }) {
          _ = cache.statistics
          cache.set(1, for: key(7), cost: 1)
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
    cache.set(1, for: key(1), cost: 1, expiration: .at(Date(timeIntervalSince1970: 1001)))
    cache.set(2, for: key(2), cost: 1, expiration: .at(Date(timeIntervalSince1970: 999)))
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
    #expect(cache.set(0, for: key(0), cost: 1))
    #expect(!cache.set(0, for: key(0), cost: .max))
    #expect(!cache.contains(key(0)))
    for number in 0..<100 { cache.set(number, for: key(number), cost: .max / 5) }
    #expect(cache.statistics.count > 0)
    #expect(cache.statistics.cost <= .max / 2)
    cache.trim(under: .low)
    cache.trim(toCost: .max)
    cache.trim(toCount: .max)
    cache.costLimit = 10
    #expect(cache.statistics.cost <= 10)
    cache.countLimit = .max
    cache.costLimit = .max
    for number in 0..<1000 { #expect(cache.set(number, for: key(number), cost: number)) }
    #expect(cache.statistics.count == 1000)
    #expect(cache.costLimit == .max)
  }
}
