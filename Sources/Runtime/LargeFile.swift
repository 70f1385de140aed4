/// A large regular file whose first 64 KiB have been read, and which is opened again for the rest.
///
/// It is not kept open, so that a disk can be taken out while a picture of it is shown.
package final class LargeFile: Sendable {
  /// The minimum size of a large file, in bytes.
  ///
  /// Reading a smaller one whole takes about as long as starting a process.
  package static let leastByteCount = 16 << 20

  private let path: ByteString
  /// The size of the file when it was first opened, in bytes.
  package let byteCount: Int
  /// The first 64 KiB.
  package let beginning: Data
  /// The device, inode, size and time of change: equal for the same file, unless it was modified.
  package let identity: [Int]

  /// Opens the file at `path`, and reads its beginning.
  ///
  /// Returns `nil` if the file is missing, not regular or not large.
  package init?(_ path: ByteString) {
    func isLarge(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG && status.st_size >= Self.leastByteCount }
    // The status is read before the file is opened: opening a FIFO would wake the process at its other end.
    guard let status = path.status(), isLarge(status) else { return nil }
    let file = unsafe path.withCString { unsafe open($0, FileContents.flags) }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var opened = stat()
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    // `opened` outlives its call; `bytes` has room for the bytes that are read.
    guard unsafe fstat(file, &opened) == 0, isLarge(opened), unsafe pread(file, &bytes, bytes.count, 0) == bytes.count
    else { return nil }
    (self.path, byteCount, beginning) = (path, Int(opened.st_size), Data(bytes))
    identity = Self.identity(opened)
  }

  private static func identity(_ status: stat) -> [Int] {
    #if canImport(Darwin)
    let time = status.st_mtimespec
    #else
    let time = status.st_mtim
    #endif
    return [Int(status.st_dev), Int(status.st_ino), Int(status.st_size), Int(time.tv_sec), Int(time.tv_nsec)]
  }

  /// Calls `body` with a descriptor of the file, which is closed afterwards, and may only be read.
  ///
  /// - Throws: ``FileError`` if the file cannot be opened, or was modified or replaced; the error of `body`.
  package func opened<Result>(_ body: (Int32) throws(FileError) -> Result) throws(FileError) -> Result {
    let file = unsafe path.withCString { unsafe open($0, FileContents.flags) }
    guard file >= 0 else { throw FileError(code: errno) }
    defer { close(file) }
    var status = stat()
    // `status` outlives the call.
    guard unsafe fstat(file, &status) == 0 else { throw FileError(code: errno) }
    guard Self.identity(status) == identity else { throw FileError("the file was modified while it was in use") }
    return try body(file)
  }

  /// Reads the whole file.
  ///
  /// Blocks.
  package func contents() throws(FileError) -> Data {
    try opened { (file) throws(FileError) in try FileContents.of(file) }
  }
}
