/// An error that occurs when a file cannot be read or written.
package struct FileError: Error, Hashable, CustomStringConvertible {
  /// The system's error number (errno); 0 if the error is not the system's.
  package let code: Int32
  /// A description of the error.
  package let description: String
  /// A Boolean value that indicates whether the file is not a regular one.
  package let isAboutKind: Bool

  package init(code: Int32) {
    (self.code, isAboutKind) = (code, false)
    // strerror's text lasts until the next call on the same thread; it is copied here.
    description = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }

  package init(_ description: String) { self.init(description, isAboutKind: false) }

  private init(_ description: String, isAboutKind: Bool) {
    (code, self.description, self.isAboutKind) = (0, description, isAboutKind)
  }

  /// Creates the error for a file with this mode, as in `stat`.
  package init(notRegular mode: mode_t) {
    let description =
      switch mode & S_IFMT {
      case S_IFDIR: "it is a folder"
      case S_IFIFO: "it is a FIFO, not a regular file"
      case S_IFSOCK: "it is a socket, not a regular file"
      default: "it is a device, not a regular file"
      }
    self.init(description, isAboutKind: true)
  }

  /// Throws unless the open file is a regular one.
  package static func check(isRegular file: Int32) throws(FileError) {
    var info = stat()
    // `info` outlives the call.
    guard unsafe fstat(file, &info) == 0 else { throw FileError(code: errno) }
    guard info.st_mode & S_IFMT == S_IFREG else { throw FileError(notRegular: info.st_mode) }
  }
}

// Apps see it as the cause of other errors.
extension FileError: LocalizedError {
  package var errorDescription: String? { description }
}

/// Writes files as a whole or not at all: at any moment either the old or the new file is in place.
package enum AtomicFile {
  /// Replaces the file at `path` with `data`, by renaming a complete file.
  ///
  /// If a regular file is replaced, the new one has its permissions and, as far as the process may set them, its owner
  /// and group. The file is not synced to the disk. Blocks.
  ///
  /// - Parameters:
  ///   - path: The path of the file, which need not exist.
  ///   - data: The contents.
  ///   - replacingLinks: A Boolean value that indicates whether the name itself gets the new file: a symbolic link is
  ///     replaced and not followed. If `false`, a link is followed, and a device or a pipe is written to. Defaults to
  ///     `false`.
  /// - Throws: ``FileError``; then the old file is unchanged.
  package static func replace(
    _ path: ByteString,
    with data: Data,
    replacingLinks: Bool = false,
  ) throws(FileError) {
    let info = path.status(followingLinks: !replacingLinks)
    if info?.kind == S_IFDIR { throw FileError(code: EISDIR) }
    if !replacingLinks, info != nil, info?.kind != S_IFREG { return try overwrite(path, with: data) }
    let target = info == nil || replacingLinks ? path : resolved(path)
    let (folder, name) = split(target)
    // The new file is beside the target, because a rename does not cross file systems.
    let unique = ".\(getpid())-\(UInt32.random(in: 0...UInt32.max)).tmp"
    let temporary = folder + "." + ByteString(bytes: name.bytes.prefix(100)) + ByteString(unique)
    do throws(FileError) {
      try writeNew(data, temporary, folder: folder, like: info?.kind == S_IFREG ? info : nil)
      let status = unsafe temporary.withCString { old in unsafe target.withCString { new in unsafe rename(old, new) } }
      guard status == 0 else { throw FileError(code: errno) }
    } catch {
      _ = unsafe temporary.withCString { unsafe unlink($0) }
      throw error
    }
  }

  /// Replaces the contents of an existing file in place, because other processes may have it open.
  ///
  /// Unlike with ``replace(_:with:replacingLinks:)``, a reader may see partial contents. Blocks.
  ///
  /// - Parameters:
  ///   - path: The path of a regular file.
  ///   - data: The contents.
  /// - Throws: ``FileError``; then the file is unchanged if it could not be opened, and otherwise empty.
  package static func refill(_ path: ByteString, with data: Data) throws(FileError) {
    let file = try opened(path, O_WRONLY)
    defer { close(file) }
    guard ftruncate(file, 0) == 0 else { throw FileError(code: errno) }
    do throws(FileError) {
      try fill(file, with: data)
    } catch {
      _ = ftruncate(file, 0)
      throw error
    }
  }

  /// Returns `true` if ``replace(_:with:replacingLinks:)`` would write to a device or a pipe, which takes as long as
  /// its reader likes.
  package static func isSpecial(_ path: ByteString) -> Bool {
    guard let info = path.status() else { return false }
    return info.kind != S_IFREG && info.kind != S_IFDIR
  }

  /// Creates a folder and its missing parents.
  package static func makeFolder(_ path: ByteString) throws(FileError) {
    if let info = path.status() {
      guard info.kind == S_IFDIR else { throw FileError(code: ENOTDIR) }
      return
    }
    try makeParents(of: path)
    // Another process may have created it in the meantime.
    guard unsafe path.withCString({ unsafe mkdir($0, 0o777) }) == 0 || errno == EEXIST else {
      throw FileError(code: errno)
    }
  }

  /// Creates the missing parent folders of a file or a folder.
  package static func makeParents(of path: ByteString) throws(FileError) {
    var parent = path.bytes[...]
    while parent.count > 1, parent.last == slash { parent.removeLast() }
    guard let end = parent.lastIndex(of: slash) else { return }
    parent = parent[...end]
    while parent.count > 1, parent.last == slash { parent.removeLast() }
    try makeFolder(ByteString(bytes: parent))
  }

  private static let slash = UInt8(ascii: "/")

  /// Returns the folder with its last slash (empty for the current one), and the name.
  private static func split(_ path: ByteString) -> (folder: ByteString, name: ByteString) {
    guard let end = path.bytes.lastIndex(of: slash) else { return ("", path) }
    return (ByteString(bytes: path.bytes[...end]), ByteString(bytes: path.bytes[(end + 1)...]))
  }

  private static func resolved(_ path: ByteString) -> ByteString {
    // realpath allocates the result, which is freed after it has been copied.
    guard let resolved = unsafe path.withCString({ unsafe realpath($0, nil) }) else { return path }
    defer { unsafe free(resolved) }
    return unsafe ByteString(bytes: UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
  }

  private static func opened(_ path: ByteString, _ flags: Int32) throws(FileError) -> Int32 {
    let file = unsafe path.withCString { unsafe open($0, flags | O_CLOEXEC, 0o666) }
    guard file >= 0 else { throw FileError(code: errno) }
    return file
  }

  /// Writes a file that appears under its name only when it is complete.
  private static func writeNew(
    _ data: Data,
    _ path: ByteString,
    folder: ByteString,
    like old: stat?,
  ) throws(FileError) {
    #if os(Linux)
    // A file without a name vanishes when the process is killed. Some file systems do not support it.
    let temporaryFile: Int32 = 0o20_000_000 | O_DIRECTORY
    if let unnamed = try? opened(folder.isEmpty ? "." : folder, temporaryFile | O_WRONLY) {
      defer { close(unnamed) }
      try fill(unnamed, with: data)
      if let old { imitate(old, unnamed) }
      let link = unsafe path.withCString { name in
        unsafe linkat(AT_FDCWD, "/proc/self/fd/\(unnamed)", AT_FDCWD, name, AT_SYMLINK_FOLLOW)
      }
      if link == 0 { return }
    }
    #endif
    let file = try opened(path, O_WRONLY | O_CREAT | O_EXCL)
    defer { close(file) }
    try fill(file, with: data)
    if let old { imitate(old, file) }
  }

  /// Copies the owner, the group and the permissions of another file, as far as the process may set them.
  private static func imitate(_ old: stat, _ file: Int32) {
    // Root may change the owner, and members of a group the group. The permissions are set last, since these calls
    // clear some of them.
    if fchown(file, old.st_uid, old.st_gid) != 0 { _ = fchown(file, uid_t.max, old.st_gid) }
    _ = fchmod(file, old.st_mode & 0o777)
  }

  /// Writes to an existing file, pipe or device.
  private static func overwrite(_ path: ByteString, with data: Data) throws(FileError) {
    let file = try opened(path, O_WRONLY)
    defer { close(file) }
    try fill(file, with: data)
  }

  /// Writes everything to an open file, pipe or device, and waits while it accepts no more.
  package static func fill(_ file: Int32, with data: Data) throws(FileError) {
    // The bytes are only read while the closure runs.
    let code = unsafe data.withUnsafeBytes { unsafe fill(file, with: $0) }
    guard code == 0 else { throw FileError(code: code) }
  }

  /// Writes all bytes to an open file, pipe or device.
  ///
  /// - Returns: 0, or the system's error number.
  package static func fill(_ file: Int32, with bytes: UnsafeRawBufferPointer) -> Int32 {
    var offset = 0
    while offset < bytes.count, let start = bytes.baseAddress {
      // `offset` is below the count.
      let written = unsafe write(file, start + offset, bytes.count - offset)
      if written > 0 {
        offset += written
      } else if written == 0 {
        return ENOSPC
      } else if errno == EAGAIN {
        // Another process that shares the file may have made it non-blocking.
        var entry = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&entry, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}

extension stat {
  /// The kind of the file: `S_IFREG`, `S_IFDIR` and so on.
  package var kind: mode_t { st_mode & S_IFMT }
}
