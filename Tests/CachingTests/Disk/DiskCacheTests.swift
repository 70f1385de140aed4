import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting
import VitrineTiers

struct DiskCacheTests {
  @Test(arguments: [0, 1, 499, 500, 20_000, 1_500_000], CachedData.Kind.allCases)
  func whatIsStoredIsReadableAtOnceWrittenAndAfterARestart(count: Int, kind: CachedData.Kind) async throws {
    let folder = try Folder()
    let date = Date(timeIntervalSinceReferenceDate: 12345.678)
    let original = entry(1, count, kind: kind, metadata: "ETag: x", expires: date)
    do {
      let cache = try folder.cache()
      await cache.store(original, for: key(1))
      #expect(await cache.entry(for: key(1)) == original)
      #expect(await cache.contains(key(1)))
      await cache.flush()
      #expect(await cache.entry(for: key(1)) == original)
      await cache.close()
      #expect(await cache.entry(for: key(1)) == nil)
    }
    let again = try folder.cache()
    #expect(await again.entry(for: key(1)) == original)
    #expect(await again.entry(for: key(2)) == nil)
    #expect(await again.statistics().hits == 3)
  }

  @Test
  func itSurvivesWithoutBeingClosed() async throws {
    let folder = try Folder()
    do {
      let cache = try folder.cache()
      for number in 0..<50 { await cache.store(entry(number), for: key(number)) }
      await cache.flush()
    }
    let again = try folder.cache()
    for number in 0..<50 { #expect(await again.entry(for: key(number)) == entry(number)) }
  }

  /// Every history of three steps with a look after each, staged or flushed in between.
  @Test
  func storeReplaceRemoveAndAddAgainInEveryOrder() async throws {
    let steps = 4
    for history in 0..<(steps * steps * steps) {
      for isFlushed in [false, true] {
        let folder = try Folder()
        var cache = try folder.cache()
        var expected: CachedData?
        var rest = history
        for step in 0..<3 {
          switch rest % steps {
          case 0:
            expected = entry(1, 100 + step, version: step)
            await cache.store(entry(1, 100 + step, version: step), for: key(1))
          case 1:
            expected = nil
            await cache.remove(key(1))
          case 2:
            let date = Date(timeIntervalSinceReferenceDate: Double(step))
            let known = expected
            let isRenewed = await cache.renew(
              key(1),
              contentID: known?.contentID ?? ContentID(low: 0, high: 0),
              expires: date,
              metadata: Data("r\(step)".utf8),
            )
            #expect(isRenewed == (known != nil))
            expected?.expires = date
            expected?.metadata = Data("r\(step)".utf8)
          default:
            // The other kind lies in another lane.
            expected = entry(1, 90 + step, version: step, kind: .finished)
            await cache.store(entry(1, 90 + step, version: step, kind: .finished), for: key(1))
          }
          #expect(await cache.entry(for: key(1)) == expected)
          if isFlushed { await cache.flush() }
          #expect(await cache.entry(for: key(1)) == expected)
          #expect(await cache.contains(key(1)) == (expected != nil))
          #expect(await cache.statistics().entries == (expected == nil ? 0 : 1))
          rest /= steps
        }
        await cache.flush()
        // As a crash would leave it, with and without an index; the copy is opened while the other lives.
        var files = Files.all(in: folder.cache)
        for _ in 0..<2 {
          let copy = try Folder()
          try Files.write(files, to: copy.cache)
          let other = try copy.cache()
          #expect(await other.entry(for: key(1)) == expected, "history \(history)")
          files["index"] = nil
        }
        await cache.close()
        cache = try folder.cache()
        #expect(await cache.entry(for: key(1)) == expected)
      }
    }
  }

  @Test
  func whatComesInOneBatchCountsInItsOrder() async throws {
    for isRemoved in [false, true] {
      let folder = try Folder()
      let files = FaultyFiles()
      let options = DiskOptions(sizeLimit: 64 << 20)
      let cache = try DiskCache(directory: folder.cache, options: options, files: files, clock: ManualClock())
      await cache.store(entry(1, kind: .finished), for: key(1))
      await cache.flush()
      // The writer waits with another key, and all that follows is written together.
      files.setWriting(false)
      await cache.store(entry(2), for: key(2))
      await cache.store(entry(1, version: 1), for: key(1))
      await cache.renew(key(1), contentID: entry(1, version: 1).contentID, expires: nil, metadata: Data("new".utf8))
      if isRemoved { await cache.remove(key(1)) }
      #expect(await cache.entry(for: key(1)) == (isRemoved ? nil : entry(1, version: 1, metadata: "new")))
      files.setWriting(true)
      await cache.flush()
      let copy = try Folder()
      try Files.write(Files.all(in: folder.cache), to: copy.cache)
      let other = try copy.cache()
      #expect(await other.entry(for: key(1)) == (isRemoved ? nil : entry(1, version: 1, metadata: "new")))
    }
  }

  @Test
  func removingEverythingOvertakesWhatIsBeingWritten() async throws {
    let folder = try Folder()
    let files = FaultyFiles()
    let options = DiskOptions(sizeLimit: 64 << 20)
    let cache = try DiskCache(directory: folder.cache, options: options, files: files, clock: ManualClock())
    #expect(await !cache.contains(key(1)))
    files.setWriting(false)
    await cache.store(entry(1, 2_000_000), for: key(1))
    await cache.store(entry(2), for: key(2))
    async let removed: Void = cache.removeAll()
    try await until { await !cache.contains(key(1)) }
    await cache.store(entry(3), for: key(3))
    files.setWriting(true)
    await removed
    await cache.flush()
    #expect(folder.bytes < 4096)
    #expect(await cache.entries().map(\.key) == [key(3)])
    await cache.close()
    let again = try folder.cache()
    #expect(await again.entries().map(\.key) == [key(3)])
  }

  @Test
  func keysOfAnyBytesNeverShareAnEntry() async throws {
    let folder = try Folder()
    let keys =
      [[], [0], [0, 0], [10, 13, 47], [UInt8](repeating: 46, count: 10_240), [UInt8](repeating: 46, count: 10_241)]
      .map { CacheKey(bytes: $0) }
    let cache = try folder.cache()
    for (number, key) in keys.enumerated() { await cache.store(entry(number), for: key) }
    await cache.close()
    let again = try folder.cache()
    for (number, key) in keys.enumerated() { #expect(await again.entry(for: key) == entry(number)) }
    #expect(Set(await again.entries().map(\.key)) == Set(keys))
  }

  @Test
  func aRenewalWritesNoBodyAndOutlivesARestart() async throws {
    let folder = try Folder()
    let files = FaultyFiles()
    let date = Date(timeIntervalSinceReferenceDate: 9_000_000)
    do {
      let cache = try DiskCache(
        directory: folder.cache,
        options: DiskOptions(sizeLimit: 64 << 20),
        files: files,
        clock: ManualClock(),
      )
      await cache.store(entry(1, 400_000), for: key(1))
      await cache.flush()
      let before = files.state.withLock { $0.written }
      let id = entry(1, 400_000).contentID
      #expect(await cache.renew(key(1), contentID: id, expires: date, metadata: Data("new".utf8)))
      #expect(await !cache.renew(key(1), contentID: ContentID(low: 1, high: 2), expires: nil, metadata: Data()))
      #expect(await !cache.renew(key(2), contentID: id, expires: nil, metadata: Data()))
      await cache.flush()
      #expect(files.state.withLock { $0.written } - before < 300)
    }
    let again = try folder.cache()
    #expect(await again.entry(for: key(1)) == entry(1, 400_000, metadata: "new", expires: date))
  }

  @Test
  func manyEntriesAreSyncedTogether() async throws {
    let folder = try Folder()
    let files = FaultyFiles()
    let clock = ManualClock()
    let cache = try DiskCache(
      directory: folder.cache,
      options: DiskOptions(sizeLimit: 64 << 20),
      files: files,
      clock: clock,
    )
    #expect(await !cache.contains(key(1)))
    let before = files.state.withLock { $0.syncs }
    for number in 0..<500 { await cache.store(entry(number), for: key(number)) }
    await cache.flush()
    #expect(files.state.withLock { $0.syncs } - before == 1)
  }

  @Test
  func everythingRemovedIsGoneAtOnceAndForGood() async throws {
    let folder = try Folder()
    do {
      let cache = try folder.cache()
      for number in 0..<20 { await cache.store(entry(number, 100_000), for: key(number)) }
      await cache.flush()
      await cache.store(entry(20, 2_000_000), for: key(20))
      await cache.removeAll()
      #expect(await cache.statistics().entries == 0)
      #expect(folder.bytes < 4096)
      await cache.store(entry(30), for: key(30))
      await cache.flush()
    }
    let again = try folder.cache()
    #expect(await again.entries().map(\.key) == [key(30)])
    #expect(await again.entry(for: key(30)) == entry(30))
  }

  @Test
  func theListOfEntriesTellsWhatIsThere() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    let date = Date(timeIntervalSinceReferenceDate: 77)
    await cache.store(entry(1, 100, expires: date), for: key(1))
    await cache.store(entry(2, 200, kind: .finished), for: key(2))
    _ = await cache.entry(for: key(2))
    let entries = await cache.entries().sorted { $0.byteCount < $1.byteCount }
    #expect(entries.map(\.key) == [key(1), key(2)])
    #expect(entries.map(\.byteCount) == [100, 200])
    #expect(entries.map(\.kind) == [.original, .finished])
    #expect(entries.map(\.expires) == [date, nil])
    #expect(entries.map(\.hits) == [1, 2])
    let statistics = await cache.statistics()
    #expect((statistics.originals, statistics.finished, statistics.hits, statistics.misses) == (1, 1, 1, 0))
  }

  @Test
  func freshnessIsKeptAndAgeCanEndAnEntry() async throws {
    let folder = try Folder()
    let clock = ManualClock(now: Date(timeIntervalSinceReferenceDate: 1000))
    let cache = try DiskCache(directory: folder.cache, sizeLimit: 1 << 20, lifetime: .seconds(3600), clock: clock)
    let expired = entry(1, expires: Date(timeIntervalSinceReferenceDate: 5))
    await cache.store(expired, for: key(1))
    await cache.flush()
    clock.advance(by: .seconds(3599))
    #expect(await cache.entry(for: key(1)) == expired)
    clock.advance(by: .seconds(1))
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(await !cache.contains(key(1)))
  }

  @Test
  func aSecondCacheReadsWhatIsThereAndKeepsItsOwnInMemory() async throws {
    let folder = try Folder()
    let first = try folder.cache()
    await first.store(entry(1), for: key(1))
    await first.flush()
    let second = try folder.cache()
    #expect(!first.isReadOnly)
    #expect(second.isReadOnly)
    let before = Files.all(in: folder.cache)
    #expect(await second.entry(for: key(1)) == entry(1))
    await second.store(entry(2), for: key(2))
    await second.remove(key(1))
    await second.flush()
    #expect(await second.entry(for: key(2)) == entry(2))
    #expect(await second.entry(for: key(1)) == nil)
    #expect(await first.entry(for: key(1)) == entry(1))
    await second.removeAll()
    await second.trim(to: 0)
    await second.close()
    #expect(Files.all(in: folder.cache) == before)
    await first.close()
    let third = try folder.cache()
    #expect(!third.isReadOnly)
    #expect(await third.entry(for: key(1)) == entry(1))
  }

  @Test
  func theFolderIsForItsOwnerAlone() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    await cache.store(entry(1), for: key(1))
    await cache.close()
    for name in [""] + Files.all(in: folder.cache).keys {
      let path = folder.cache.appendingPathComponent(name).path
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == (name.isEmpty ? 0o700 : 0o600))
    }
  }

  @Test
  func whatIsNoFolderIsAnErrorThatSaysSo() throws {
    let folder = try Folder()
    try Data().write(to: folder.cache)
    let error = #expect(throws: DiskCacheError.self) { try folder.cache() }
    #expect(error?.path == folder.cache.path)
  }

  @Test
  func sixteenThreadsAgree() async throws {
    let folder = try Folder()
    let cache = try folder.cache(2 << 20)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          var random = SplitMix64(seed: UInt64(task))
          for step in 0..<150 {
            let number = Int.random(in: 0..<100, using: &random)
            switch random.next() % 12 {
            case 0..<5:
              if let found = await cache.entry(for: key(number)) {
                let isRight = (0..<3).contains { found.data == content(number, 3000, version: $0) }
                if !isRight { Issue.record("wrong bytes") }
              }
            case 5..<9:
              await cache.store(entry(number, 3000, version: Int(random.next() % 3)), for: key(number))
            case 9:
              await cache.remove(key(number))
            case 10:
              let version = Int(random.next() % 3)
              let id = ContentID(of: content(number, 3000, version: version))
              await cache.renew(key(number), contentID: id, expires: nil, metadata: Data("n".utf8))
            default:
              if step % 50 == 0 { await cache.removeAll() } else { await cache.flush() }
            }
          }
        }
      }
    }
    await cache.flush()
    let entries = await cache.entries()
    #expect(await cache.statistics().entries == entries.count)
    #expect(await cache.verify().damaged.isEmpty)
    await cache.close()
    let again = try folder.cache(2 << 20)
    #expect(Set(await again.entries().map(\.key)) == Set(entries.map(\.key)))
    for entry in entries { #expect(await again.entry(for: entry.key) != nil) }
  }

  @Test
  func severalCachesAreOne() async throws {
    let (one, two) = (try Folder(), try Folder())
    let (front, back) = (try one.cache(), try two.cache())
    let list = TieredDataCache([.local(front), .local(back)])
    await list.store(entry(1), for: key(1))
    await front.remove(key(1))
    await back.store(entry(2), for: key(2))
    #expect(await list.entry(for: key(1)) == entry(1))
    #expect(await list.contains(key(2)))
    #expect(await list.entries().count == 2)
    // What was found in the second is in the first again.
    #expect(await list.statistics().entries == 3)
    #expect(await list.renew(key(2), contentID: entry(2).contentID, expires: nil, metadata: Data()))
    await list.remove(key(1))
    #expect(await list.entry(for: key(1)) == nil)
    await list.removeAll()
    #expect(await back.statistics().entries == 0)
  }
}
