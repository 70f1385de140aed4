import CVitrineCaching
import Synchronization
package import VitrineRuntime

/// The file system of a disk cache, replaceable so that a test can simulate a full disk or a torn write.
package protocol DiskFileSystem: Sendable {
  /// Opens a file, or creates it with access for its owner only if `isCreated` is set and it is missing.
  func open(_ path: String, isWritable: Bool, isCreated: Bool) throws(FileError) -> any DiskFile
  /// Renames a file and replaces an existing file of the new name.
  func rename(_ path: String, to newPath: String) throws(FileError)
  /// Removes a file, if it exists.
  func remove(_ path: String) throws(FileError)
  /// Returns the names in a folder.
  func names(in folder: String) throws(FileError) -> [String]
  /// Creates a folder with access for its owner only, and its missing parents.
  func makeFolder(_ path: String) throws(FileError)
  /// Writes the names in a folder to the device.
  func syncFolder(_ path: String) throws(FileError)
  /// Returns the size and free space of the disk with a folder, or `nil` if that is unknown.
  func space(at folder: String) -> DiskSpace?
}

/// An open file, closed when it is released.
///
/// Calls block unless stated otherwise.
package protocol DiskFile: AnyObject, Sendable {
  /// Fills `buffer`, or reads to the end of the file, and returns the number of bytes read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int
  /// Fills `buffer` if that needs no waiting for the device, and returns whether it did.
  ///
  /// Does not block.
  func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool
  /// Writes all bytes, or throws after writing any number of them.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError)
  /// Writes the data to the device.
  func sync() throws(FileError)
  /// Truncates the file.
  func truncate(to size: Int) throws(FileError)
  /// Returns the size of the file in bytes.
  func size() throws(FileError) -> Int
  /// Takes the file's lock if it is free, and returns whether it did.
  ///
  /// Releasing the file releases the lock.
  func tryLock() -> Bool
  /// A Boolean value that indicates whether the file's last name was removed.
  var isDeleted: Bool { get }
}

/// The file system of the machine.
package struct SystemFiles: DiskFileSystem {
  package init() {}

  package func open(_ path: String, isWritable: Bool, isCreated: Bool) throws(FileError) -> any DiskFile {
    // A FIFO in place of a file is opened without waiting for its other end, and then refused.
    let flags =
      (isWritable ? O_RDWR : O_RDONLY) | (isCreated ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    let descriptor = unsafe VitrineRuntime.open(path, flags, 0o600)
    guard descriptor >= 0 else { throw errno == ENXIO ? FileError(notRegular: S_IFSOCK) : FileError(code: errno) }
    let file = SystemFile(descriptor)
    try FileError.check(isRegular: descriptor)
    return file
  }

  package func rename(_ path: String, to newPath: String) throws(FileError) {
    guard unsafe VitrineRuntime.rename(path, newPath) == 0 else { throw FileError(code: errno) }
  }

  package func remove(_ path: String) throws(FileError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw FileError(code: errno) }
  }

  package func names(in folder: String) throws(FileError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw FileError("cannot list the folder")
    }
  }

  package func makeFolder(_ path: String) throws(FileError) {
    let info = try makeFolders(path)
    // Write access to the files of a cache gives control over its entries.
    guard info.st_uid == geteuid() || info.st_uid == 0 else {
      throw FileError("the folder belongs to another user; use one of your own")
    }
    guard info.st_mode & S_IWOTH == 0 else {
      throw FileError("everybody may write to the folder; use one inside it, or take the right away (chmod o-w)")
    }
  }

  private func makeFolders(_ path: String) throws(FileError) -> stat {
    var info = stat()
    // `info` outlives the calls.
    if unsafe stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR { return info }
    if let slash = path.dropLast().lastIndex(of: "/"), slash > path.startIndex {
      _ = try makeFolders(String(path[..<slash]))
    }
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileError(code: errno) }
    guard unsafe stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { throw FileError(code: ENOTDIR) }
    return info
  }

  package func syncFolder(_ path: String) throws(FileError) {
    let folder = SystemFile(unsafe VitrineRuntime.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    guard folder.descriptor >= 0, fsync(folder.descriptor) == 0 else { throw FileError(code: errno) }
  }
}

extension SystemFiles {
  package func space(at folder: String) -> DiskSpace? {
    var info = statvfs()
    // `info` outlives the call.
    guard unsafe statvfs(folder, &info) == 0, info.f_frsize > 0 else { return nil }
    // Some systems use 32-bit counts, and a disk may report any numbers.
    let (total, isHuge) = UInt64(info.f_blocks).multipliedReportingOverflow(by: UInt64(info.f_frsize))
    guard !isHuge else { return nil }
    return DiskSpace(
      total: Int(clamping: total),
      free: Int(clamping: UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize)).partialValue),
    )
  }
}

private final class SystemFile: DiskFile {
  let descriptor: Int32
  private let isLocked = Atomic(false)

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    guard descriptor >= 0 else { return }
    // A child that is being started has a copy of the descriptor for a moment, and would keep the lock by it.
    if isLocked.load(ordering: .relaxed) { flock(descriptor, LOCK_UN) }
    close(descriptor)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
    var count = 0
    while count < buffer.count, let start = buffer.baseAddress {
      // `count` is below the buffer's count.
      let got = unsafe pread(descriptor, start + count, buffer.count - count, off_t(offset + count))
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw FileError(code: errno) }
      if got == 0 { break }
      count += got
    }
    return count
  }

  func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    guard let start = buffer.baseAddress else { return true }
    // The call writes at most `buffer.count` bytes, and fewer if fewer are in memory.
    return unsafe vitrine_read_cached(descriptor, start, buffer.count, off_t(offset)) == buffer.count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
    var count = 0
    while count < bytes.count, let start = bytes.baseAddress {
      // `count` is below the buffer's count.
      let put = unsafe pwrite(descriptor, start + count, bytes.count - count, off_t(offset + count))
      if put < 0, errno == EINTR { continue }
      guard put > 0 else { throw FileError(code: put < 0 ? errno : ENOSPC) }
      count += put
    }
  }

  func sync() throws(FileError) {
    guard vitrine_sync_data(descriptor) == 0 else { throw FileError(code: errno) }
  }

  func truncate(to size: Int) throws(FileError) {
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw FileError(code: errno) }
  }

  func size() throws(FileError) -> Int {
    Int(try info().st_size)
  }

  func tryLock() -> Bool {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
    isLocked.store(true, ordering: .relaxed)
    return true
  }

  var isDeleted: Bool {
    (try? info().st_nlink) ?? 0 == 0
  }

  private func info() throws(FileError) -> stat {
    var info = stat()
    // `info` outlives the call.
    guard unsafe fstat(descriptor, &info) == 0 else { throw FileError(code: errno) }
    return info
  }
}

extension DiskFile {
  /// Returns `count` bytes, or fewer at the end of the file.
  func bytes(_ count: Int, at offset: Int) throws(FileError) -> [UInt8] {
    var failure: FileError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(FileError) {
        // The buffer has room for `count` bytes, and `initialized` is the number of bytes read.
        let room = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
        initialized = unsafe try read(into: room, at: offset)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Writes an array or data.
  func write(_ bytes: some ContiguousBytes, at offset: Int) throws(FileError) {
    var failure: FileError?
    unsafe bytes.withUnsafeBytes { buffer in
      // The bytes are only read while the closure runs.
      do throws(FileError) { unsafe try write(buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
