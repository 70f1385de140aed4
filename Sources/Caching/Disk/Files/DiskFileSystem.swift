import CVitrineCaching
package import VitrineRuntime

/// What the disk cache asks of the system, so that a test can be a disk that is full or torn.
package protocol DiskFileSystem: Sendable {
  /// Opens a file; makes it, for its owner alone, if it may and must.
  func open(_ path: String, isWritable: Bool, isCreated: Bool) throws(FileError) -> any DiskFile
  /// Gives a file another name, replacing what had it.
  func rename(_ path: String, to newPath: String) throws(FileError)
  /// Removes a file; one that is not there is no error.
  func remove(_ path: String) throws(FileError)
  /// The names in a folder.
  func names(in folder: String) throws(FileError) -> [String]
  /// Makes a folder for its owner alone, and those above it, where they are missing.
  func makeFolder(_ path: String) throws(FileError)
  /// Has the names in a folder written to the device.
  func syncFolder(_ path: String) throws(FileError)
  /// What the disk with a folder has; `nil` if that cannot be told.
  func space(at folder: String) -> DiskSpace?
}

extension DiskFileSystem {
  /// A file system that does not say has room.
  package func space(at folder: String) -> DiskSpace? { nil }
}

/// An open file, closed when it is released.
///
/// All calls block.
package protocol DiskFile: AnyObject, Sendable {
  /// Reads into all of `buffer`, or to the end of the file; returns how many bytes that were.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int
  /// Reads into all of `buffer` if that needs no waiting for the device; returns whether it did.
  ///
  /// Does not block.
  func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool
  /// Writes all of the bytes, or throws and has written some of them or none.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError)
  /// Has the data written to the device.
  func sync() throws(FileError)
  /// Cuts the file off.
  func truncate(to size: Int) throws(FileError)
  /// How many bytes the file has.
  func size() throws(FileError) -> Int
  /// Takes the file's lock, if no one else has it; released with the file.
  func tryLock() -> Bool
  /// Whether the file has no name any more.
  var isDeleted: Bool { get }
}

/// The file system of the machine.
package struct SystemFiles: DiskFileSystem {
  package init() {}

  package func open(_ path: String, isWritable: Bool, isCreated: Bool) throws(FileError) -> any DiskFile {
    let flags = (isWritable ? O_RDWR : O_RDONLY) | (isCreated ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe VitrineRuntime.open(path, flags, 0o600)
    guard descriptor >= 0 else { throw FileError(code: errno) }
    return SystemFile(descriptor)
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
    var info = stat()
    // `info` outlives the call.
    if unsafe stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR { return }
    if let slash = path.dropLast().lastIndex(of: "/"), slash > path.startIndex {
      try makeFolder(String(path[..<slash]))
    }
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileError(code: errno) }
    guard unsafe stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { throw FileError(code: ENOTDIR) }
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
    // Some systems count in words of 32 bits, and a disk may say what it likes.
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

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
    var count = 0
    while count < buffer.count, let start = buffer.baseAddress {
      // `count` is below the buffer's.
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
    // Into the whole of the buffer, or less of it where less is in memory.
    return unsafe vitrine_read_cached(descriptor, start, buffer.count, off_t(offset)) == buffer.count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
    var count = 0
    while count < bytes.count, let start = bytes.baseAddress {
      // `count` is below the buffer's.
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
    flock(descriptor, LOCK_EX | LOCK_NB) == 0
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
  /// A disk that cannot say what it has at hand always has to be waited for.
  package func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool { false }

  /// Returns `count` bytes, or as many as there are before the end; where it must not wait, all of them or none.
  func bytes(_ count: Int, at offset: Int, cachedOnly: Bool = false) throws(FileError) -> [UInt8] {
    var failure: FileError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(FileError) {
        // The buffer has room for `count`, and as many are initialised as were read.
        let room = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
        if cachedOnly {
          initialized = unsafe readCached(into: room, at: offset) ? count : 0
        } else {
          initialized = unsafe try read(into: room, at: offset)
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
    var failure: FileError?
    unsafe bytes.withUnsafeBytes { buffer in
      // Only read while the closure runs.
      do throws(FileError) { unsafe try write(buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  func write(_ data: Data, at offset: Int) throws(FileError) {
    var failure: FileError?
    unsafe data.withUnsafeBytes { buffer in
      // Only read while the closure runs.
      do throws(FileError) { unsafe try write(buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
