/// Reads files as a whole.
package enum FileContents {
  /// The maximum size of a file that is read: 2 GiB.
  package static let sizeLimit = 2 << 30

  /// The size above which page faults would take longer than reading, in bytes.
  private static let leastHuge = 1 << 20

  // A FIFO opens without waiting for its other end, and a terminal does not become the controlling terminal.
  static let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY

  /// Reads the regular file at `path` into private memory.
  ///
  /// It is not mapped, so truncating the file meanwhile does no harm. A folder, FIFO, socket or device is an error,
  /// since it may have no end.
  ///
  /// Blocks.
  package static func at(_ path: String) throws(FileError) -> Data {
    try of(opened: unsafe open(path, flags))
  }

  /// Reads a small file of the system as text; returns `nil` if that fails.
  static func text(at path: String) -> String? { (try? at(path)).map { String(decoding: $0, as: UTF8.self) } }

  /// Reads the regular file with a name in any encoding; see ``at(_:)-(String)``.
  package static func at(_ path: ByteString) throws(FileError) -> Data {
    try of(opened: unsafe path.withCString { unsafe open($0, flags) })
  }

  private static func of(opened file: Int32) throws(FileError) -> Data {
    // Opening a socket fails with ENXIO, whose message explains nothing.
    guard file >= 0 else { throw errno == ENXIO ? FileError(notRegular: S_IFSOCK) : FileError(code: errno) }
    defer { close(file) }
    try FileError.check(isRegular: file)
    return try of(file)
  }

  /// Reads from an open file, pipe or terminal to its end.
  ///
  /// Blocks.
  package static func of(_ file: Int32) throws(FileError) -> Data {
    var info = stat()
    guard unsafe fstat(file, &info) == 0 else { throw FileError(code: errno) }
    let kind = info.st_mode & S_IFMT
    guard kind != S_IFDIR else { throw FileError("it is a folder") }
    guard kind != S_IFREG || Int(info.st_size) <= sizeLimit else { throw FileError("it is larger than 2 GiB") }
    if kind == S_IFREG, info.st_size >= leastHuge, let contents = try ofLarge(file, byteCount: Int(info.st_size)) {
      return contents
    }
    // The capacity is one byte more than the size of a regular file, so that its end is detected without growing. Files of
    // the kernel say that they are empty.
    var capacity = kind != S_IFREG ? 1 << 16 : info.st_size > 0 ? Int(info.st_size) + 1 : 1 << 12
    guard var bytes = unsafe malloc(capacity) else { throw FileError(code: ENOMEM) }
    var count = 0
    do throws(FileError) {
      while true {
        if count == capacity {
          guard count < sizeLimit else { throw FileError("it is larger than 2 GiB") }
          capacity *= 2
          // On failure the old block is still owned, and freed below.
          guard let grown = unsafe realloc(bytes, capacity) else { throw FileError(code: ENOMEM) }
          unsafe bytes = grown
        }
        // There is room for `capacity - count` bytes after the first `count`.
        let got = unsafe read(file, bytes + count, capacity - count)
        if got < 0, errno == EINTR { continue }
        guard got >= 0 else { throw FileError(code: errno) }
        if got == 0 { break }
        count += got
      }
    } catch {
      unsafe free(bytes)
      throw error
    }
    // The memory comes from malloc, and the last copy of the data frees it.
    return unsafe Data(bytesNoCopy: bytes, count: count, deallocator: .free)
  }

  /// Reads a large regular file into large pages; with small ones, page faults would take three quarters of the time.
  ///
  /// Returns `nil` and rewinds if the file turns out to be longer.
  private static func ofLarge(_ file: Int32, byteCount: Int) throws(FileError) -> Data? {
    let start = lseek(file, 0, SEEK_CUR)
    guard start >= 0 else { return nil }
    // The capacity is one byte more, as above.
    let memory = PageMemory(forFileOf: byteCount + 1)
    guard let bytes = unsafe memory.bytes.baseAddress else { return nil }
    var count = 0
    while count <= byteCount {
      // There is room for one byte more than `byteCount`.
      let got = unsafe read(file, bytes + count, byteCount + 1 - count)
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw FileError(code: errno) }
      if got == 0 {
        // The closure keeps the memory until the last copy of the data is gone.
        return unsafe Data(bytesNoCopy: bytes, count: count, deallocator: .custom { [memory] _, _ in _ = memory })
      }
      count += got
    }
    guard lseek(file, start, SEEK_SET) == start else { throw FileError(code: errno) }
    return nil
  }
}
