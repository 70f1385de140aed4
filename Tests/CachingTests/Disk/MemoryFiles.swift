import VitrineCaching
import VitrineRuntime

/// A disk in memory that knows what of it would outlive a power cut, and can be cut at every call that changed it.
final class MemoryFiles: DiskFileSystem {
  let state: Lock<MemoryDisk>

  init(_ disk: MemoryDisk = MemoryDisk()) {
    state = Lock(disk)
  }

  /// The files, each in a folder of the same disk, by name.
  convenience init(_ files: [String: Data], in folder: String) {
    var disk = MemoryDisk()
    for (name, data) in files {
      let inode = disk.make("\(folder)/\(name)")
      disk.inodes[inode]?.bytes = Array(data)
    }
    self.init(disk)
  }

  /// What is in a folder, by name.
  func files(in folder: String) -> [String: Data] {
    state.withLock { disk in
      var files: [String: Data] = [:]
      for (path, inode) in disk.names where path.hasPrefix(folder + "/") {
        files[String(path.dropFirst(folder.count + 1))] = disk.inodes[inode].map { Data($0.bytes) }
      }
      return files
    }
  }

  func open(_ path: String, isWritable: Bool, isCreated: Bool) throws(FileError) -> any DiskFile {
    let inode = state.withLock { disk -> Int? in
      if let inode = disk.names[path] { return inode }
      guard isCreated, !disk.isReadOnly else { return nil }
      return disk.make(path)
    }
    guard let inode else { throw FileError(code: isCreated ? EROFS : ENOENT) }
    return MemoryFile(self, inode)
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    let isDone = state.withLock { disk in
      guard let inode = disk.names[path], !disk.isReadOnly else { return false }
      disk.change(.rename(path, newPath))
      disk.names[path] = nil
      disk.names[newPath] = inode
      disk.noteChange()
      return true
    }
    if !isDone { throw FileError(code: ENOENT) }
  }

  func remove(_ path: String) throws(FileError) {
    state.withLock { disk in
      guard disk.names[path] != nil, !disk.isReadOnly else { return }
      disk.change(.unlink(path))
      disk.names[path] = nil
      disk.noteChange()
    }
  }

  func names(in folder: String) throws(FileError) -> [String] {
    files(in: folder).keys.filter { !$0.contains("/") }.sorted()
  }

  func makeFolder(_ path: String) throws(FileError) {}

  func space(at folder: String) -> DiskSpace? { nil }

  func syncFolder(_ path: String) throws(FileError) {
    state.withLock { disk in
      disk.durableNames = disk.names
      disk.nameChanges.removeAll()
    }
  }
}

private final class MemoryFile: DiskFile {
  private let files: MemoryFiles
  private let inode: Int
  private let holdsLock = Lock(false)

  init(_ files: MemoryFiles, _ inode: Int) {
    (self.files, self.inode) = (files, inode)
  }

  deinit {
    guard holdsLock.withLock({ $0 }) else { return }
    files.state.withLock { _ = $0.locks.remove(inode) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
    let bytes = files.state.withLock { $0.inodes[inode]?.bytes ?? [] }
    guard offset < bytes.count else { return 0 }
    let count = min(buffer.count, bytes.count - offset)
    // As many as there are, and as there is room for.
    unsafe bytes.withUnsafeBytes { all in
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[offset..<offset + count]))
    }
    return count
  }

  /// Without a page cache, every read may wait.
  func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool { false }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
    let bytes = unsafe Array(bytes)
    let isWhole = files.state.withLock { disk in
      let possible = disk.isReadOnly ? 0 : min(bytes.count, disk.room)
      if disk.room != .max { disk.room -= possible }
      if possible > 0 {
        disk.inodes[inode]?.apply(.write(offset, Array(bytes[..<possible])), isPending: true)
        disk.noteChange()
      }
      return possible == bytes.count
    }
    if !isWhole { throw FileError(code: ENOSPC) }
  }

  func sync() throws(FileError) {
    files.state.withLock { disk in
      disk.syncs += 1
      guard var file = disk.inodes[inode] else { return }
      (file.durable, file.pending) = (file.bytes, [])
      disk.inodes[inode] = file
    }
  }

  func truncate(to size: Int) throws(FileError) {
    files.state.withLock { disk in
      guard disk.inodes[inode]?.bytes.count != size, !disk.isReadOnly else { return }
      disk.inodes[inode]?.apply(.truncate(size), isPending: true)
      disk.noteChange()
    }
  }

  func size() throws(FileError) -> Int {
    files.state.withLock { $0.inodes[inode]?.bytes.count ?? 0 }
  }

  func tryLock() -> Bool {
    let isFree = files.state.withLock { $0.locks.insert(inode).inserted }
    if isFree { holdsLock.withLock { $0 = true } }
    return isFree
  }

  var isDeleted: Bool { files.state.withLock { disk in !disk.names.values.contains(inode) } }
}

/// What is on the disk, and what is only on its way there.
struct MemoryDisk: Sendable {
  enum Change: Sendable {
    case write(Int, [UInt8])
    case truncate(Int)
  }

  enum NameChange: Sendable {
    case link(String, Int)
    case rename(String, String)
    case unlink(String)
  }

  struct Inode: Sendable {
    var bytes: [UInt8] = []
    var durable: [UInt8] = []
    var pending: [Change] = []

    mutating func apply(_ change: Change, isPending: Bool) {
      Self.apply(change, to: &bytes)
      if isPending { pending.append(change) }
    }

    static func apply(_ change: Change, to bytes: inout [UInt8]) {
      switch change {
      case .write(let offset, let new):
        if bytes.count < offset + new.count { bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count) }
        bytes.replaceSubrange(offset..<offset + new.count, with: new)
      case .truncate(let size):
        if bytes.count > size {
          bytes.removeLast(bytes.count - size)
        } else {
          bytes += [UInt8](repeating: 0, count: size - bytes.count)
        }
      }
    }
  }

  /// A moment at which the power may fail, with what had been promised by then.
  struct Moment: Sendable {
    var inodes: [Int: Inode]
    var durableNames: [String: Int]
    var nameChanges: [NameChange]
    var promises: Promises
  }

  var inodes: [Int: Inode] = [:]
  var names: [String: Int] = [:]
  var durableNames: [String: Int] = [:]
  var nameChanges: [NameChange] = []
  var locks: Set<Int> = []
  var syncs = 0
  /// How many bytes may still be written; what exceeds them is torn off, with an error.
  var room = Int.max
  var isReadOnly = false
  /// The most that all files together have taken up after any call.
  var most = 0
  var moments: [Moment]?
  var promises = Promises()

  mutating func make(_ path: String) -> Int {
    let inode = inodes.count + 1
    inodes[inode] = Inode()
    change(.link(path, inode))
    names[path] = inode
    noteChange()
    return inode
  }

  mutating func change(_ change: NameChange) { nameChanges.append(change) }

  var bytes: Int { names.values.reduce(0) { $0 + (inodes[$1]?.bytes.count ?? 0) } }

  mutating func noteChange() {
    most = max(most, bytes)
    moments?.append(
      Moment(inodes: inodes, durableNames: durableNames, nameChanges: nameChanges, promises: promises)
    )
  }
}

extension MemoryDisk.Moment {
  /// How each write that was under way may have ended.
  private enum Fate: Int, CaseIterable {
    case lost, whole, firstHalf, secondHalf
  }

  /// How many states a cut at this moment can leave, or a lot.
  var stateCount: Int {
    var count = nameChanges.count + 1
    for inode in inodes.values {
      for change in inode.pending {
        count = count.multipliedReportingOverflow(by: fates(of: change)).partialValue
        if count > 1 << 20 || count <= 0 { return 1 << 20 }
      }
    }
    return count
  }

  private func fates(of change: MemoryDisk.Change) -> Int {
    if case .write(_, let bytes) = change, bytes.count > 512 { return 4 }
    return 2
  }

  /// The disk as it is found after a cut; `number` below ``stateCount`` says which of them.
  ///
  /// A folder's changes come in their order, as with every file system that keeps a journal; writes in any.
  func disk(_ number: Int) -> MemoryDisk {
    var rest = number
    func choose(_ count: Int) -> Int {
      defer { rest /= count }
      return rest % count
    }
    var disk = MemoryDisk()
    disk.durableNames = durableNames
    for change in nameChanges.prefix(choose(nameChanges.count + 1)) {
      switch change {
      case .link(let path, let inode): disk.durableNames[path] = inode
      case .rename(let old, let new): disk.durableNames[new] = disk.durableNames.removeValue(forKey: old)
      case .unlink(let path): disk.durableNames[path] = nil
      }
    }
    disk.names = disk.durableNames
    for (number, inode) in inodes.sorted(by: { $0.key < $1.key }) {
      var bytes = inode.durable
      for change in inode.pending {
        let fate = Fate.allCases[choose(fates(of: change))]
        guard fate != .lost else { continue }
        guard fate != .whole, case .write(let offset, let new) = change else {
          MemoryDisk.Inode.apply(change, to: &bytes)
          continue
        }
        let half = (new.count / 2 + 511) / 512 * 512
        let part = fate == .firstHalf ? (offset, Array(new[..<half])) : (offset + half, Array(new[half...]))
        MemoryDisk.Inode.apply(.write(part.0, part.1), to: &bytes)
      }
      disk.inodes[number] = MemoryDisk.Inode(bytes: bytes, durable: bytes)
    }
    return disk
  }
}
