import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Power cuts at every moment of a history: each state that one can leave is opened, and what was flushed must be
/// there.
struct DiskPowerTests {
  enum Step: Sendable {
    case put(Int, Int)
    case putFinished(Int, Int)
    case stream(Int, Int)
    case keepPart(Int, Int)
    case resume(Int, Int)
    case remove(Int)
    case removeAll
    case renew(Int)
    case trim(Int)
    case flush
    case syncBeside
    case reopen
  }

  private static let folder = URL(fileURLWithPath: "/cache")
  /// States that are opened of a moment; of one that has more, so many at random.
  private static let sampleCount = 40

  private static func options(_ limit: Int) -> DiskOptions {
    var options = DiskOptions(sizeLimit: limit)
    options.segmentSize = 4096
    options.spillThreshold = 2048
    options.entryLimit = 400_000
    return options
  }

  private static func open(_ files: MemoryFiles, _ clock: ManualClock, limit: Int) throws -> DiskCache {
    try DiskCache(directory: folder, options: options(limit), files: files, clock: clock)
  }

  /// Goes through a history and returns its moments.
  private static func play(_ history: [Step], limit: Int) async throws -> [MemoryDisk.Moment] {
    let (files, clock) = (MemoryFiles(), ManualClock())
    var cache = try open(files, clock, limit: limit)
    _ = await cache.contains(key(0))
    files.state.withLock { $0.moments = [] }
    func promise<Answer>(_ change: (inout Promises) -> Answer) -> Answer {
      files.state.withLock { change(&$0.promises) }
    }
    for step in history {
      switch step {
      case .put(let number, let size):
        let version = promise { $0.put(number) }
        await cache.store(Promises.entry(number, size, version: version), for: key(number))
      case .putFinished(let number, let size):
        let version = promise { $0.put(number) }
        await cache.store(Promises.entry(number, size, version: version, kind: .finished), for: key(number))
      case .stream(let number, let size):
        let version = promise { $0.put(number) }
        let writer = await cache.bodyWriter(for: key(number))
        await writer.append(content(number, size, version: version))
        await writer.seal(metadata: Data(Promises.metadata(number, version, size).utf8), stored: clock.now)
      case .keepPart(let number, let size):
        let writer = await cache.partialWriter(for: key(number), metadata: Data(), after: nil)
        await writer?.append(content(number, size, version: 1))
        await writer?.keep()
      case .resume(let number, let size):
        guard let part = await cache.partial(for: key(number)) else { continue }
        let version = promise { $0.put(number) }
        let writer = await cache.partialWriter(for: key(number), metadata: Data(), after: part)
        await writer?.append(content(number, size, version: 1).dropFirst(part.count))
        await writer?.seal(metadata: Data(Promises.metadata(number, version, size).utf8), stored: clock.now)
      case .remove(let number):
        promise { $0.remove(number) }
        await cache.remove(key(number))
      case .removeAll:
        promise { $0.removeAll() }
        await cache.removeAll()
      case .renew(let number):
        guard let known = await cache.entry(for: key(number)) else { continue }
        let renewal = promise { $0.renew(number) }
        let version = promise { $0.newest(number) }
        let metadata = Promises.metadata(number, version, known.data.count, renewal: renewal)
        await cache.renew(key(number), contentID: known.contentID, expires: nil, metadata: Data(metadata.utf8))
      case .trim(let size):
        promise { $0.evict() }
        await cache.trim(to: size)
      case .flush:
        if limit < 1 << 20 { promise { $0.evict() } }
        await cache.flush()
        promise { $0.flush() }
      case .syncBeside:
        clock.advance(by: .seconds(2))
      case .reopen:
        if limit < 1 << 20 { promise { $0.evict() } }
        await cache.close()
        promise { $0.flush() }
        cache = try open(files, clock, limit: limit)
      }
      if limit < 1 << 20 { promise { $0.evict() } }
    }
    await cache.flush()
    promise { $0.flush() }
    files.state.withLock { $0.noteChange() }
    return files.state.withLock { $0.moments ?? [] }
  }

  /// Opens what a cut left; returns what is wrong with it.
  private static func problem(_ disk: MemoryDisk, _ promises: Promises, limit: Int) async throws -> String? {
    let (files, clock) = (MemoryFiles(disk), ManualClock())
    let cache = try open(files, clock, limit: limit)
    for number in promises.numbers {
      if let problem = promises.problem(number, await cache.entry(for: key(number))) { return problem }
      guard let part = await cache.partial(for: key(number)) else { continue }
      guard let bytes = await part.bytes(0..<part.count) else { return "a part cannot be read" }
      if content(number, bytes.count, version: 1) != bytes { return "wrong bytes in a part" }
    }
    await cache.store(entry(999), for: key(999))
    await cache.flush()
    await cache.close()
    let again = try open(files, clock, limit: limit)
    guard await again.entry(for: key(999)) == entry(999) else { return "it does not keep what is stored" }
    for number in promises.numbers {
      if let problem = promises.problem(number, await again.entry(for: key(number))) { return "again: \(problem)" }
    }
    await again.close()
    return nil
  }

  /// Returns how many states were opened.
  private static func cut(_ history: [Step], limit: Int = 1 << 20, seed: UInt64) async throws -> Int {
    var random = SplitMix64(seed: seed)
    var count = 0
    for (number, moment) in try await play(history, limit: limit).enumerated() {
      let all = moment.stateCount
      let states =
        all <= sampleCount ? Array(0..<all) : (0..<sampleCount).map { _ in Int.random(in: 0..<all, using: &random) }
      for state in states {
        count += 1
        guard let problem = try await problem(moment.disk(state), moment.promises, limit: limit) else { continue }
        Issue.record("seed \(seed), moment \(number), state \(state) of \(all): \(problem) — \(history)")
        return count
      }
    }
    return count
  }

  static let histories: [[Step]] = [
    [.put(1, 900), .put(2, 300), .flush, .put(1, 900), .put(3, 700)],
    [.put(1, 900), .flush, .remove(1), .flush, .put(2, 900), .put(1, 500)],
    [.put(1, 900), .flush, .putFinished(1, 800), .flush, .put(1, 700)],
    [.put(1, 900), .putFinished(2, 900), .flush, .putFinished(1, 800), .put(2, 800), .flush],
    [.put(1, 5000), .flush, .put(1, 6000), .put(2, 3000), .flush],
    [.put(1, 5000), .flush, .put(1, 100), .flush, .remove(1), .flush],
    [.put(1, 5000), .flush, .remove(1), .put(2, 5000)],
    [.put(1, 900), .put(2, 5000), .flush, .removeAll, .flush, .put(1, 500)],
    [
      .put(1, 900), .flush, .remove(1), .flush, .put(2, 4000), .put(3, 2000), .put(4, 2000), .flush, .removeAll,
      .put(5, 1),
    ],
    [.put(1, 1900), .flush, .put(1, 1800), .put(2, 1900), .put(3, 1900), .put(4, 1900), .flush],
    [
      .put(1, 1900), .put(2, 10), .flush, .put(1, 1800), .put(2, 1900), .syncBeside, .put(3, 1900), .put(4, 1900),
      .flush,
    ],
    [.put(1, 900), .flush, .renew(1), .flush, .renew(1), .put(2, 900)],
    [.stream(1, 5000), .flush, .stream(1, 300_000), .flush, .stream(1, 700)],
    [.keepPart(1, 270_000), .put(2, 900), .flush, .resume(1, 300_000), .flush],
    [.put(1, 900), .put(2, 900), .reopen, .put(1, 800), .remove(2), .flush, .put(2, 900)],
    [
      .put(1, 1900), .flush, .put(1, 1800), .put(1, 1700), .put(1, 1600), .put(1, 1500), .trim(4000), .put(1, 900),
      .flush,
    ],
  ]

  @Test(arguments: histories.indices)
  func whatWasFlushedOutlivesAPowerCutAtAnyMoment(history: Int) async throws {
    #expect(try await Self.cut(Self.histories[history], seed: 1) > 10)
  }

  /// Of small entries, with and without room for all of them; SEED and COUNT from the environment.
  @Test
  func historiesAtRandomOutliveAPowerCut() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["VITRINE_CRASH_SEED"].flatMap { UInt64($0) } ?? 1
    let count = environment["VITRINE_POWER_HISTORIES"].flatMap { Int($0) } ?? 12
    var states = 0
    for number in 0..<count {
      var random = SplitMix64(seed: seed &+ UInt64(number))
      let history = (0..<Int.random(in: 4...9, using: &random)).map { _ in Self.step(&random) }
      states += try await Self.cut(history, limit: number % 3 == 2 ? 16 << 10 : 1 << 20, seed: seed &+ UInt64(number))
    }
    print("\(count) histories from seed \(seed): \(states) states after a power cut")
    #expect(states > count * 20)
  }

  private static func step(_ random: inout SplitMix64) -> Step {
    let (number, size) = (Int.random(in: 1...4, using: &random), Int.random(in: 1...1900, using: &random))
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<6: return .put(number, size)
    case 6..<8: return .putFinished(number, size)
    case 8: return .put(number, 2500 + size)
    case 9: return .putFinished(number, 2500 + size)
    case 10: return .stream(number, 262_144 + size)
    case 11: return .remove(number)
    case 12: return .renew(number)
    case 13: return .removeAll
    case 14: return .syncBeside
    case 15: return .reopen
    case 16: return .trim(8000)
    default: return .flush
    }
  }
}
