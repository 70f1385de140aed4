import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct DiskLimitTests {
  @Test(arguments: [1 << 20, 4 << 20], [CachedData.Kind.original, .finished])
  func theLimitHoldsWhileFiveTimesAsMuchIsWritten(limit: Int, kind: CachedData.Kind) async throws {
    let folder = try Folder()
    let cache = try folder.cache(limit)
    var random = SplitMix64(seed: 5)
    var written = 0
    var number = 0
    var most = 0
    while written < 5 * limit {
      let size = Int.random(in: 100...30_000, using: &random)
      await cache.store(entry(number, size, kind: kind), for: key(number))
      await cache.flush()
      most = max(most, folder.bytes)
      written += size
      number += 1
    }
    #expect(most <= limit + limit / 20)
    // And it is used, not emptied.
    #expect(folder.bytes > limit * 6 / 10)
    #expect(await cache.statistics().bytes <= limit + limit / 20)
    #expect(await cache.statistics().evictions > 0)
    let kept = await cache.entries()
    #expect(kept.count == (await cache.statistics().entries))
    for entry in kept { #expect(await cache.entry(for: entry.key)?.data.count == entry.byteCount) }
    #expect(await cache.entry(for: key(number - 1)) != nil)
    await cache.close()
    let again = try folder.cache(limit)
    #expect(Set(await again.entries().map(\.key)) == Set(kept.map(\.key)))
  }

  @Test
  func replacingTheSameEntriesNeverOutgrowsTheLimitNorLosesThem() async throws {
    let folder = try Folder()
    let limit = 1 << 20
    let cache = try folder.cache(limit)
    var most = 0
    for round in 0..<60 {
      for number in 0..<10 { await cache.store(entry(number, 10_000, version: round), for: key(number)) }
      await cache.flush()
      most = max(most, folder.bytes)
    }
    #expect(most <= limit + limit / 20)
    for number in 0..<10 { #expect(await cache.entry(for: key(number)) == entry(number, 10_000, version: 59)) }
    #expect(await cache.statistics().evictions == 0)
  }

  @Test
  func removingAndAddingForEverNeverOutgrowsTheLimit() async throws {
    let folder = try Folder()
    let limit = 256 << 10
    let cache = try folder.cache(limit)
    var most = 0
    for round in 0..<40 {
      for number in 0..<100 { await cache.store(entry(round * 100 + number, 50), for: key(round * 100 + number)) }
      for number in 0..<100 { await cache.remove(key(round * 100 + number)) }
      await cache.flush()
      most = max(most, folder.bytes)
    }
    #expect(most <= limit + limit / 20)
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    #expect(await cache.entry(for: key(1)) == entry(1))
  }

  @Test
  func largeBodiesCountAndGoInTheOrderOfTheirScores() async throws {
    let folder = try Folder()
    let limit = 8 << 20
    let cache = try folder.cache(limit)
    for number in 0..<6 { await cache.store(entry(number, 1_200_000), for: key(number)) }
    await cache.flush()
    for number in [0, 2] { _ = await cache.entry(for: key(number)) }
    await cache.store(entry(6, 1_200_000), for: key(6))
    await cache.flush()
    #expect(folder.bytes <= limit + limit / 20)
    var kept: [Int] = []
    for number in 0..<7 where await cache.contains(key(number)) { kept.append(number) }
    #expect(kept == [0, 2, 3, 4, 5, 6])
    #expect(Files.all(in: folder.cache).keys.filter { $0.hasSuffix(".body") }.count == 6)
  }

  @Test
  func whatIsStoredWhileItsOlderSelfIsEvictedIsNotRemovedWithIt() async throws {
    let (folder, copy) = (try Folder(), try Folder())
    let files = FaultyFiles()
    let options = DiskOptions(sizeLimit: 1 << 20)
    let cache = try DiskCache(directory: folder.cache, options: options, files: files, clock: ManualClock())
    await cache.store(entry(0, 40_000), for: key(0))
    for number in 1..<90 { await cache.store(entry(number, 10_000), for: key(number)) }
    await cache.flush()
    #expect(await cache.contains(key(0)))
    // The first of these batches makes the writer evict, while what it evicts is stored anew behind them.
    files.setWriting(false)
    for number in 90..<110 { await cache.store(entry(number, 10_000), for: key(number)) }
    await cache.store(entry(0, 500, version: 1), for: key(0))
    files.setWriting(true)
    await cache.flush()
    #expect(await cache.entry(for: key(0)) == entry(0, 500, version: 1))
    #expect(await cache.statistics().evictions > 0)
    var left = Files.all(in: folder.cache)
    left["index"] = nil
    try Files.write(left, to: copy.cache)
    #expect(await (try copy.cache(1 << 20)).entry(for: key(0)) == entry(0, 500, version: 1))
  }

  @Test
  func theOldGoAndTheOftenUsedStay() async throws {
    let folder = try Folder()
    let cache = try folder.cache(1 << 20)
    for number in 0..<400 {
      await cache.store(entry(number, 10_000), for: key(number))
      // The first five are looked at all the time.
      for favourite in 0..<min(5, number) { _ = await cache.entry(for: key(favourite)) }
      await cache.flush()
    }
    for favourite in 0..<5 { #expect(await cache.contains(key(favourite))) }
    for recent in 340..<400 { #expect(await cache.contains(key(recent))) }
    // Whole segments go, so a few may be left beside what is worth keeping.
    var old = 0
    for number in 5..<200 where await cache.contains(key(number)) { old += 1 }
    #expect(old <= 3)
  }

  @Test
  func underPressureOriginalsKeepFourFifths() async throws {
    let folder = try Folder()
    let limit = 2 << 20
    let cache = try folder.cache(limit)
    // Finished images may have it all while nobody else wants it.
    for number in 0..<300 { await cache.store(entry(number, 10_000, kind: .finished), for: key(number)) }
    await cache.flush()
    #expect(await cache.statistics().finished * 10_000 > limit * 6 / 10)
    for number in 300..<600 { await cache.store(entry(number, 10_000), for: key(number)) }
    await cache.flush()
    let statistics = await cache.statistics()
    #expect(statistics.originals * 10_000 > limit * 6 / 10)
    #expect(statistics.finished * 10_000 > limit / 10)
    #expect(statistics.finished * 10_000 < limit * 3 / 10)
  }

  @Test
  func trimmingEvictsDownToASizeAndALowerLimitAtTheNextStart() async throws {
    let folder = try Folder()
    do {
      let cache = try folder.cache(4 << 20)
      for number in 0..<200 { await cache.store(entry(number, 10_000), for: key(number)) }
      await cache.trim(to: 1 << 20)
      #expect(folder.bytes <= 1 << 20)
      #expect(await cache.contains(key(199)))
      await cache.close()
    }
    let again = try folder.cache(512 << 10)
    #expect(await again.contains(key(199)))
    // Reads are answered before room is made; the writer makes it before anything else.
    await again.flush()
    #expect(folder.bytes <= 512 << 10)
    await again.trim(to: 0)
    #expect(await again.statistics().entries == 0)
  }

  @Test
  func whatIsTooLargeIsNotKeptNorIsItsOlderSelf() async throws {
    let folder = try Folder()
    let cache = try folder.cache(1 << 20)
    await cache.store(entry(1), for: key(1))
    await cache.store(entry(1, 300_000), for: key(1))
    #expect(await cache.entry(for: key(1)) == nil)
    await cache.close()
    let again = try folder.cache(1 << 20)
    #expect(await again.entry(for: key(1)) == nil)
  }

  @Test
  func aLimitOfZeroKeepsNothing() async throws {
    let folder = try Folder()
    let cache = try folder.cache(0)
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    #expect(await cache.entry(for: key(1)) == nil)
  }
}

/// A disk that refuses.
struct DiskFailureTests {
  private func cache(
    _ folder: Folder,
    _ files: FaultyFiles,
    _ clock: ManualClock,
    _ log: Record<String>,
  ) throws -> DiskCache {
    try DiskCache(
      directory: folder.cache,
      options: DiskOptions(sizeLimit: 16 << 20),
      files: files,
      clock: clock,
      warn: log.add,
    )
  }

  @Test(arguments: [0, 1, 47, 48, 200, 1000, 3000])
  func aFullDiskCostsOneWarningAndIsTriedAgain(room: Int) async throws {
    let folder = try Folder()
    let (files, clock, log) = (FaultyFiles(), ManualClock(), Record<String>())
    let cache = try cache(folder, files, clock, log)
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    files.state.withLock { $0.room = room }
    for number in 2..<20 { await cache.store(entry(number), for: key(number)) }
    await cache.store(entry(1, version: 1), for: key(1))
    await cache.flush()
    for number in 20..<30 {
      await cache.store(entry(number), for: key(number))
      await cache.flush()
    }
    #expect(log.events.count == 1)
    // No older self of what could not be stored.
    #expect(await cache.entry(for: key(1)) == nil)
    files.state.withLock { $0.room = .max }
    await cache.store(entry(30), for: key(30))
    #expect(await cache.entry(for: key(30)) == nil)
    clock.advance(by: .seconds(30))
    await cache.store(entry(31), for: key(31))
    await cache.flush()
    #expect(await cache.entry(for: key(31)) == entry(31))
    #expect(log.events.count == 2)
    await cache.close()
    let again = try folder.cache(16 << 20)
    #expect(await again.entry(for: key(31)) == entry(31))
    #expect(await again.entry(for: key(1)) == nil)
  }

  @Test
  func aReadOnlyDiskIsDoneWithout() async throws {
    let folder = try Folder()
    do {
      let cache = try folder.cache(16 << 20)
      await cache.store(entry(1), for: key(1))
      await cache.close()
    }
    let (files, clock, log) = (FaultyFiles(), ManualClock(), Record<String>())
    let cache = try cache(folder, files, clock, log)
    #expect(await cache.contains(key(1)))
    files.state.withLock { $0.isReadOnly = true }
    await cache.store(entry(2, 2_000_000), for: key(2))
    await cache.flush()
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(await cache.entry(for: key(2)) == nil)
    #expect(log.events.count == 1)
  }

  @Test
  func aFolderThatWasDeletedIsMadeAgain() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    for number in 0..<5 { await cache.store(entry(number), for: key(number)) }
    await cache.flush()
    try FileManager.default.removeItem(at: folder.cache)
    await cache.store(entry(7), for: key(7))
    await cache.flush()
    #expect(await cache.entry(for: key(7)) == entry(7))
    #expect(await cache.entry(for: key(1)) == nil)
    await cache.close()
    let again = try folder.cache()
    #expect(await again.entries().map(\.key) == [key(7)])
  }

  @Test
  func aTornLargeBodyIsNeverNamed() async throws {
    let folder = try Folder()
    let (files, clock, log) = (FaultyFiles(), ManualClock(), Record<String>())
    let cache = try cache(folder, files, clock, log)
    #expect(await !cache.contains(key(1)))
    files.state.withLock { $0.room = 1_000_000 }
    await cache.store(entry(1, 2_000_000), for: key(1))
    await cache.flush()
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(!Files.all(in: folder.cache).keys.contains { $0.contains("body") })
  }
}
