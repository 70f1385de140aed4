import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Every file that the cache has, spoiled at every region: what is found is whole, and it works on.
struct DiskSpoilingTests {
  private static let folder = URL(fileURLWithPath: "/cache")
  private static let parts = [20, 21]

  private static var options: DiskOptions {
    var options = DiskOptions(sizeLimit: 1 << 20)
    options.segmentSize = 4096
    options.spillThreshold = 2048
    return options
  }

  private static func open(_ files: MemoryFiles) throws -> DiskCache {
    try DiskCache(directory: folder, options: options, files: files, clock: ManualClock())
  }

  /// A cache of files of every kind, as a kill in the middle of a body leaves it, with what may be found in it.
  private static func files() async throws -> (files: [String: Data], Promises) {
    let files = MemoryFiles()
    let cache = try open(files)
    var promises = Promises()
    for (number, size) in [300, 900, 1500, 700, 200, 1800, 5000, 2500].enumerated() {
      let kind: CachedData.Kind = number % 3 == 2 ? .finished : .original
      let version = promises.put(number)
      await cache.store(Promises.entry(number, size, version: version, kind: kind), for: key(number))
    }
    for number in parts {
      let writer = await cache.partialWriter(for: key(number), metadata: Data("etag".utf8), after: nil)
      await writer?.append(content(number, 30_000))
      await writer?.keep()
    }
    await cache.trim(to: 1 << 20)
    await cache.store(Promises.entry(0, 400, version: promises.put(0)), for: key(0))
    await cache.store(Promises.entry(1, 1200, version: promises.put(1), kind: .finished), for: key(1))
    promises.remove(3)
    await cache.remove(key(3))
    let metadata = Data(Promises.metadata(4, 1, 200, renewal: promises.renew(4)).utf8)
    await cache.renew(key(4), contentID: ContentID(of: content(4, 200, version: 1)), expires: nil, metadata: metadata)
    _ = await cache.entry(for: key(5))
    let writer = await cache.bodyWriter(for: key(8))
    await writer.append(content(8, 262_144))
    await cache.flush()
    var left = files.files(in: folder.path)
    // Of the time between writing and renaming.
    left["index.tmp"] = left["index"]
    await writer.seal(stored: Date(timeIntervalSinceReferenceDate: 0))
    await cache.close()
    // All that is wanted of them is that they are right.
    return (left, promises)
  }

  private static func problem(_ spoiled: [String: Data], _ promises: Promises) async throws -> String? {
    let files = MemoryFiles(spoiled, in: folder.path)
    let cache = try open(files)
    for number in promises.numbers {
      if let problem = promises.problem(number, await cache.entry(for: key(number))) { return problem }
    }
    for number in parts {
      guard let part = await cache.partial(for: key(number)) else { continue }
      if await part.bytes(0..<part.count) != content(number, part.count) { return "wrong bytes in a part" }
    }
    await cache.store(entry(9, 100), for: key(9))
    await cache.store(entry(10, 3000), for: key(10))
    await cache.flush()
    guard await cache.entry(for: key(9)) == entry(9, 100) else { return "it does not keep what is stored" }
    await cache.close()
    let again = try open(files)
    guard await again.entry(for: key(9)) == entry(9, 100), await again.entry(for: key(10)) == entry(10, 3000) else {
      return "it does not find what was stored"
    }
    let leftOver = files.files(in: folder.path).keys.filter { $0.hasSuffix(".tmp") }
    await again.close()
    return leftOver.isEmpty ? nil : "\(leftOver) left over"
  }

  /// What can happen to a file: a name, and what is left of it.
  private static func variants(_ data: Data, _ name: String, steps: Int) -> [(String, Data)] {
    var random = SplitMix64(seed: 3)
    var variants: [(String, Data)] = [
      ("longer by garbage", data + content(77, 700)), ("longer by itself", data + data),
    ]
    let step = max(1, data.count / steps)
    for offset in stride(from: 0, to: data.count, by: step) {
      variants.append(("cut off at \(offset)", data.prefix(offset)))
      var flipped = data
      flipped[offset + Int.random(in: 0..<min(step, data.count - offset), using: &random)] ^= 1 << UInt8(offset % 8)
      variants.append(("a bit flipped behind \(offset)", flipped))
    }
    for size in [8, 64, 512, 4096] {
      for offset in stride(from: 0, to: data.count, by: max(size, data.count / (steps / 4))) {
        var zeroed = data
        let end = min(data.count, offset + size)
        zeroed.replaceSubrange(offset..<end, with: Data(count: end - offset))
        variants.append(("zeros from \(offset) to \(end)", zeroed))
        var moved = data
        moved.removeSubrange(offset..<end)
        variants.append(("without \(offset) to \(end)", moved))
      }
    }
    return variants
  }

  @Test
  func everyKindOfFileIsThere() async throws {
    let (files, promises) = try await Self.files()
    for end in ["lock", "format", "index", ".segment", ".body", ".partial", ".progress", ".body.tmp", "index.tmp"] {
      #expect(files.keys.contains { $0.hasSuffix(end) }, "\(end)")
    }
    #expect(files.keys.contains { $0.hasPrefix("o") } && files.keys.contains { $0.hasPrefix("f") })
    #expect(try await Self.problem(files, promises) == nil)
    let cache = try Self.open(MemoryFiles(files, in: Self.folder.path))
    #expect(await cache.statistics().entries == 7)
    #expect(await cache.statistics().partials == 2)
  }

  /// VITRINE_DAMAGE_STEPS says how many regions a file has.
  @Test
  func anyRegionOfAnyFileMayBeSpoiled() async throws {
    let steps = ProcessInfo.processInfo.environment["VITRINE_DAMAGE_STEPS"].flatMap { Int($0) } ?? 24
    let (files, promises) = try await Self.files()
    let lock = Lock((count: 0, problems: [String]()))
    await withTaskGroup(of: Void.self) { group in
      for (name, data) in files {
        group.addTask {
          for (what, spoiled) in Self.variants(data, name, steps: steps) {
            var all = files
            all[name] = spoiled
            let problem = await { () async -> String? in
              do { return try await Self.problem(all, promises) } catch { return "\(error)" }
            }()
            lock.withLock { lock in
              lock.count += 1
              if let problem { lock.problems.append("\(name) \(what): \(problem)") }
            }
          }
        }
      }
    }
    let (count, problems) = lock.withLock { $0 }
    print("\(count) spoiled caches of \(files.count) files")
    #expect(count > 1000)
    #expect(problems.isEmpty, "\(problems.count): \(problems.prefix(5))")
  }
}
