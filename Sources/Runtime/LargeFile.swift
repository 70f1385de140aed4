/// An open, large regular file whose first 64 KiB have been read.
package final class LargeFile: Sendable {
  /// The minimum size of a large file, in bytes.
  ///
  /// Reading a smaller one whole takes about as long as starting a process.
  package static let leastByteCount = 16 << 20

  /// The open file, which may only be read.
  package let descriptor: Int32
  /// The size of the file when it was opened, in bytes.
  package let byteCount: Int
  /// The first 64 KiB.
  package let beginning: Data
  /// The device, inode, size and time of change: equal for the same file, unless it was modified.
  package let identity: [Int]

  /// Opens the file at `path`.
  ///
  /// Returns `nil` if the file is missing, not regular or not large.
  package init?(_ path: ByteString) {
    func isLarge(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG && status.st_size >= Self.leastByteCount }
    // The status is read before the file is opened: opening a FIFO would wake the process at its other end.
    guard let status = path.status(), isLarge(status) else { return nil }
    let file = unsafe path.withCString { unsafe open($0, FileContents.flags) }
    guard file >= 0 else { return nil }
    var opened = stat()
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    // `opened` outlives its call; `bytes` has room for the bytes that are read.
    guard unsafe fstat(file, &opened) == 0, isLarge(opened), unsafe pread(file, &bytes, bytes.count, 0) == bytes.count
    else {
      close(file)
      return nil
    }
    (descriptor, byteCount, beginning) = (file, Int(opened.st_size), Data(bytes))
    #if canImport(Darwin)
    let time = opened.st_mtimespec
    #else
    let time = opened.st_mtim
    #endif
    identity = [Int(opened.st_dev), Int(opened.st_ino), Int(opened.st_size), Int(time.tv_sec), Int(time.tv_nsec)]
  }

  deinit { close(descriptor) }

  /// Reads the whole file.
  ///
  /// Blocks.
  package func contents() throws(FileError) -> Data {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw FileError(code: errno) }
    return try FileContents.of(descriptor)
  }
}
