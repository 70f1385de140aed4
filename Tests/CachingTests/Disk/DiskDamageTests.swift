import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Folders as crashes, torn writes and bad disks leave them: what is found is whole and right, or it is a miss.
struct DiskDamageTests {
  private static let count = 6
  /// Places of a file that are damaged; the long form is that of `VITRINE_DAMAGE_STEPS`.
  private static let steps = ProcessInfo.processInfo.environment["VITRINE_DAMAGE_STEPS"].flatMap { Int($0) } ?? 24

  /// The files of a small cache of every kind of record, closed or as a kill would leave it.
  private func files(isClosed: Bool) async throws -> [String: Data] {
    let folder = try Folder()
    // So small that bodies of 40 KB are files of their own.
    let cache = try folder.cache(1 << 20)
    for number in 0..<4 { await cache.store(entry(number, 300 + number), for: key(number)) }
    await cache.store(entry(4, 200, kind: .finished), for: key(4))
    await cache.store(entry(5, 40_000), for: key(5))
    await cache.flush()
    if !isClosed {
      // Some of the log covered by an index, some not.
      await cache.trim(to: 1 << 20)
    }
    await cache.store(entry(0, 310, version: 1), for: key(0))
    await cache.remove(key(1))
    _ = await cache.entry(for: key(2))
    await cache.renew(key(2), contentID: entry(2, 302).contentID, expires: nil, metadata: Data("new".utf8))
    await cache.flush()
    let files = Files.all(in: folder.cache)
    await cache.close()
    return isClosed ? Files.all(in: folder.cache) : files
  }

  /// Whatever is found must be a version that was once stored for the key; returns how many are found.
  private func check(_ files: [String: Data], _ what: @autoclosure () -> String, in folder: Folder) async throws -> Int
  {
    try Files.write(files, to: folder.cache)
    let cache = try folder.cache(1 << 20)
    var found = 0
    for number in 0..<Self.count {
      guard let data = await cache.entry(for: key(number))?.data else { continue }
      found += 1
      let right: [Data] =
        switch number {
        case 0: [content(0, 300), content(0, 310, version: 1)]
        case 4: [content(4, 200)]
        case 5: [content(5, 40_000)]
        default: [content(number, 300 + number)]
        }
      if !right.contains(data) { Issue.record("wrong bytes for \(number): \(what())") }
    }
    // It works on.
    await cache.store(entry(9, 100), for: key(9))
    await cache.flush()
    #expect(await cache.entry(for: key(9)) == entry(9, 100), "\(what())")
    await cache.close()
    let again = try folder.cache(1 << 20)
    #expect(await again.entry(for: key(9)) == entry(9, 100), "\(what())")
    #expect(await again.verify().damaged.isEmpty, "\(what())")
    await again.close()
    return found
  }

  @Test(arguments: [false, true])
  func undamagedAllIsFound(isClosed: Bool) async throws {
    let folder = try Folder()
    var files = try await files(isClosed: isClosed)
    #expect(try await check(files, "whole", in: folder) == 5)
    files["index"] = nil
    #expect(try await check(files, "without the index", in: folder) == 5)
  }

  @Test(arguments: [false, true])
  func filesCutOffAnywhere(isClosed: Bool) async throws {
    let folder = try Folder()
    let files = try await files(isClosed: isClosed)
    for (name, data) in files {
      for size in stride(from: 0, to: data.count, by: max(7, data.count / Self.steps)) {
        var damaged = files
        damaged[name] = data.prefix(size)
        _ = try await check(damaged, "\(name) cut off at \(size)", in: folder)
      }
    }
  }

  @Test(arguments: [false, true])
  func missingFiles(isClosed: Bool) async throws {
    let folder = try Folder()
    let files = try await files(isClosed: isClosed)
    for name in files.keys {
      var damaged = files
      damaged[name] = nil
      _ = try await check(damaged, "\(name) missing", in: folder)
    }
  }

  @Test(arguments: [false, true])
  func bitsFlippedAnywhere(isClosed: Bool) async throws {
    let folder = try Folder()
    let files = try await files(isClosed: isClosed)
    var random = SplitMix64(seed: 3)
    for (name, data) in files.sorted(by: { $0.key < $1.key }) {
      for offset in stride(from: 0, to: data.count, by: max(5, data.count / Self.steps)) {
        var damaged = files
        damaged[name]?[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        _ = try await check(damaged, "\(name) flipped at \(offset)", in: folder)
      }
    }
  }

  @Test(arguments: [false, true])
  func pagesOfZerosAnywhere(isClosed: Bool) async throws {
    let folder = try Folder()
    let files = try await files(isClosed: isClosed)
    for (name, data) in files {
      for offset in stride(from: 0, to: data.count, by: max(100, data.count / 12)) {
        for length in [64, 512, 4096] {
          var damaged = files
          let end = min(data.count, offset + length)
          damaged[name]?.replaceSubrange(offset..<end, with: Data(count: end - offset))
          _ = try await check(damaged, "\(name) zero from \(offset) to \(end)", in: folder)
        }
      }
    }
  }

  @Test
  func whatIsRemovedStaysRemovedWithoutTheIndex() async throws {
    let folder = try Folder()
    var files = try await files(isClosed: true)
    files["index"] = nil
    try Files.write(files, to: folder.cache)
    let cache = try folder.cache(1 << 20)
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(await cache.entry(for: key(0))?.data == content(0, 310, version: 1))
    #expect(await cache.entry(for: key(2))?.metadata == Data("new".utf8))
  }

  @Test
  func aTornTailIsCutOffAndWrittenOver() async throws {
    let folder = try Folder()
    var files = try await files(isClosed: false)
    let name = try #require(files.keys.first { $0.hasPrefix("o") })
    let whole = try #require(files[name])
    files[name] = whole + whole.prefix(200)[8...]
    #expect(try await check(files, "torn", in: folder) == 5)
  }

  @Test
  func damageIsFoundNamedAndDropped() async throws {
    let folder = try Folder()
    do {
      let cache = try folder.cache()
      for number in 0..<3 { await cache.store(entry(number, 1000), for: key(number)) }
      await cache.close()
    }
    var files = Files.all(in: folder.cache)
    let name = try #require(files.keys.first { $0.hasPrefix("o") })
    let place = try #require(files[name]?.firstRange(of: content(1, 1000)))
    files[name]?[place.lowerBound + 10] ^= 1
    try Files.write(files, to: folder.cache)
    let cache = try folder.cache()
    let report = await cache.verify()
    #expect(report.checked == 3)
    #expect(report.damaged == [key(1)])
    #expect(await cache.entries().count == 2)
    #expect(await cache.statistics().damaged == 1)
    #expect(await cache.verify().damaged.isEmpty)
    await cache.close()

    let again = try folder.cache()
    #expect(await again.verify().damaged.isEmpty)
    #expect(await again.entries().count == 2)
  }

  @Test
  func whoOnlyLooksTakesNoLockAndChangesNothing() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    for number in 0..<3 { await cache.store(entry(number, 1000), for: key(number)) }
    await cache.close()
    let before = Files.all(in: folder.cache)

    // Of a limit that would have it evict, were it to write.
    var options = DiskOptions(sizeLimit: 1000)
    options.readsOnly = true
    let reader = try DiskCache(directory: folder.cache, options: options, files: SystemFiles(), clock: ManualClock())
    #expect(await reader.entries().count == 3)
    #expect(await reader.entry(for: key(1))?.data == content(1, 1000))
    #expect(reader.isReadOnly)
    let writer = try folder.cache()
    #expect(!writer.isReadOnly)
    await reader.removeAll()
    await reader.close()
    #expect(Files.all(in: folder.cache) == before)
    await writer.close()
  }

  @Test
  func aDamagedEntryIsAMissAndDropped() async throws {
    let folder = try Folder()
    let cache = try folder.cache()
    await cache.store(entry(1, 1000), for: key(1))
    await cache.flush()
    let name = try #require(Files.all(in: folder.cache).keys.first { $0.hasPrefix("o") })
    let handle = try SystemFiles().open(
      folder.cache.appendingPathComponent(name).path,
      isWritable: true,
      isCreated: false,
    )
    try handle.truncate(to: 500)
    #expect(await cache.entry(for: key(1)) == nil)
    #expect(await cache.statistics().damaged == 1)
    #expect(await cache.statistics().entries == 0)
  }

  @Test
  func anUnknownFormatIsSetAside() async throws {
    let folder = try Folder()
    var files = try await files(isClosed: true)
    var format = try #require(files["format"])
    format[8] = 99
    var checksum = CRC32C()
    checksum.append(format.prefix(28))
    for byte in 0..<4 { format[28 + byte] = UInt8(truncatingIfNeeded: checksum.value >> UInt32(8 * byte)) }
    files["format"] = format
    try Files.write(files, to: folder.cache)
    let log = Record<String>()
    let cache = try DiskCache(directory: folder.cache, sizeLimit: 1 << 20, clock: ManualClock(), warn: log.add)
    #expect(await cache.statistics().entries == 0)
    #expect(log.events.count == 1)
    let aside = Files.all(in: folder.cache.appendingPathComponent("format-99"))
    #expect(aside["format"] == format)
    #expect(aside.count == files.count - 1)
    await cache.store(entry(1), for: key(1))
    #expect(await cache.entry(for: key(1)) == entry(1))
    await cache.close()
  }
}
