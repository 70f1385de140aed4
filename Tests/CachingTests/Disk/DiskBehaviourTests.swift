import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Promises about the disk cache that hold at every moment, whatever is under way.
struct DiskBehaviourTests {
  private static let folder = URL(fileURLWithPath: "/cache")

  /// Measured at each call that changes a file, with everything that the folder has.
  @Test(arguments: 1...6)
  func atNoMomentIsMoreThanATwentiethOverTheLimitTakenUp(seed: UInt64) async throws {
    let limit = 1 << 20
    let files = MemoryFiles()
    let clock = ManualClock()
    let cache = try DiskCache(
      directory: Self.folder,
      options: DiskOptions(sizeLimit: limit),
      files: files,
      clock: clock,
    )
    var random = SplitMix64(seed: seed)
    for _ in 0..<500 {
      let number = Int.random(in: 0..<120, using: &random)
      let kind: CachedData.Kind = seed % 2 == 0 && number % 3 == 0 ? .finished : .original
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<11:
        await cache.store(entry(number, Int.random(in: 0..<15_000, using: &random), kind: kind), for: key(number))
      case 11..<14: await cache.store(entry(number, 60_000, kind: kind), for: key(number))
      case 14: await cache.remove(key(number))
      case 15:
        let writer = await cache.bodyWriter(for: key(number))
        await writer.append(content(number, 200_000))
        await writer.seal(stored: clock.now)
      case 16:
        let writer = await cache.partialWriter(for: key(number), metadata: Data(), after: nil)
        await writer?.append(content(number, 50_000))
        await writer?.keep()
      case 17: clock.advance(by: .seconds(2))
      case 18: await cache.flush()
      default: _ = await cache.entry(for: key(number))
      }
    }
    await cache.close()
    let (most, now) = files.state.withLock { ($0.most, $0.bytes) }
    #expect(most <= limit + limit / 20)
    #expect(now > limit / 3)
  }

  @Test
  func whatWasBeingSyncedWhenItWasClosedChangesNothingAfterwards() async throws {
    let folder = try Folder()
    let clock = ManualClock()
    weak var left: FaultyFiles?
    var index: Data?
    do {
      let files = FaultyFiles()
      left = files
      let options = DiskOptions(sizeLimit: 64 << 20)
      let cache = try DiskCache(directory: folder.cache, options: options, files: files, clock: clock)
      await cache.store(entry(1), for: key(1))
      // After which the index is due with the next sync.
      await cache.removeAll()
      await cache.store(entry(2), for: key(2))
      files.holdNextSync()
      await clock.pendingCount(reaches: 1)
      clock.advance(by: .seconds(60))
      await files.waitForHeldSync()
      await cache.close()
      let other = try folder.cache()
      await other.store(entry(3), for: key(3))
      await other.close()
      index = Files.all(in: folder.cache)["index"]
      files.releaseSync()
    }
    // The last that holds them is what goes on after the sync.
    try await until { left == nil }
    #expect(index != nil)
    #expect(Files.all(in: folder.cache)["index"] == index)
  }

  @Test
  func onceClosedItRemovesNothingOfWhoeverHasTheFolderThen() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    // A file of its own.
    await cache.store(entry(1, 2 << 20), for: key(1))
    await cache.close()
    let other = try folder.cache()
    await cache.removeAll()
    await cache.trim(to: 0)
    #expect(await other.entry(for: key(1))?.data == content(1, 2 << 20))
    await other.close()
  }

  @Test
  func aDiskThatWasReadOnlyIsWrittenAgainAfterHalfAMinute() async throws {
    let (files, clock, log) = (MemoryFiles(), ManualClock(), Record<String>())
    let options = DiskOptions(sizeLimit: 16 << 20)
    let cache = try DiskCache(directory: Self.folder, options: options, files: files, clock: clock, warn: log.add)
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    let before = files.files(in: Self.folder.path)
    files.state.withLock { $0.isReadOnly = true }
    for number in 2..<9 {
      await cache.store(entry(number, number % 2 == 0 ? 100 : 2_000_000), for: key(number))
      await cache.flush()
    }
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(log.events.count == 1)
    // Nothing that was there is touched.
    #expect(files.files(in: Self.folder.path) == before)
    files.state.withLock { $0.isReadOnly = false }
    clock.advance(by: .seconds(30))
    await cache.store(entry(20, 2_000_000), for: key(20))
    await cache.close()
    #expect(log.events.count == 2)
    let again = try DiskCache(directory: Self.folder, options: options, files: files, clock: clock)
    #expect(Set(await again.entries().map(\.key)) == [key(1), key(20)])
    #expect(await again.entry(for: key(20)) == entry(20, 2_000_000))
  }

  @Test
  func everythingRemovedWhileAllAreBusyTheStatisticsAreRight() async throws {
    let files = MemoryFiles()
    let options = DiskOptions(sizeLimit: 4 << 20)
    let cache = try DiskCache(directory: Self.folder, options: options, files: files, clock: ManualClock())
    for _ in 0..<10 {
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<6 {
          group.addTask {
            for number in 0..<40 {
              await cache.store(entry(task * 40 + number, 2000), for: key(task * 40 + number))
              let other = (task * 40 + number * 7) % 240
              if let found = await cache.entry(for: key(other)), found != entry(other, 2000) {
                Issue.record("wrong bytes")
              }
              if number == 20, task < 2 { await cache.removeAll() }
            }
          }
        }
      }
      let busy = await cache.statistics()
      #expect(busy.entries == (await cache.entries().count))
      await cache.removeAll()
      let statistics = await cache.statistics()
      #expect((statistics.entries, statistics.originals, statistics.finished, statistics.bytes) == (0, 0, 0, 0))
      #expect(await cache.entries().isEmpty)
      #expect(files.state.withLock { $0.bytes } < 1000)
    }
  }

  /// What is not used for long goes first; of the same age the large go, and what was used often stays.
  @Test
  func whatGoesIsWhatScoresHighest() async throws {
    let limit = 8 << 20
    let files = MemoryFiles()
    let cache = try DiskCache(
      directory: Self.folder,
      options: DiskOptions(sizeLimit: limit),
      files: files,
      clock: ManualClock(),
    )
    // Each a file of its own, so that they go one by one.
    for number in 0..<10 { await cache.store(entry(number, number < 5 ? 500_000 : 900_000), for: key(number)) }
    for _ in 0..<20 { for number in [0, 7] { _ = await cache.entry(for: key(number)) } }
    var order: [Int] = []
    var left = Set(0..<10)
    for number in 100..<106 {
      await cache.store(entry(number, 900_000), for: key(number))
      await cache.flush()
      for gone in left.sorted() where await !cache.contains(key(gone)) {
        left.remove(gone)
        order.append(gone)
      }
    }
    // Of scores age * size / ((200,000 + size) * uses): 5, 6, 8 and 9 are larger than 1 to 4, and later by little.
    #expect(Set(order.prefix(2)).isSubset(of: [1, 5, 6, 8]))
    #expect(order.count >= 5)
    #expect(left.isSuperset(of: [0, 7]))
  }

  @Test(arguments: [Duration.seconds(12 * 3600), .seconds(7 * 86_400), nil])
  func entriesGoAtTheirAgeAlsoAfterARestart(lifetime: Duration?) async throws {
    let files = MemoryFiles()
    let clock = ManualClock(now: Date(timeIntervalSinceReferenceDate: 1000))
    var options = DiskOptions(sizeLimit: 1 << 20)
    options.lifetime = lifetime
    let cache = try DiskCache(directory: Self.folder, options: options, files: files, clock: clock)
    await cache.store(entry(1), for: key(1))
    clock.advance(by: (lifetime ?? .seconds(1_000_000_000)) - .seconds(1))
    #expect(await cache.entry(for: key(1)) == entry(1))
    await cache.close()
    let again = try DiskCache(directory: Self.folder, options: options, files: files, clock: clock)
    #expect(await again.contains(key(1)))
    clock.advance(by: .seconds(1))
    #expect(await again.contains(key(1)) == (lifetime == nil))
    #expect(await again.entry(for: key(1)) == (lifetime == nil ? entry(1) : nil))
  }
}
