import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// A folder of a test's own, which removes it at its end.
final class Folder: Sendable {
  private let folder: TemporaryFolder
  private let made = Lock([FaultyFiles]())

  init() throws { folder = try TemporaryFolder() }

  // A cache that was not closed may be writing still.
  deinit { for files in made.withLock({ $0 }) { files.end() } }

  var url: URL { folder.url }
  var cache: URL { folder.file("cache") }

  func cache(_ limit: Int = 64 << 20, clock: any TimeSource = ManualClock()) throws -> DiskCache {
    // Not of the machine's disk, which may be nearly full.
    let files = FaultyFiles()
    made.withLock { $0.append(files) }
    return try DiskCache(directory: cache, options: DiskOptions(sizeLimit: limit), files: files, clock: clock)
  }

  /// What the folder takes up.
  var bytes: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: cache.path)) ?? []
    return names.reduce(0) { sum, name in
      sum + Int(ByteString(cache.appendingPathComponent(name).path).status()?.st_size ?? 0)
    }
  }
}

/// The files of a folder, as values.
enum Files {
  static func all(in folder: URL) -> [String: Data] {
    var files: [String: Data] = [:]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
      files[name] = try? Data(contentsOf: folder.appendingPathComponent(name))
    }
    return files
  }

  static func write(_ files: [String: Data], to folder: URL) throws {
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, data) in files { try data.write(to: folder.appendingPathComponent(name)) }
  }
}

/// The file system with faults that a test turns on, and counters.
final class FaultyFiles: DiskFileSystem {
  struct State: Sendable {
    /// How many bytes may still be written; what exceeds them is torn off, with an error.
    var room = Int.max
    var written = 0
    var syncs = 0
    var isReadOnly = false
    /// The error of opening a file for writing; `nil` for none.
    var unmakeable: Int32?
    var isOver = false
    /// What the disk says that it has.
    var space: DiskSpace?
    /// A part of the names of files that cannot be opened, and the error.
    var unopenable: (name: String, code: Int32)?
  }

  let state = Lock(State())
  private let gate = Monitor(true)
  private let system = SystemFiles()

  /// Lets every write wait, or go on.
  func setWriting(_ isAllowed: Bool) {
    gate.withLock { $0 = isAllowed }
    gate.broadcast()
  }

  func waitToWrite() {
    gate.wait { $0 ? .leave(()) : .wait }
  }

  private enum SyncGate { case open, closesBehindNext, closed }

  private let syncGate = Monitor(SyncGate.open)
  private let hasHeldSync = Deferred<Void>()

  /// Has the next sync of a file wait, and no other.
  func holdNextSync() { syncGate.withLock { $0 = .closesBehindNext } }

  func waitForHeldSync() async { await hasHeldSync.value() }

  func releaseSync() {
    syncGate.withLock { $0 = .open }
    syncGate.broadcast()
  }

  func waitToSync() {
    let isHeld = syncGate.withLock { gate in
      guard case .closesBehindNext = gate else { return false }
      gate = .closed
      return true
    }
    guard isHeld else { return }
    hasHeldSync.resolve(())
    syncGate.wait { $0 == .closed ? .wait : .leave(()) }
  }

  func open(_ path: String, isWritable: Bool, isCreated: Bool) throws(FileError) -> any DiskFile {
    if let (name, code) = state.withLock({ $0.unopenable }), path.contains(name), !isCreated {
      throw FileError(code: code)
    }
    if isWritable, let code = state.withLock({ $0.unmakeable }) { throw FileError(code: code) }
    guard isCreated else {
      return FaultyFile(try system.open(path, isWritable: isWritable, isCreated: false), self)
    }
    if state.withLock({ $0.isReadOnly }) { throw FileError(code: EROFS) }
    let file = try make { () throws(FileError) in
      FaultyFile(try system.open(path, isWritable: isWritable, isCreated: true), self)
    }
    return file
  }

  /// Makes no more names from now on.
  func end() { state.withLock { $0.isOver = true } }

  private func make<Answer: Sendable>(_ body: () throws(FileError) -> Answer) throws(FileError) -> Answer {
    try state.withLock { state throws(FileError) -> Answer in
      if state.isOver { throw FileError(code: EROFS) }
      return try body()
    }
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    try make { () throws(FileError) in try system.rename(path, to: newPath) }
  }
  func remove(_ path: String) throws(FileError) { try system.remove(path) }
  func names(in folder: String) throws(FileError) -> [String] { try system.names(in: folder) }
  func makeFolder(_ path: String) throws(FileError) {
    try make { () throws(FileError) in try system.makeFolder(path) }
  }
  func space(at folder: String) -> DiskSpace? { state.withLock { $0.space } }
  func syncFolder(_ path: String) throws(FileError) { try system.syncFolder(path) }
}

final class FaultyFile: DiskFile {
  private let file: any DiskFile
  private let files: FaultyFiles

  init(_ file: any DiskFile, _ files: FaultyFiles) {
    self.file = file
    self.files = files
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
    unsafe try file.read(into: buffer, at: offset)
  }

  func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    unsafe file.readCached(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
    files.waitToWrite()
    let count = bytes.count
    let possible = files.state.withLock { state in
      let possible = state.isReadOnly ? 0 : min(count, state.room)
      if state.room != .max { state.room -= possible }
      state.written += possible
      return possible
    }
    unsafe try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<possible]), at: offset)
    if possible < bytes.count { throw FileError(code: ENOSPC) }
  }

  func sync() throws(FileError) {
    files.state.withLock { $0.syncs += 1 }
    files.waitToSync()
    try file.sync()
  }

  func truncate(to size: Int) throws(FileError) { try file.truncate(to: size) }
  func size() throws(FileError) -> Int { try file.size() }
  func tryLock() -> Bool { file.tryLock() }
  var isDeleted: Bool { file.isDeleted }
}
