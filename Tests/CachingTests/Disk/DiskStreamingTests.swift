import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Bodies that come piece by piece.
@Suite(.patient)
struct DiskStreamingTests {
  private static let date = Date(timeIntervalSinceReferenceDate: 1000)

  /// Appends a body in pieces; returns whether all were taken.
  @discardableResult
  private func feed(_ writer: BodyWriter, _ body: Data, piece: Int = 100_000) async -> Bool {
    var rest = body[...]
    while !rest.isEmpty {
      guard await writer.append(Data(rest.prefix(piece))) else { return false }
      rest = rest.dropFirst(piece)
    }
    return true
  }

  @Test(arguments: [0, 100, 262_144, 300_000, 2_000_000], CachedData.Kind.allCases)
  func aBodyInPiecesIsFoundWhenItIsSealed(count: Int, kind: CachedData.Kind) async throws {
    let folder = try Folder()
    let expected = entry(1, count, kind: kind, metadata: "ETag: x", expires: Self.date)
    do {
      let cache = try folder.cache()
      let writer = await cache.bodyWriter(for: key(1))
      #expect(await feed(writer, expected.data))
      #expect(await !cache.contains(key(1)))
      let id = await writer.seal(kind: kind, metadata: expected.metadata, expires: Self.date, stored: Self.date)
      #expect(id == expected.contentID)
      #expect(await cache.entry(for: key(1)) == expected)
      #expect(await writer.seal(stored: Self.date) == nil)
      #expect(await !writer.append(Data([1])))
      await cache.close()
    }
    let again = try folder.cache()
    #expect(await again.entry(for: key(1)) == expected)
    #expect(await again.verify().damaged.isEmpty)
    #expect(!Files.all(in: folder.cache).keys.contains { $0.hasSuffix(".tmp") })
  }

  @Test(arguments: [100, 300_000, 2_000_000])
  func aBodyThatIsDroppedOrReleasedLeavesNothingAndTheOlderEntryStays(count: Int) async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    let before = Files.all(in: folder.cache)
    let dropped = await cache.bodyWriter(for: key(1))
    await feed(dropped, content(2, count))
    dropped.drop()
    #expect(await dropped.seal(stored: Self.date) == nil)
    do {
      let released = await cache.bodyWriter(for: key(1))
      await feed(released, content(2, count))
    }
    // All of it has been written by then, and the writer's thread may be the last that holds what is released.
    await cache.flush()
    try await until { Files.all(in: folder.cache) == before }
    #expect(await cache.verify().damaged.isEmpty)
    #expect(Files.all(in: folder.cache) == before)
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(await cache.statistics().bytes <= folder.bytes)
  }

  @Test
  func whoeverOffersMoreThanTheDiskTakesIsToldToWait() async throws {
    let folder = try Folder()
    let files = FaultyFiles()
    let options = DiskOptions(sizeLimit: 64 << 20)
    let cache = try DiskCache(directory: folder.cache, options: options, files: files, clock: ManualClock())
    let writer = await cache.bodyWriter(for: key(1))
    files.setWriting(false)
    let piece = content(1, 64 << 10)
    let resumed = Deferred<Void>()
    var taken = 0
    while writer.offer(piece, whenThereIsRoom: { resumed.resolve(()) }) { taken += 1 }
    #expect(taken * piece.count <= 3 << 19)
    files.setWriting(true)
    await resumed.value()
    #expect(await writer.append(piece))
    let id = await writer.seal(stored: Self.date)
    let body = (0..<taken + 2).reduce(into: Data()) { body, _ in body.append(piece) }
    #expect(id == ContentID(of: body))
    #expect(await cache.entry(for: key(1))?.data == body)
  }

  @Test
  func aSealTakesItsPlaceInTheOrderOfWhatIsStored() async throws {
    for isSpilled in [false, true] {
      let folder = try Folder()
      let count = isSpilled ? 2_000_000 : 300_000
      let cache = try folder.cache()
      await cache.store(entry(1, kind: .finished), for: key(1))
      let first = await cache.bodyWriter(for: key(1))
      let second = await cache.bodyWriter(for: key(1))
      await feed(first, content(1, count, version: 1))
      await feed(second, content(1, count, version: 2))
      await cache.store(entry(1, 700, version: 3), for: key(1))
      #expect(await first.seal(stored: Self.date) != nil)
      #expect(await cache.entry(for: key(1))?.data == content(1, count, version: 1))
      #expect(await second.seal(stored: Self.date) != nil)
      #expect(await cache.entry(for: key(1))?.data == content(1, count, version: 2))
      let copy = try Folder()
      await cache.flush()
      var files = Files.all(in: folder.cache)
      files["index"] = nil
      try Files.write(files, to: copy.cache)
      #expect(await (try copy.cache()).entry(for: key(1))?.data == content(1, count, version: 2))
      await cache.store(entry(1, 700, version: 4), for: key(1))
      await cache.close()
      #expect(await (try folder.cache()).entry(for: key(1))?.data == content(1, 700, version: 4))
      #expect(Files.all(in: folder.cache).keys.filter { $0.hasSuffix(".body") }.isEmpty)
    }
  }

  @Test
  func aBodyThatOutgrowsTheCacheIsRefusedAndReplacesWhatThereWas() async throws {
    let folder = try Folder()
    let cache = try folder.cache(4 << 20)
    await cache.store(entry(1), for: key(1))
    let writer = await cache.bodyWriter(for: key(1))
    var isGoing = true
    for _ in 0..<40 where isGoing { isGoing = await writer.append(content(1, 100_000)) }
    #expect(await writer.seal(stored: Self.date) == nil)
    #expect(await cache.entry(for: key(1)) == nil)
    await cache.close()
    #expect(folder.bytes < 10_000)
  }

  @Test
  func manyBodiesAtOnceNeverOutgrowTheLimit() async throws {
    let folder = try Folder()
    let limit = 8 << 20
    let cache = try folder.cache(limit)
    for number in 0..<300 { await cache.store(entry(number, 30_000), for: key(number)) }
    var writers: [BodyWriter] = []
    for number in 0..<10 { writers.append(await cache.bodyWriter(for: key(1000 + number))) }
    var most = 0
    for _ in 0..<6 {
      for writer in writers { await feed(writer, content(7, 300_000)) }
      await cache.flush()
      most = max(most, folder.bytes)
    }
    var sealed = 0
    for writer in writers where await writer.seal(stored: Self.date) != nil { sealed += 1 }
    #expect(sealed > 0 && sealed < 10)
    await cache.flush()
    #expect(max(most, folder.bytes) <= limit + limit / 20)
    await cache.close()
    let again = try folder.cache(limit)
    #expect(await again.verify().damaged.isEmpty)
  }

  @Test
  func aDiskThatIsFullEndsABodyWithOneWarning() async throws {
    let folder = try Folder()
    let (files, log) = (FaultyFiles(), Record<String>())
    let cache = try DiskCache(
      directory: folder.cache,
      options: DiskOptions(sizeLimit: 64 << 20),
      files: files,
      clock: ManualClock(),
      warn: log.add,
    )
    let writer = await cache.bodyWriter(for: key(1))
    files.state.withLock { $0.room = 500_000 }
    await feed(writer, content(1, 5_000_000))
    #expect(await writer.seal(stored: Self.date) == nil)
    #expect(log.events.count == 1)
    await cache.flush()
    #expect(!Files.all(in: folder.cache).keys.contains { $0.hasSuffix(".tmp") || $0.hasSuffix(".body") })
  }

  @Test
  func removingEverythingEndsBodiesThatAreUnderWay() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    let writer = await cache.bodyWriter(for: key(1))
    let partial = try #require(await cache.partialWriter(for: key(2), metadata: Data(), after: nil))
    await feed(writer, content(1, 2_000_000))
    await feed(partial, content(2, 2_000_000))
    await cache.removeAll()
    #expect(folder.bytes < 4096)
    await feed(writer, content(1, 600_000))
    #expect(await writer.seal(stored: Self.date) == nil)
    #expect(await !partial.keep())
    #expect(await cache.statistics().partials == 0)
    #expect(await cache.statistics().entries == 0)
    #expect(folder.bytes < 4096)
  }

  @Test
  func aFolderThatIsDeletedUnderABodyLosesOnlyThat() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    let writer = await cache.bodyWriter(for: key(1))
    await feed(writer, content(1, 2_000_000))
    await cache.flush()
    try FileManager.default.removeItem(at: folder.cache)
    await feed(writer, content(1, 600_000))
    #expect(await writer.seal(stored: Self.date) == nil)
    let another = await cache.bodyWriter(for: key(2))
    await feed(another, content(2, 2_000_000))
    #expect(await another.seal(stored: Self.date) != nil)
    await cache.close()
    #expect(await (try folder.cache()).entry(for: key(2))?.data == content(2, 2_000_000))
  }

  @Test
  func aSecondCacheKeepsItsBodiesInMemory() async throws {
    let folder = try Folder()
    let first = try folder.cache()
    await first.store(entry(1), for: key(1))
    await first.flush()
    let before = Files.all(in: folder.cache)
    let second = try folder.cache()
    let writer = await second.bodyWriter(for: key(2))
    await feed(writer, content(2, 2_000_000))
    #expect(await writer.seal(stored: Self.date) != nil)
    #expect(await second.entry(for: key(2))?.data == content(2, 2_000_000))
    let partial = try #require(await second.partialWriter(for: key(3), metadata: Data(), after: nil))
    await feed(partial, content(3, 2_000_000))
    #expect(await !partial.keep())
    #expect(Files.all(in: folder.cache) == before)
    await first.close()
  }

  @Test
  func aBodyThatIsWrittenWhenTheProcessEndsIsGone() async throws {
    let (folder, copy) = (try Folder(), try Folder())
    let cache = try folder.cache()
    let writer = await cache.bodyWriter(for: key(1))
    await feed(writer, content(1, 2_000_000))
    await cache.flush()
    let files = Files.all(in: folder.cache)
    #expect(files.keys.contains { $0.hasSuffix(".body.tmp") })
    try Files.write(files, to: copy.cache)
    let other = try copy.cache()
    #expect(await other.statistics().entries == 0)
    await other.close()
    #expect(copy.bytes < 4096)
    #expect(await writer.seal(stored: Self.date) != nil)
  }
}
