/// Why a file could not be read or written.
package struct FileError: Error, Hashable, CustomStringConvertible {
  /// The system's number for the reason (errno), or 0 where the reason is none of the system's.
  package let code: Int32
  /// The reason in words.
  package let description: String

  package init(code: Int32) {
    self.code = code
    // strerror gives a text that lasts until the next call of the same thread; it is copied here.
    description = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }

  package init(_ description: String) {
    code = 0
    self.description = description
  }
}

/// Writes whole files or none: whatever happens in between, the old file or the new one is there.
package enum AtomicFile {
  /// Replaces the file at `path` by `data`, by renaming a file that is complete.
  ///
  /// A symbolic link is followed; what is no regular file (a device, a pipe) is written to and not replaced. The new
  /// file has the permissions of a newly made one. Nothing is synced to the disk. Blocks.
  package static func replace(_ path: String, with data: Data) throws(FileError) {
    var info = stat()
    let exists = unsafe stat(path, &info) == 0
    if exists, info.st_mode & S_IFMT == S_IFDIR { throw FileError(code: EISDIR) }
    if exists, info.st_mode & S_IFMT != S_IFREG {
      let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { throw FileError(code: errno) }
      defer { close(file) }
      return try fill(file, with: data)
    }
    let target = exists ? resolved(path) : path
    let (folder, name) = split(target)
    // Beside the target, since a rename does not cross file systems.
    let temporary = "\(folder).\(name.prefix(100)).\(getpid())-\(UInt32.random(in: 0...UInt32.max)).tmp"
    do throws(FileError) {
      try writeNew(data, temporary, folder: folder)
      guard unsafe rename(temporary, target) == 0 else { throw FileError(code: errno) }
    } catch {
      unsafe unlink(temporary)
      throw error
    }
  }

  /// Makes a folder and those above it that are missing.
  package static func makeFolder(_ path: String) throws(FileError) {
    var info = stat()
    if unsafe stat(path, &info) == 0 {
      guard info.st_mode & S_IFMT == S_IFDIR else { throw FileError(code: ENOTDIR) }
      return
    }
    let (parent, _) = split(path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path)
    if !parent.isEmpty, parent != path { try makeFolder(parent) }
    // Someone else may have made it meanwhile.
    guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else { throw FileError(code: errno) }
  }

  /// The folder with its last slash (empty for the current one), and the name.
  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[...slash]), String(path[path.index(after: slash)...]))
  }

  private static func resolved(_ path: String) -> String {
    // realpath allocates the answer, which is freed after it was copied.
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Makes a file that appears under its name only when all is written.
  private static func writeNew(_ data: Data, _ path: String, folder: String) throws(FileError) {
    #if os(Linux)
    // A file without a name vanishes by itself when the process is killed. Some file systems do not know it.
    let temporaryFile: Int32 = 0o20_000_000 | O_DIRECTORY
    let unnamed = unsafe open(folder.isEmpty ? "." : folder, temporaryFile | O_WRONLY | O_CLOEXEC, 0o666)
    if unnamed >= 0 {
      defer { close(unnamed) }
      try fill(unnamed, with: data)
      if unsafe linkat(AT_FDCWD, "/proc/self/fd/\(unnamed)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return }
    }
    #endif
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw FileError(code: errno) }
    defer { close(file) }
    try fill(file, with: data)
  }

  private static func fill(_ file: Int32, with data: Data) throws(FileError) {
    // The bytes are only read while the closure runs.
    let code: Int32 = unsafe data.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count, let start = bytes.baseAddress {
        // `offset` is below the count.
        let written = unsafe write(file, start + offset, bytes.count - offset)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return written < 0 ? errno : ENOSPC }
        offset += written
      }
      return 0
    }
    guard code == 0 else { throw FileError(code: code) }
  }
}
