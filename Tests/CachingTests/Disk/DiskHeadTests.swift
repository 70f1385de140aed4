import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineCaching

/// Looking at what is kept without its bytes.
struct DiskHeadTests {
  private func head(_ entry: CachedData, hasData: Bool) -> CachedDataHead {
    var head = CachedDataHead(entry)
    if !hasData { head.data = nil }
    return head
  }

  @Test
  func whatIsNotWrittenYetBringsItsBytesAlongAndWhatIsDoesNot() async throws {
    let folder = try Folder()
    let files = FaultyFiles()
    let cache = try DiskCache(
      directory: folder.cache,
      options: DiskOptions(sizeLimit: 1 << 20),
      files: files,
      clock: ManualClock(),
    )
    // So large that it is a file of its own.
    await cache.store(entry(0, 40_000), for: key(0))
    await cache.store(entry(1, 700, kind: .finished, expires: Date(timeIntervalSince1970: 5)), for: key(1))
    await cache.store(entry(2, 0), for: key(2))
    await cache.flush()
    files.setWriting(false)
    await cache.store(entry(3), for: key(3))
    let heads = await cache.heads(for: [key(2), key(9), key(1), key(3), key(0), key(1)])
    let expected = [
      head(entry(2, 0), hasData: false), nil,
      head(entry(1, 700, kind: .finished, expires: Date(timeIntervalSince1970: 5)), hasData: false),
      head(entry(3), hasData: true), head(entry(0, 40_000), hasData: false),
      head(entry(1, 700, kind: .finished, expires: Date(timeIntervalSince1970: 5)), hasData: false),
    ]
    files.setWriting(true)
    #expect(heads == expected)
    #expect(await cache.heads(for: []).isEmpty)
    let statistics = await cache.statistics()
    #expect((statistics.hits, statistics.misses) == (0, 0))
    #expect(await cache.contentID(for: key(1)) == entry(1, 700).contentID)
    await cache.close()
  }

  @Test(arguments: [true, false])
  func aRenewalCountsBeforeAndAfterItIsWritten(isWritten: Bool) async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    let later = Date(timeIntervalSinceReferenceDate: 5000)
    await cache.renew(key(1), contentID: entry(1).contentID, expires: later, metadata: Data("new".utf8))
    if isWritten { await cache.flush() }
    let found = try #require(await cache.heads(for: [key(1)])[0])
    #expect((found.expires, found.metadata) == (later, Data("new".utf8)))
    #expect(found.contentID == entry(1).contentID)
    await cache.close()
  }

  @Test
  func whatIsOlderThanTheLifetimeIsNotThere() async throws {
    let folder = try Folder()
    let clock = ManualClock(now: Date(timeIntervalSinceReferenceDate: 1000))
    var options = DiskOptions(sizeLimit: 1 << 20)
    options.lifetime = .seconds(60)
    let cache = try DiskCache(directory: folder.cache, options: options, files: SystemFiles(), clock: clock)
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    #expect(await cache.heads(for: [key(1)])[0] != nil)
    clock.advance(by: .seconds(60))
    #expect(await cache.heads(for: [key(1)])[0] == nil)
    guard case .missing = cache.warmEntry(for: key(1)) else {
      Issue.record("what is over is found")
      return
    }
    await cache.close()
  }

  /// A disk that always has to be waited for.
  @Test
  func whatTheSystemHasNotInMemoryIsReadOnAThreadThatMayWait() async throws {
    let cache = try DiskCache(
      directory: URL(fileURLWithPath: "/cache"),
      options: DiskOptions(sizeLimit: 1 << 20),
      files: MemoryFiles(),
      clock: ManualClock(),
    )
    for number in 0..<3 { await cache.store(entry(number), for: key(number)) }
    await cache.flush()
    let heads = await cache.heads(for: (0..<4).map { key($0) })
    #expect(heads == (0..<3).map { head(entry($0), hasData: false) } + [nil])
    guard case .unknown = cache.warmEntry(for: key(1)) else {
      Issue.record("read without waiting, from a disk that cannot")
      return
    }
    // Neither has counted anything.
    #expect(await cache.statistics().hits == 0)
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(await cache.statistics().hits == 1)
    #expect(await cache.statistics().misses == 0)
    await cache.close()
  }

  @Test
  func aHeadThatIsDamagedIsMissedAndNothingElseIs() async throws {
    let disk = MemoryFiles()
    let options = DiskOptions(sizeLimit: 1 << 20)
    let url = URL(fileURLWithPath: "/cache")
    let cache = try DiskCache(directory: url, options: options, files: disk, clock: ManualClock())
    await cache.store(entry(1), for: key(1))
    await cache.store(entry(2), for: key(2))
    await cache.flush()
    // A bit of the first header's length.
    disk.state.withLock { disk in
      for (path, inode) in disk.names where path.hasSuffix(".segment") { disk.inodes[inode]?.bytes[33] ^= 1 }
    }
    let heads = await cache.heads(for: [key(1), key(2)])
    #expect(heads == [nil, head(entry(2), hasData: false)])
    // That is for who wants to use it.
    #expect(await cache.statistics().damaged == 0)
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(await cache.statistics().damaged == 1)
    await cache.close()
  }
}
