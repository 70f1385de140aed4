import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineCaching

/// A disk that others fill.
struct DiskSpaceTests {
  private func cache(_ folder: Folder, _ files: FaultyFiles, limit: Int) throws -> DiskCache {
    try DiskCache(directory: folder.cache, options: DiskOptions(sizeLimit: limit), files: files, clock: ManualClock())
  }

  @Test(arguments: [
    (4 << 40, (4 << 40) / 20), (100 << 30, 5 << 30), (10 << 30, 1 << 30), (2 << 30, (2 << 30) / 5), (0, 0),
  ])
  func aTwentiethStaysFreeAtLeastAGigabyteAtMostAFifth(total: Int, reserve: Int) {
    #expect(DiskSpace(total: total, free: 0).reserve == reserve)
  }

  @Test
  func theCacheShrinksWhileTheDiskIsNearlyFullAndGrowsAgain() async throws {
    let folder = try Folder()
    let (files, limit, total) = (FaultyFiles(), 4 << 20, 100 << 30)
    let cache = try cache(folder, files, limit: limit)
    func fill(_ numbers: Range<Int>) async {
      for number in numbers { await cache.store(entry(number, 20_000), for: key(number)) }
      await cache.flush()
    }
    files.state.withLock { $0.space = DiskSpace(total: total, free: total / 2) }
    await fill(0..<300)
    #expect(folder.bytes > limit / 2)

    // A megabyte below what is to stay free.
    files.state.withLock { $0.space = DiskSpace(total: total, free: 5 << 30 - 1 << 20) }
    let before = folder.bytes
    await fill(300..<301)
    #expect(folder.bytes <= before - 1 << 20 + limit / 20)
    #expect(await cache.contains(key(300)))

    files.state.withLock { $0.space = DiskSpace(total: total, free: 0) }
    await fill(301..<302)
    #expect(folder.bytes <= limit / 10 + limit / 20)
    #expect(await cache.contains(key(301)))

    files.state.withLock { $0.space = DiskSpace(total: total, free: total / 2) }
    await fill(400..<700)
    #expect(folder.bytes > limit / 2)
  }

  @Test
  func aCacheThatIsOpenedOnAFullDiskGivesUpWhatItHas() async throws {
    let folder = try Folder()
    let (files, limit) = (FaultyFiles(), 4 << 20)
    do {
      let cache = try cache(folder, files, limit: limit)
      for number in 0..<150 { await cache.store(entry(number, 20_000), for: key(number)) }
      await cache.close()
    }
    files.state.withLock { $0.space = DiskSpace(total: 100 << 30, free: 0) }
    let cache = try cache(folder, files, limit: limit)
    await cache.flush()
    #expect(folder.bytes <= limit / 10 + limit / 20)
    #expect(await cache.statistics().entries > 0)
  }

  @Test
  func theMachinesDiskSaysWhatItHas() throws {
    let space = try #require(SystemFiles().space(at: FileManager.default.temporaryDirectory.path))
    #expect(space.total > 0 && space.free <= space.total)
    #expect(SystemFiles().space(at: "/no such folder") == nil)
  }
}
