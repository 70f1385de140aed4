package import VitrineRuntime

/// Watches a folder for pictures that come, change and go.
///
/// Changes that come in quick succession are told together. The folders within are watched if they are added.
package final class FolderWatch: Sendable {
  /// A change of the folder.
  package enum Change: Sendable, Equatable {
    /// Files of these names came, changed or went; those in an added folder have its path within the first before them.
    case names(Set<ItemID>)
    /// So much that the system has lost count, or an added folder, or one in it.
    case everything
    /// The folder is no longer there; nothing follows.
    case gone
  }

  /// The descriptor of the system's watch; `nil` once it is closed.
  private let descriptor: Lock<(file: Int32, watch: Int32)?>
  /// The paths of the added folders within the first, each with a slash at its end, by the system's watches.
  private let within: Lock<[Int32: String]>
  private let folder: String
  /// The maximum number of added folders; the system has a limit for all programs of a user.
  private static let limit = 4096
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
    let within = Lock<[Int32: String]>([:])
    let (changes, continuation) = AsyncStream<Change>.makeStream()
    (self.descriptor, self.changes, self.within, self.folder) = (descriptor, changes, within, folder)
    let hasStarted = startThread(named: "folder-watch") {
      Self.follow(file, watch, within, continuation)
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

  /// Watches a folder within, too; does nothing with another one, and beyond the limits of this class and the system.
  package func add(_ inner: String) {
    let start = folder.hasSuffix("/") ? folder : folder + "/"
    guard inner.hasPrefix(start), inner != start else { return }
    descriptor.withLock { open in
      guard let open, within.withLock({ $0.count }) < Self.limit else { return }
      // Its thread reads that name only after the lock has been given back.
      within.withLock { within in
        let watch = unsafe ByteString(fileText: inner).withCString {
          unsafe inotify_add_watch(open.file, $0, Self.mask)
        }
        if watch >= 0, watch != open.watch { within[watch] = String(inner.dropFirst(start.count)) + "/" }
      }
    }
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

  private static func follow(
    _ file: Int32,
    _ watch: Int32,
    _ within: Lock<[Int32: String]>,
    _ continuation: AsyncStream<Change>.Continuation,
  ) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      var batch = Batch(watch: watch)
      var round = 0
      repeat {
        // As many bytes as the buffer has.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        let folders = within.withLock { $0 }
        unsafe buffer.withUnsafeBytes { unsafe batch.add(UnsafeRawBufferPointer(rebasing: $0[..<count]), folders) }
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
    /// The watch of the first folder.
    let watch: Int32
    var names: Set<ItemID> = []
    var isOverflown = false
    var isGone = false
    /// True if the watch has ended.
    var isLast = false

    /// Reads the events that the system has written.
    mutating func add(_ events: UnsafeRawBufferPointer, _ folders: [Int32: String]) {
      // Each is an `inotify_event`: watch, mask, cookie, the length of the name with its padding, and the name.
      let header = 16
      var place = 0
      while place + header <= events.count {
        let source = unsafe events.loadUnaligned(fromByteOffset: place, as: Int32.self)
        let mask = unsafe events.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
        let length = unsafe Int(events.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
        guard length <= events.count - place - header else { return }
        let name = unsafe events[(place + header)..<(place + header + length)].prefix { $0 != 0 }
        place += header + length
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { isOverflown = true }
        let isEnd = mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) != 0
        if source == watch || source < 0 {
          if isEnd { isGone = true }
          if mask & UInt32(IN_IGNORED) != 0 { isLast = true }
          // The folders within are known one by one.
          if mask & UInt32(IN_ISDIR) != 0, !folders.isEmpty { isOverflown = true }
          if unsafe !name.isEmpty { unsafe names.insert(ItemID(ByteString(bytes: name).fileText)) }
        } else if let inner = folders[source] {
          if isEnd || mask & UInt32(IN_ISDIR) != 0 { isOverflown = true }
          if unsafe !name.isEmpty { unsafe names.insert(ItemID(inner + ByteString(bytes: name).fileText)) }
        }
      }
    }
  }
}
