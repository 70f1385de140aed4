import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineTiers

/// Plays look-ups, writes, removals, failures and time in random order, one step at a time.
struct TierOrderTests {
  /// A tier that waits before and after it does something, so that everything can come between.
  private final class StepTier: FallibleDataCaching, @unchecked Sendable {
    // @unchecked: used by one thread, that of the test.
    var entries: [CacheKey: CachedData] = [:]
    var isFailing = false

    private func step<Answer>(_ body: () -> Answer) async throws -> Answer {
      await Task.yield()
      if isFailing { throw FileError(code: EIO) }
      let answer = body()
      await Task.yield()
      return answer
    }

    func read(_ key: CacheKey) async throws -> CachedData? { try await step { entries[key] } }

    func readHeads(of keys: [CacheKey]) async throws -> [CachedDataHead?] {
      try await step { keys.map { entries[$0].map { CachedDataHead($0) } } }
    }

    func write(_ entry: CachedData, for key: CacheKey) async throws { try await step { entries[key] = entry } }

    func rewrite(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async throws -> Bool {
      try await step { entries[key]?.contentID == contentID }
    }

    func erase(_ key: CacheKey) async throws { try await step { entries[key] = nil } }

    func erase(extending key: CacheKey) async throws {
      try await step { for other in entries.keys where other.isExtension(of: key) { entries[other] = nil } }
    }

    func eraseAll() async throws { try await step { entries = [:] } }
    func entries() async -> [DataCacheEntry] { [] }
    func statistics() async -> DataCacheStatistics { DataCacheStatistics() }
    func flush() async {}
  }

  /// Runs the parts of tasks between two waits one by one.
  private final class StepExecutor: TaskExecutor, @unchecked Sendable {
    // @unchecked: used by one thread, that of the test.
    private var jobs: [UnownedJob] = []

    var count: Int { jobs.count }

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    func run(_ index: Int) { unsafe jobs.remove(at: index).runSynchronously(on: asUnownedTaskExecutor()) }
  }

  enum Change: CaseIterable, Sendable { case remove, sweep, store }

  @Test(arguments: 0..<300, Change.allCases)
  func inNoOrderDoesAnOldEntryComeBack(seed: Int, change: Change) {
    var random = SplitMix64(seed: UInt64(seed))
    let (clock, executor) = (ManualClock(), StepExecutor())
    let (memory, disk, remote) = (StepTier(), StepTier(), StepTier())
    var limits = TieredDataCache.RemoteLimits()
    limits.failureLimit = 2
    let cache = TieredDataCache(
      [.local(memory), .local(disk), .remote(remote, limits: limits)],
      clock: clock,
      stepper: executor,
    )
    let image = key(1).extended { $0.append(1) }
    let (old, new) = (entry(1), entry(1, version: 1))
    if seed % 3 != 0 { remote.entries[image] = old }
    if seed % 2 == 0 { disk.entries[image] = old }
    let isChanged = Lock(false)

    func begin(_ body: @escaping @Sendable () async -> Void) { Task(executorPreference: executor) { await body() } }

    for _ in 0..<3 { begin { _ = await cache.entry(for: image) } }
    // An earlier write, which may still wait for the remote tier.
    let isStored = Lock(seed % 5 != 0)
    if seed % 5 == 0 {
      begin {
        await cache.store(old, for: image)
        isStored.withLock { $0 = true }
      }
    }
    var hasChanged = false
    var steps = 0
    while executor.count > 0 || !hasChanged || steps < 60 {
      steps += 1
      switch Int.random(in: 0..<20, using: &random) {
      case 0: remote.isFailing.toggle()
      case 1: clock.advance(by: .milliseconds(Int.random(in: 1...3000, using: &random)))
      case 2 where !hasChanged && isStored.withLock({ $0 }):
        hasChanged = true
        begin {
          switch change {
          case .remove: await cache.remove(image)
          case .sweep: await cache.removeAll(extending: key(1))
          case .store: await cache.store(new, for: image)
          }
          isChanged.withLock { $0 = true }
        }
      case 3 where hasChanged && steps < 200:
        begin { _ = await cache.entry(for: image) }
      default:
        if executor.count > 0 { executor.run(Int.random(in: 0..<executor.count, using: &random)) }
      }
      if steps > 400 { clock.advance(by: .seconds(60)) }
    }
    // From now on everything works.
    remote.isFailing = false
    for _ in 0..<20 {
      clock.advance(by: .seconds(60))
      while executor.count > 0 { executor.run(0) }
    }
    #expect(isChanged.withLock { $0 })
    let last = cache.tierStatistics[2]
    #expect((last.queuedWrites, last.queuedRemovals) == (0, 0))
    for (name, tier) in [("memory", memory), ("disk", disk)] {
      #expect(tier.entries[image] != old, "\(name), seed \(seed)")
    }
    if change != .store { #expect(remote.entries[image] == nil, "seed \(seed)") }
  }
}
