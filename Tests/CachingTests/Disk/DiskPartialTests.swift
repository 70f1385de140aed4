import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Downloads that were broken off, and others that go on from them.
struct DiskPartialTests {
  private static let date = Date(timeIntervalSinceReferenceDate: 1000)
  private static let body = content(1, 1_600_000)
  private static let validators = Data("ETag: \"a\"".utf8)

  /// Leaves the first bytes of the body.
  private func leave(_ count: Int, in cache: DiskCache, for key: CacheKey = key(1)) async throws -> Bool {
    let writer = try #require(await cache.partialWriter(for: key, metadata: Self.validators, after: nil))
    var rest = Self.body.prefix(count)
    while !rest.isEmpty {
      #expect(await writer.append(Data(rest.prefix(70_000))))
      rest = rest.dropFirst(70_000)
    }
    return await writer.keep()
  }

  /// Goes on from what there is, to the end.
  private func complete(_ cache: DiskCache, _ whole: Data = body) async throws {
    let partial = try #require(await cache.partial(for: key(1)))
    #expect(partial.metadata == Self.validators)
    #expect(await partial.bytes(0..<partial.count) == whole.prefix(partial.count))
    let writer = try #require(await cache.partialWriter(for: key(1), metadata: Data(), after: partial))
    // One goes on with it, and nobody else.
    #expect(await cache.partial(for: key(1)) == nil)
    #expect(await cache.partialWriter(for: key(1), metadata: Data(), after: partial) == nil)
    #expect(await writer.append(Data(whole.dropFirst(partial.count))))
    #expect(await writer.seal(stored: Self.date) == ContentID(of: whole))
    #expect(await cache.entry(for: key(1))?.data == whole)
    #expect(await cache.partial(for: key(1)) == nil)
    #expect(await cache.statistics().partials == 0)
  }

  @Test(arguments: [16_384, 100_000, 300_000, 1_500_000], [false, true])
  func aBrokenDownloadIsResumedAndWhole(count: Int, isRestarted: Bool) async throws {
    let folder = try Folder()
    var cache = try folder.cache()
    #expect(try await leave(count, in: cache))
    #expect(await cache.statistics().partials == 1)
    #expect(await cache.statistics().entries == 0)
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(await cache.statistics().bytes >= count)
    if isRestarted {
      await cache.close()
      cache = try folder.cache()
      #expect(await cache.statistics().partials == 1)
    }
    #expect(await cache.partial(for: key(1))?.count == count)
    #expect(await cache.partial(for: key(2)) == nil)
    try await complete(cache)
    await cache.close()
    #expect(!Files.all(in: folder.cache).keys.contains { $0.hasSuffix(".partial") || $0.hasSuffix(".progress") })
    cache = try folder.cache()
    #expect(await cache.entry(for: key(1))?.data == Self.body)
  }

  #if os(Linux)
  /// A child has copies of all descriptors from its fork until it is another program.
  @Test
  func aFolderThatIsClosedCanBeWrittenToWhileAChildIsBeingStarted() async throws {
    let folder = try Folder()
    var cache = try folder.cache()
    #expect(try await leave(300_000, in: cache))
    let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name -> CInt? in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      guard target == folder.cache.appending(path: "lock").path, let descriptor = CInt(name) else { return nil }
      return dup(descriptor)
    }
    #expect(!copies.isEmpty)
    defer { for copy in copies { close(copy) } }

    await cache.close()
    cache = try folder.cache()
    try await complete(cache)
    await cache.close()
  }
  #endif

  @Test
  func aSmallBodyIsResumedIntoASegment() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    #expect(try await leave(100_000, in: cache))
    try await complete(cache, Self.body.prefix(400_000))
    await cache.close()
    #expect(!Files.all(in: folder.cache).keys.contains { $0.hasSuffix(".body") || $0.hasSuffix(".partial") })
  }

  @Test
  func whatIsNotWorthARequestIsNotKept() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    #expect(try await !leave(16_383, in: cache))
    #expect(await cache.partial(for: key(1)) == nil)
    #expect(await cache.statistics().partials == 0)
  }

  @Test
  func aDownloadMayBreakOffAgainAndAgain() async throws {
    let folder = try Folder()
    var cache = try folder.cache()
    #expect(try await leave(300_000, in: cache))
    for turn in 1...4 {
      await cache.close()
      cache = try folder.cache()
      let partial = try #require(await cache.partial(for: key(1)))
      #expect(partial.count == turn * 300_000)
      let writer = try #require(await cache.partialWriter(for: key(1), metadata: Data(), after: partial))
      #expect(await writer.append(Self.body[partial.count..<partial.count + 300_000]))
      #expect(await writer.keep())
    }
    try await complete(cache)
  }

  /// What a process that is killed leaves: up to 256 KB less than had come.
  @Test
  func whatHadReachedTheFileOutlivesAKill() async throws {
    let (folder, copy) = (try Folder(), try Folder())
    let cache = try folder.cache()
    let writer = try #require(await cache.partialWriter(for: key(1), metadata: Self.validators, after: nil))
    #expect(await writer.append(Self.body.prefix(1_000_000)))
    #expect(await writer.append(Self.body[1_000_000..<1_100_000]))
    await cache.flush()
    try Files.write(Files.all(in: folder.cache), to: copy.cache)
    writer.drop()
    let other = try copy.cache()
    #expect(await other.partial(for: key(1))?.count == 1_000_000)
    try await complete(other)
  }

  @Test
  func aTornTailIsCutOffAtTheLastThatIsWhole() async throws {
    let (folder, copy) = (try Folder(), try Folder())
    let cache = try folder.cache()
    #expect(try await leave(1_500_000, in: cache))
    await cache.close()
    let files = Files.all(in: folder.cache)
    let partial = try #require(files.keys.first { $0.hasSuffix(".partial") })
    let journal = try #require(files.keys.first { $0.hasSuffix(".progress") })
    var counts: Set<Int> = []
    for (name, step) in [(partial, 130_001), (journal, 9)] {
      let whole = try #require(files[name])
      for place in stride(from: 0, to: whole.count, by: step) {
        for damage in 0..<3 {
          var damaged = files
          switch damage {
          case 0: damaged[name] = whole.prefix(place)
          case 1: damaged[name]?[place] ^= 4
          default: damaged[name]?.replaceSubrange(place..., with: Data(count: whole.count - place))
          }
          try Files.write(damaged, to: copy.cache)
          let other = try copy.cache()
          let found = await other.partial(for: key(1))
          let count = found?.count ?? 0
          counts.insert(count)
          if name == partial { #expect(count <= place && place - count < 300_000, "damage \(damage) at \(place)") }
          if let found { #expect(await found.bytes(0..<count) == Self.body.prefix(count)) }
          if place % 7 == 0, found != nil { try await complete(other) }
          await other.close()
        }
      }
    }
    #expect(counts.count > 4)
  }

  @Test
  func whatLacksItsOtherHalfIsRemoved() async throws {
    let folder = try Folder()
    for suffix in [".partial", ".progress"] {
      var cache = try folder.cache()
      #expect(try await leave(500_000, in: cache))
      await cache.close()
      var files = Files.all(in: folder.cache)
      for name in files.keys where name.hasSuffix(suffix) { files[name] = nil }
      try Files.write(files, to: folder.cache)
      cache = try folder.cache()
      #expect(await cache.statistics().partials == 0)
      await cache.close()
      #expect(!Files.all(in: folder.cache).keys.contains { $0.hasSuffix(".partial") || $0.hasSuffix(".progress") })
    }
  }

  @Test
  func aNewDownloadDropsTheOldPart() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    #expect(try await leave(1_000_000, in: cache))
    let old = try #require(await cache.partial(for: key(1)))
    #expect(try await leave(500_000, in: cache))
    #expect(await cache.partial(for: key(1))?.count == 500_000)
    #expect(await cache.partialWriter(for: key(1), metadata: Data(), after: old) == nil)
    // Whoever holds it reads on.
    #expect(await old.bytes(900_000..<1_000_000) == Self.body[900_000..<1_000_000])
    #expect(Files.all(in: folder.cache).keys.filter { $0.hasSuffix(".partial") }.count == 1)
    await cache.removePartial(for: key(1))
    #expect(await cache.partial(for: key(1)) == nil)
    #expect(!Files.all(in: folder.cache).keys.contains { $0.hasSuffix(".partial") })
  }

  @Test
  func afterADayItIsGone() async throws {
    let folder = try Folder()
    let clock = ManualClock(now: Self.date)
    var cache = try folder.cache(clock: clock)
    #expect(try await leave(500_000, in: cache))
    clock.advance(by: .seconds(86_399))
    #expect(await cache.partial(for: key(1)) != nil)
    clock.advance(by: .seconds(1))
    #expect(await cache.partial(for: key(1)) == nil)
    await cache.close()
    cache = try folder.cache(clock: clock)
    #expect(await cache.statistics().partials == 0)
    await cache.flush()
    #expect(!Files.all(in: folder.cache).keys.contains { $0.hasSuffix(".partial") })
  }

  @Test
  func partsKeepToTheirShareAndTheFolderToItsLimit() async throws {
    let folder = try Folder()
    let limit = 8 << 20
    let cache = try folder.cache(limit)
    for number in 0..<4 { #expect(try await leave(400_000, in: cache, for: key(100 + number))) }
    // An eighth of the limit holds two of them, the latest.
    #expect(await cache.statistics().partials == 2)
    #expect(await cache.partial(for: key(103)) != nil)
    for number in 0..<400 { await cache.store(entry(number, 30_000), for: key(number)) }
    await cache.flush()
    #expect(folder.bytes <= limit + limit / 20)
    #expect(await cache.statistics().partials == 2)
    #expect(await cache.statistics().bytes <= folder.bytes)
    await cache.trim(to: 0)
    #expect(await cache.statistics().partials == 0)
    #expect(await cache.statistics().entries == 0)
  }

  @Test
  func partsAreNoEntriesAndBelongToTheirKey() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    await cache.store(entry(1), for: key(1))
    #expect(try await leave(500_000, in: cache))
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(await cache.entries().map(\.key) == [key(1)])
    #expect(await cache.verify().checked == 1)
    let partial = try #require(await cache.partial(for: key(1)))
    #expect(await cache.partialWriter(for: key(2), metadata: Data(), after: partial) == nil)
  }
}
