import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Folders in which something else stands in place of a file, and files that cannot be opened for now.
@Suite(.patient)
struct DiskFileKindTests {
  private static let count = 4

  private func fill(_ folder: Folder) async throws {
    let cache = try folder.cache(1 << 20)
    for number in 0..<3 { await cache.store(entry(number, 300), for: key(number)) }
    // A file of its own.
    await cache.store(entry(3, 40_000), for: key(3))
    await cache.flush()
    await cache.close()
  }

  @Test
  func aFIFOInPlaceOfAnyFileIsNoFileAndNothingWaitsForIt() async throws {
    let folder = try Folder()
    try await fill(folder)
    let files = Files.all(in: folder.cache)
    let names = files.keys.filter { $0 != "lock" }.sorted()
    #expect(names.count >= 4)
    for name in names {
      try Files.write(files, to: folder.cache)
      let path = folder.cache.appendingPathComponent(name).path
      #expect(unsafe unlink(path) == 0)
      #expect(unsafe mkfifo(path, 0o600) == 0)

      let cache = try folder.cache(1 << 20)
      for number in 0..<Self.count {
        guard let found = await cache.entry(for: key(number)) else { continue }
        #expect(found == entry(number, number == 3 ? 40_000 : 300), "\(name)")
      }
      await cache.store(entry(9, 100), for: key(9))
      await cache.store(entry(8, 50_000), for: key(8))
      await cache.flush()
      await cache.close()
      let again = try folder.cache(1 << 20)
      #expect(await again.entry(for: key(9)) == entry(9, 100), "\(name)")
      #expect(await again.entry(for: key(8)) == entry(8, 50_000), "\(name)")
      await again.close()
    }
  }

  @Test
  func aFIFOInPlaceOfTheLockIsAnErrorThatSaysSo() async throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(at: folder.cache, withIntermediateDirectories: true)
    #expect(unsafe mkfifo(folder.cache.appendingPathComponent("lock").path, 0o600) == 0)
    let error = #expect(throws: DiskCacheError.self) { try folder.cache() }
    #expect(error?.reason == "it is a FIFO, not a regular file")
  }

  /// Who can change the files of a cache decides what its readers see.
  @Test(arguments: [0o777, 0o702, 0o1777] as [mode_t])
  func aFolderThatEverybodyMayWriteToIsRefused(mode: mode_t) throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(at: folder.cache, withIntermediateDirectories: true)
    #expect(unsafe chmod(folder.cache.path, mode) == 0)
    let error = #expect(throws: DiskCacheError.self) { try folder.cache() }
    #expect(error?.reason.hasPrefix("everybody may write to the folder") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.cache.path).isEmpty)
    #expect(unsafe chmod(folder.cache.path, 0o770) == 0)
    #expect(throws: Never.self) { try folder.cache() }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
  func aFolderOfAnotherUserIsRefused() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(at: folder.cache, withIntermediateDirectories: true)
    #expect(unsafe chown(folder.cache.path, 65_534, 65_534) == 0)
    let error = #expect(throws: DiskCacheError.self) { try folder.cache() }
    #expect(error?.reason == "the folder belongs to another user; use one of your own")
  }

  /// A link could name any file of the user's, to be shown or written over.
  @Test
  func aLinkInPlaceOfAnyFileIsNotFollowed() async throws {
    let folder = try Folder()
    try await fill(folder)
    let files = Files.all(in: folder.cache)
    let outside = folder.cache.deletingLastPathComponent().appendingPathComponent("outside")
    for name in files.keys.sorted() {
      try Files.write(files, to: folder.cache)
      try Data("mine".utf8).write(to: outside)
      let path = folder.cache.appendingPathComponent(name).path
      #expect(unsafe unlink(path) == 0)
      #expect(unsafe symlink(outside.path, path) == 0)
      if let cache = try? folder.cache(1 << 20) {
        await cache.store(entry(9, 100), for: key(9))
        await cache.flush()
        await cache.close()
      } else {
        #expect(name == "lock")
      }
      #expect(try Data(contentsOf: outside) == Data("mine".utf8), "\(name)")
    }
  }

  @Test(arguments: [EACCES, EROFS])
  func aCacheThatMayBeReadAndNotWrittenServes(code: Int32) async throws {
    let folder = try Folder()
    try await fill(folder)
    let before = Files.all(in: folder.cache)
    let files = FaultyFiles()
    files.state.withLock { $0.unmakeable = code }
    let cache = try DiskCache(
      directory: folder.cache,
      options: DiskOptions(sizeLimit: 1 << 20),
      files: files,
      clock: ManualClock(),
    )

    #expect(cache.isReadOnly && cache.refusal?.code == code)
    for number in 0..<Self.count {
      #expect(await cache.entry(for: key(number)) == entry(number, number == 3 ? 40_000 : 300))
    }
    await cache.store(entry(9, 100), for: key(9))
    await cache.remove(key(0))
    await cache.flush()
    await cache.close()
    #expect(Files.all(in: folder.cache) == before)
  }

  @Test
  func aFolderThatMayNotBeWrittenAndIsNoCacheIsAnError() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(at: folder.cache, withIntermediateDirectories: true)
    let files = FaultyFiles()
    files.state.withLock { $0.unmakeable = EROFS }

    let error = #expect(throws: DiskCacheError.self) {
      try DiskCache(directory: folder.cache, options: DiskOptions(sizeLimit: 1), files: files, clock: ManualClock())
    }
    #expect(error?.reason == FileError(code: EROFS).description)
  }

  /// As with a program that has too many files open when it starts.
  @Test(arguments: ["format", ".seg"])
  func filesThatCannotBeOpenedForNowAreLeftAsTheyAre(part: String) async throws {
    let folder = try Folder()
    try await fill(folder)
    let before = Files.all(in: folder.cache)

    let warnings = Lock([String]())
    let files = FaultyFiles()
    files.state.withLock { $0.unopenable = (part, EMFILE) }
    let cache = try DiskCache(
      directory: folder.cache,
      options: DiskOptions(sizeLimit: 1 << 20),
      files: files,
      clock: ManualClock(),
      warn: { line in warnings.withLock { $0.append(line) } },
    )
    #expect(await cache.entry(for: key(0)) == nil)
    await cache.store(entry(9, 100), for: key(9))
    await cache.flush()
    await cache.close()
    #expect(Files.all(in: folder.cache) == before)
    #expect(warnings.withLock { $0 }.contains { $0.contains("Too many open files") })

    let later = try folder.cache(1 << 20)
    for number in 0..<Self.count {
      #expect(await later.entry(for: key(number)) == entry(number, number == 3 ? 40_000 : 300))
    }
    await later.close()
  }
}
