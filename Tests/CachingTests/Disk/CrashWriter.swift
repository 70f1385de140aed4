import VitrineCaching
import VitrineRuntime
import VitrineTestSupport

/// Operations at random on keys of its own, each journaled before it begins, and each flush after it has ended.
struct CrashWriter {
  let cache: DiskCache
  let journal: CrashJournal
  let task: Int
  let tasks: Int
  var random: SplitMix64
  private var promises: Promises

  init(cache: DiskCache, journal: CrashJournal, task: Int, tasks: Int, random: SplitMix64) {
    (self.cache, self.journal, self.task, self.tasks) = (cache, journal, task, tasks)
    self.random = random
    promises = journal.promises
  }

  private func own(_ numbers: Range<Int>) -> [Int] { numbers.filter { $0 % tasks == task } }

  mutating func work() async {
    for _ in 0..<400 { await step() }
  }

  private mutating func step() async {
    let number = own(CrashPlace.keys).randomElement(using: &random) ?? 0
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<40: await store(number, 1...3000)
    case 40..<50: await store(number, 3000...30_000)
    case 50..<54: await store(number, 33_000...120_000)
    case 54..<58: await stream(number)
    case 58..<62: await beginPart()
    case 62..<66: await resumePart()
    case 66..<72:
      promises.remove(number)
      journal.add("remove \(number)")
      await cache.remove(key(number))
    case 72..<78: await renew(number)
    case 78..<90: _ = await cache.entry(for: key(number))
    case 90: await trim()
    case 91 where tasks == 1: await removeAll()
    default:
      await cache.flush()
      journal.add("flush \(own(0..<100).map(String.init).joined(separator: " "))")
    }
  }

  private mutating func put(_ number: Int) -> Int {
    journal.add("put \(number)")
    return promises.put(number)
  }

  private mutating func store(_ number: Int, _ sizes: ClosedRange<Int>) async {
    let size = Int.random(in: sizes, using: &random)
    let kind: CachedData.Kind = Int.random(in: 0..<4, using: &random) == 0 ? .finished : .original
    await cache.store(Promises.entry(number, size, version: put(number), kind: kind), for: key(number))
  }

  private mutating func stream(_ number: Int) async {
    let version = put(number)
    let size = Int.random(in: 1...400_000, using: &random)
    await seal(await cache.bodyWriter(for: key(number)), number, size, version, from: 0)
  }

  private mutating func seal(_ writer: BodyWriter?, _ number: Int, _ size: Int, _ version: Int, from: Int) async {
    let data = content(number, size, version: version)
    var offset = from
    while offset < size {
      let end = min(size, offset + Int.random(in: 1...200_000, using: &random))
      await writer?.append(data[offset..<end])
      offset = end
    }
    await writer?.seal(
      metadata: Data(Promises.metadata(number, version, size).utf8),
      stored: Date(timeIntervalSinceReferenceDate: 1),
    )
  }

  /// Parts have all the size that they are to get at last.
  private mutating func beginPart() async {
    guard let number = own(CrashPlace.parts).randomElement(using: &random) else { return }
    let version = Int.random(in: 1...1000, using: &random)
    let writer = await cache.partialWriter(for: key(number), metadata: Data("\(version)".utf8), after: nil)
    await writer?.append(content(number, Int.random(in: 20_000...300_000, using: &random), version: version))
    if Bool.random(using: &random) { await writer?.keep() }
  }

  /// What is resumed is compared and dropped, or goes on as a part.
  private mutating func resumePart() async {
    guard let number = own(CrashPlace.parts).randomElement(using: &random),
      let part = await cache.partial(for: key(number)),
      let version = Int(String(decoding: part.metadata, as: UTF8.self))
    else { return }
    let writer = await cache.partialWriter(for: key(number), metadata: Data(), after: part)
    let size = part.count + Int.random(in: 1...60_000, using: &random)
    await writer?.append(content(number, size, version: version).dropFirst(part.count))
    if size < 350_000 {
      await writer?.keep()
    } else {
      // An entry of a key that nothing was promised of: its bytes are looked at here.
      await writer?.seal(stored: Date(timeIntervalSinceReferenceDate: 1))
      if let whole = await cache.entry(for: key(number)), whole.data != content(number, size, version: version) {
        exit(4)
      }
    }
  }

  private mutating func renew(_ number: Int) async {
    // What was stored last may have been lost with the process that did.
    guard let known = await cache.entry(for: key(number)), Promises.version(of: known) == promises.newest(number) else {
      return
    }
    journal.add("renew \(number)")
    let renewal = promises.renew(number)
    let metadata = Promises.metadata(number, promises.newest(number), known.data.count, renewal: renewal)
    await cache.renew(key(number), contentID: known.contentID, expires: nil, metadata: Data(metadata.utf8))
  }

  /// Others may have stored while it went on.
  private mutating func trim() async {
    journal.add("evict")
    await cache.trim(to: 1 << 20)
    journal.add("evict")
  }

  private mutating func removeAll() async {
    promises.removeAll()
    journal.add("removeAll")
    await cache.removeAll()
  }
}

/// The file system of the machine, which kills the process at a call that changes something.
final class KillingFiles: DiskFileSystem {
  private let left: Lock<Int>
  fileprivate let isLate: Bool
  private let system = SystemFiles()

  /// Kills before, in the middle of, or after the call of that number.
  init(after count: Int, seed: UInt64) {
    left = Lock(count)
    isLate = seed & 1 == 0
  }

  fileprivate func isFatal() -> Bool {
    left.withLock { left in
      left -= 1
      return left == 0
    }
  }

  fileprivate func change<Answer>(_ body: () throws(FileError) -> Answer) throws(FileError) -> Answer {
    let isFatal = isFatal()
    if isFatal, !isLate { kill(getpid(), SIGKILL) }
    let answer = try body()
    if isFatal { kill(getpid(), SIGKILL) }
    return answer
  }

  func open(_ path: String, isWritable: Bool, isCreated: Bool) throws(FileError) -> any DiskFile {
    guard isWritable else { return try system.open(path, isWritable: false, isCreated: isCreated) }
    return KillingFile(try system.open(path, isWritable: true, isCreated: isCreated), self)
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    try change { () throws(FileError) in try system.rename(path, to: newPath) }
  }

  func remove(_ path: String) throws(FileError) {
    try change { () throws(FileError) in try system.remove(path) }
  }

  func names(in folder: String) throws(FileError) -> [String] { try system.names(in: folder) }
  func makeFolder(_ path: String) throws(FileError) { try system.makeFolder(path) }
  func syncFolder(_ path: String) throws(FileError) { try system.syncFolder(path) }
  func space(at folder: String) -> DiskSpace? { nil }
}

private final class KillingFile: DiskFile {
  private let file: any DiskFile
  private let files: KillingFiles

  init(_ file: any DiskFile, _ files: KillingFiles) {
    (self.file, self.files) = (file, files)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
    unsafe try file.read(into: buffer, at: offset)
  }

  func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    unsafe file.readCached(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
    guard files.isFatal() else { return unsafe try file.write(bytes, at: offset) }
    // A kill between the pages of one write.
    let count = files.isLate ? bytes.count : bytes.count / 2
    unsafe try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
    kill(getpid(), SIGKILL)
  }

  func sync() throws(FileError) { try file.sync() }

  func truncate(to size: Int) throws(FileError) {
    try files.change { () throws(FileError) in try file.truncate(to: size) }
  }

  func size() throws(FileError) -> Int { try file.size() }
  func tryLock() -> Bool { file.tryLock() }
  var isDeleted: Bool { file.isDeleted }
}
