package import VitrineRuntime

/// Watches a folder for pictures that come, change and go.
///
/// Changes that come in quick succession are told together. The folders within are not watched.
package final class FolderWatch: Sendable {
  /// A change of the folder.
  package enum Change: Sendable, Equatable {
    /// Files of these names came, changed or went.
    case names(Set<ItemID>)
    /// So much that the system has lost count.
    case everything
    /// The folder is no longer there; nothing follows.
    case gone
  }

  /// The descriptor of the system's watch; `nil` once it is closed.
  private let descriptor: Lock<(file: Int32, watch: Int32)?>
  /// The changes, until the watch is stopped or released.
  package let changes: AsyncStream<Change>

  // Files that are closed after writing, not each write. A hard link is created without being written.
  private static let mask = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
  )
  /// The time without changes that ends a succession, and the longest one, in milliseconds.
  private static let pause: Int32 = 20
  private static let rounds = 10

  /// Begins to watch; nothing that happens from now on is missed.
  ///
  /// - Throws: `FileError` if the folder cannot be watched.
  package init(_ folder: String) throws(FileError) {
    let file = inotify_init1(O_CLOEXEC)
    guard file >= 0 else { throw FileError(code: errno) }
    let watch = unsafe ByteString(fileText: folder).withCString { unsafe inotify_add_watch(file, $0, Self.mask) }
    guard watch >= 0 else {
      let error = FileError(code: errno)
      close(file)
      throw error
    }
    let descriptor = Lock<(file: Int32, watch: Int32)?>((file, watch))
    let (changes, continuation) = AsyncStream<Change>.makeStream()
    (self.descriptor, self.changes) = (descriptor, changes)
    let hasStarted = startThread(named: "folder-watch") {
      Self.follow(file, continuation)
      // `stop` must not meet the number of another file.
      descriptor.withLock { $0 = nil }
      close(file)
      continuation.finish()
    }
    guard !hasStarted else { return }
    close(file)
    self.descriptor.withLock { $0 = nil }
    throw FileError(code: EAGAIN)
  }

  deinit { stop() }

  /// Ends the watch, and with it the changes.
  package func stop() {
    descriptor.withLock { open in
      guard let (file, watch) = open else { return }
      // The thread reads that the watch has ended, and ends.
      inotify_rm_watch(file, watch)
      open = nil
    }
  }

  private static func follow(_ file: Int32, _ continuation: AsyncStream<Change>.Continuation) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      var batch = Batch()
      var round = 0
      repeat {
        // As many bytes as the buffer has.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        unsafe buffer.withUnsafeBytes { unsafe batch.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        round += 1
      } while !batch.isLast && round < rounds && isReadable(file)
      if batch.isGone {
        continuation.yield(.gone)
      } else if batch.isOverflown {
        continuation.yield(.everything)
      } else if !batch.names.isEmpty {
        continuation.yield(.names(batch.names))
      }
      if batch.isLast || batch.isGone { return }
    }
  }

  private static func isReadable(_ file: Int32) -> Bool {
    var descriptor = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    // One structure, which outlives the call.
    return unsafe poll(&descriptor, 1, pause) > 0
  }

  private struct Batch {
    var names: Set<ItemID> = []
    var isOverflown = false
    var isGone = false
    /// True if the watch has ended.
    var isLast = false

    /// Reads the events that the system has written.
    mutating func add(_ events: UnsafeRawBufferPointer) {
      // Each is an `inotify_event`: watch, mask, cookie, the length of the name with its padding, and the name.
      let header = 16
      var place = 0
      while place + header <= events.count {
        let mask = unsafe events.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
        let length = unsafe Int(events.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
        guard length <= events.count - place - header else { return }
        let name = unsafe events[(place + header)..<(place + header + length)].prefix { $0 != 0 }
        place += header + length
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { isOverflown = true }
        if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) != 0 { isGone = true }
        if mask & UInt32(IN_IGNORED) != 0 { isLast = true }
        if unsafe !name.isEmpty { unsafe names.insert(ItemID(ByteString(bytes: name).fileText)) }
      }
    }
  }
}
