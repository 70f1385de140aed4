import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport

#if os(macOS) || os(Linux)
/// Processes that are killed over one folder, again and again: what is found is whole, and what was flushed is there.
///
/// VITRINE_CRASH_ROUNDS and VITRINE_CRASH_SEED say how often and with what.
@Suite(.serialized)
struct DiskCrashTests {
  @Test
  func whateverIsKilledWhatWasFlushedIsThereAndWhole() async throws {
    let environment = ProcessInfo.processInfo.environment
    let rounds = environment["VITRINE_CRASH_ROUNDS"].flatMap { Int($0) } ?? 6
    let seed = environment["VITRINE_CRASH_SEED"].flatMap { UInt64($0) } ?? 1
    let place = CrashPlace(of: getpid())
    defer { place.remove() }
    var (found, operations) = (0, 0)
    for round in 0..<rounds {
      // Half of the folders have room for all.
      if round % 10 == 0 { try place.begin() }
      let plan = CrashPlan(seed: seed &+ UInt64(round), hasRoom: round / 10 % 2 == 0)
      try place.write(plan)
      async let reading: Void = {
        await #expect(processExitsWith: .signal(SIGKILL)) {
          await CrashPlace(of: getppid()).readUntilKilled()
        }
      }()
      await #expect(processExitsWith: .signal(SIGKILL)) {
        try await CrashPlace(of: getppid()).writeUntilKilled()
      }
      await reading
      let result = try await place.check(plan)
      for problem in result.problems { Issue.record("round \(round), seed \(plan.seed): \(problem)") }
      if !result.problems.isEmpty { break }
      found += result.found
      operations += result.operations
    }
    print(
      "\(rounds) rounds from seed \(seed): \(operations) operations journaled, \(found) entries and parts read back"
    )
    #expect(found > 0)
  }

  @Test
  func anotherProcessReadsWhatIsThereAndKeepsItsOwnInMemory() async throws {
    let place = CrashPlace(of: getpid())
    try place.begin()
    defer { place.remove() }
    let cache = try DiskCache(directory: place.cache, sizeLimit: 64 << 20)
    await cache.store(entry(1), for: key(1))
    await cache.flush()
    await #expect(processExitsWith: .success) {
      let second = try DiskCache(directory: CrashPlace(of: getppid()).cache, sizeLimit: 64 << 20)
      #expect(second.isReadOnly)
      #expect(await second.entry(for: key(1)) == entry(1))
      await second.store(entry(2), for: key(2))
      await second.remove(key(1))
      await second.removeAll()
      await second.store(entry(3), for: key(3))
      #expect(await second.entry(for: key(3)) == entry(3))
      await second.close()
    }
    #expect(!cache.isReadOnly)
    #expect(await cache.entry(for: key(1)) == entry(1))
    #expect(await cache.entries().map(\.key) == [key(1)])
    await cache.close()
  }
}
#endif

/// What a round does.
struct CrashPlan: Sendable {
  var seed: UInt64
  var hasRoom: Bool

  var options: DiskOptions {
    var options = DiskOptions(sizeLimit: hasRoom ? 512 << 20 : 2 << 20)
    options.segmentSize = 64 << 10
    options.spillThreshold = 32 << 10
    options.entryLimit = 512 << 10
    options.syncInterval = .milliseconds(3)
    return options
  }
}

/// A folder that a process shares with those that it starts to be killed, with a journal of what was begun and what
/// flushed.
struct CrashPlace: Sendable {
  static let keys = 0..<18
  static let parts = 50..<53

  private let folder: URL

  init(of process: pid_t) {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("vitrine-crash-\(process)")
  }

  var cache: URL { folder.appendingPathComponent("cache") }
  private var journal: URL { folder.appendingPathComponent("journal") }
  private var planFile: URL { folder.appendingPathComponent("plan") }

  func begin() throws {
    remove()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  func write(_ plan: CrashPlan) throws {
    try Data("\(plan.seed) \(plan.hasRoom ? 1 : 0)".utf8).write(to: planFile)
  }

  private func plan() throws -> CrashPlan {
    let words = try String(decoding: Data(contentsOf: planFile), as: UTF8.self).split(separator: " ")
    return CrashPlan(seed: UInt64(words[0]) ?? 0, hasRoom: words[1] == "1")
  }

  // MARK: - The processes

  func writeUntilKilled() async throws {
    let plan = try plan()
    var random = SplitMix64(seed: plan.seed)
    let isAtCall = Bool.random(using: &random)
    let count = isAtCall ? Int.random(in: 1...300, using: &random) : .max
    let files = KillingFiles(after: count, seed: random.next())
    let journal = try CrashJournal(journal)
    let cache = try DiskCache(directory: cache, options: plan.options, files: files, clock: .system) { warning in
      journal.add("warning \(warning)")
    }
    if !isAtCall {
      // As many turns as a moment has, which the scheduler makes another one each time.
      let turns = Int.random(in: 0..<60_000_000, using: &random)
      _ = startThread(named: "killer") {
        var random = SplitMix64(seed: 1)
        var sum: UInt64 = 0
        for _ in 0..<turns { sum ^= random.next() }
        if sum != 1 { kill(getpid(), SIGKILL) }
      }
    }
    // One that does everything, or several with keys of their own.
    let tasks = Bool.random(using: &random) ? 1 : 3
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        let random = SplitMix64(seed: random.next())
        group.addTask {
          var writer = CrashWriter(cache: cache, journal: journal, task: task, tasks: tasks, random: random)
          await writer.work()
        }
      }
    }
    kill(getpid(), SIGKILL)
  }

  func readUntilKilled() async {
    guard let plan = try? plan() else { return }
    var options = plan.options
    options.readsOnly = true
    var random = SplitMix64(seed: ~plan.seed)
    var left = Int.random(in: 1...600, using: &random)
    while true {
      let cache = try? DiskCache(directory: cache, options: options, files: SystemFiles(), clock: .system)
      for _ in 0..<Int.random(in: 1...200, using: &random) {
        let number = Int.random(in: Self.keys, using: &random)
        // What others do to the files may make a miss, and never anything else.
        if let found = await cache?.entry(for: key(number)), !Promises.isWhole(number, found) { return }
        left -= 1
        if left == 0 { kill(getpid(), SIGKILL) }
      }
    }
  }

  // MARK: - Looking afterwards

  struct Result {
    var problems: [String] = []
    var found = 0
    var operations = 0
  }

  func check(_ plan: CrashPlan) async throws -> Result {
    var result = Result()
    var (promises, operations) = try CrashJournal.promises(in: journal)
    result.operations = operations
    if !plan.hasRoom { promises.evict() }
    let cache = try DiskCache(directory: cache, options: plan.options, files: SystemFiles(), clock: .system)
    if cache.isReadOnly { result.problems.append("the lock outlived its process") }
    for number in promises.numbers {
      let entry = await cache.entry(for: key(number))
      if entry != nil { result.found += 1 }
      if let problem = promises.problem(number, entry) { result.problems.append(problem) }
    }
    for number in Self.parts {
      guard let part = await cache.partial(for: key(number)) else { continue }
      result.found += 1
      let version = Int(String(decoding: part.metadata, as: UTF8.self)) ?? 0
      if await part.bytes(0..<part.count) != content(number, part.count, version: version) {
        result.problems.append("wrong bytes in a part of \(number)")
      }
    }
    if await !cache.verify().damaged.isEmpty { result.problems.append("damaged records") }
    await cache.store(entry(99), for: key(99))
    await cache.flush()
    if await cache.entry(for: key(99)) != entry(99) { result.problems.append("it does not work on") }
    let files = Files.all(in: self.cache)
    if files.keys.contains(where: { $0.hasSuffix(".tmp") }) { result.problems.append("left over: \(files.keys)") }
    let bytes = files.values.reduce(0) { $0 + $1.count }
    let limit = plan.options.sizeLimit
    if bytes > limit + limit / 20 { result.problems.append("\(bytes) bytes for a limit of \(limit)") }
    await cache.close()
    return result
  }
}

/// Lines that outlive the process which writes them.
final class CrashJournal: Sendable {
  private let file: any DiskFile
  private let size: Lock<Int>

  let promises: Promises

  init(_ url: URL) throws {
    promises = try Self.promises(in: url).0
    file = try SystemFiles().open(url.path, isWritable: true, isCreated: true)
    // The last line may be torn.
    let bytes = (try? Data(contentsOf: url)) ?? Data()
    size = Lock(bytes.lastIndex(of: 10).map { $0 + 1 } ?? 0)
    add("begin")
  }

  func add(_ line: String) {
    size.withLock { size in
      let bytes = Array("\(line)\n".utf8)
      unsafe bytes.withUnsafeBytes { unsafe try? file.write($0, at: size) }
      size += bytes.count
    }
  }

  static func promises(in url: URL) throws -> (Promises, operations: Int) {
    var promises = Promises()
    let bytes = (try? Data(contentsOf: url)) ?? Data()
    let lines = String(decoding: bytes.prefix(bytes.lastIndex(of: 10) ?? 0), as: UTF8.self).split(separator: "\n")
    for line in lines {
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Int($0) }
      switch words.first {
      case "put": _ = promises.put(numbers[0])
      case "remove": promises.remove(numbers[0])
      case "renew": _ = promises.renew(numbers[0])
      case "removeAll": promises.removeAll()
      case "evict": promises.evict()
      case "begin": promises.restart()
      case "warning": throw FileError("\(line)")
      default: promises.flush(numbers)
      }
    }
    return (promises, lines.count)
  }
}
