public import VitrineRuntime

/// A cache of bytes in a folder, with a size limit, which survives restarts and crashes.
///
/// ```swift
/// let cache = try DiskCache(directory: folder, sizeLimit: 300 << 20)
/// await cache.store(CachedData(data: bytes, contentID: ContentID(of: bytes), stored: .now), for: key)
/// let entry = await cache.entry(for: key)
/// ```
///
/// An entry can be read as soon as it is stored. It is written soon afterwards, many entries with one system call.
/// Every byte is verified against a checksum when it is read, and a damaged entry is a miss. If the process is killed,
/// at most the entries of the last moment are lost. After a power failure, at most the entries of the last second are
/// lost.
///
/// **Limit.** The folder never exceeds the limit by more than 5 %, with everything in it counted. Entries unused for
/// long leave first, entries used often leave late, and large entries leave before small ones of the same age.
/// Originals may take up 80 % of the limit and finished images 20 %. Either may use free space of the other.
///
/// If the disk is nearly full, the cache takes up less. It leaves a twentieth of the disk free, at least 1 GB and at
/// most a fifth of the disk, but keeps a tenth of its limit.
///
/// **One writer.** One cache at a time writes to a folder. A second one, in this or another process, reads the stored
/// entries and keeps its own in memory.
///
/// **Failures.** A failed write, such as on a full disk, causes one warning. Entries are not stored until writing
/// succeeds again, which is retried every 30 seconds. If the folder is deleted, the cache creates it again.
///
/// No call waits for the device on the caller's thread. Files are read and written on the cache's own threads, except
/// for reads that the system serves from memory.
public final class DiskCache: DataCaching, WarningDataCaching {
  /// The folder.
  public let directory: URL

  let writer: DiskWriter
  var folder: DiskFolder { writer.folder }
  var options: DiskOptions { writer.options }
  var clock: any TimeSource { writer.clock }
  var shared: Lock<DiskState> { writer.shared }
  let reading = WorkQueue(label: "vitrine-read", width: 3)
  /// The callers that wait for the folder to be open, or for staged bytes to be written.
  let waiters = Lock<[Deferred<Void>]>([])
  private let warnings: CacheWarnings
  /// The reason why this cache may not write to the folder; `nil` if it writes, or another cache does.
  package let refusal: FileError?

  /// The maximum length of a record that is read on the caller's thread, in bytes.
  ///
  /// It fits the largest image that is stored as pixels. Reading and verifying that takes about 70 us. Another thread
  /// would take as long, plus the switch to it.
  static let inlineLength = 520 << 10

  /// Opens a folder, or creates it.
  ///
  /// The index is read in the background, and calls wait for that.
  ///
  /// - Parameters:
  ///   - directory: The folder, for this cache alone. Created with access for its owner only.
  ///   - sizeLimit: The maximum size of the folder, in bytes.
  ///   - lifetime: The time after storing at which an entry is no longer returned, even if it was renewed. Defaults to
  ///     `nil`, no limit.
  ///   - clock: The clock. Defaults to the system clock.
  ///   - warn: A closure that receives a message when the disk fails and when it works again. Defaults to none.
  /// - Throws: ``DiskCacheError`` if the folder or its lock file cannot be created. A cache that may be read and not
  ///   written is opened, see ``isReadOnly``.
  public convenience init(
    directory: URL,
    sizeLimit: Int,
    lifetime: Duration? = nil,
    clock: any TimeSource = .system,
    warn: @escaping @Sendable (String) -> Void = { _ in },
  ) throws(DiskCacheError) {
    var options = DiskOptions(sizeLimit: sizeLimit)
    options.lifetime = lifetime
    try self.init(directory: directory, options: options, files: SystemFiles(), clock: clock, warn: warn)
  }

  package init(
    directory: URL,
    options: DiskOptions,
    files: any DiskFileSystem,
    clock: any TimeSource,
    warn: @escaping @Sendable (String) -> Void = { _ in },
  ) throws(DiskCacheError) {
    let folder = DiskFolder(path: directory.path, files: files)
    let warnings = CacheWarnings(warn)
    (self.directory, self.warnings) = (directory, warnings)
    var lockFile: (any DiskFile)?
    var refusal: FileError?
    do throws(FileError) {
      if !options.readsOnly {
        try files.makeFolder(folder.path)
        lockFile = try folder.create("lock")
      }
    } catch {
      // A readable folder is read, as if another cache wrote to it.
      guard [EACCES, EPERM, EROFS].contains(error.code), case .known = (try? folder.readFormat()) ?? .missing else {
        throw DiskCacheError(path: folder.path, reason: error.description)
      }
      refusal = error
    }
    self.refusal = refusal
    writer = DiskWriter(folder: folder, options: options, clock: clock, lockFile: lockFile) { warnings.tell($0) }
    let isEnqueued = enqueue { [waiters, writer] in
      writer.open()
      writer.shared.withLock { $0.phase = .open }
      Self.resolve(waiters)
    }
    if !isEnqueued { shared.withLock { $0.phase = .closed } }
  }

  /// The reason why this cache keeps new entries in memory only; `nil` if it writes, or was opened to be read.
  package var readOnlyReason: String? {
    guard isReadOnly, !options.readsOnly else { return nil }
    return refusal?.description ?? "another cache, in this process or another, writes to this folder"
  }

  /// Adds a closure that receives the same messages as `warn`, until it returns `false`.
  package func addWarning(_ warn: @escaping @Sendable (String) -> Bool) { warnings.add(warn) }

  // MARK: - Entries

  /// Stores an entry and replaces an older one of the same key.
  ///
  /// The entry can be read as soon as this returns. An entry that exceeds a quarter of the limit is not stored, and the
  /// older one is removed. Waits while more than 32 MB are yet to be written.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    let hash = await hash(of: key)
    let size = entry.data.count + entry.metadata.count + key.bytes.count
    let mayKeep = size <= options.entryLimit && entry.metadata.count + key.bytes.count <= options.segmentSize / 2
    stage(hash) { state in
      let operation = mayKeep ? DiskOperation.put(key, entry) : .remove
      return (operation, operation)
    }
    await wait { $0.stagedBytes > options.stagingLimit && $0.isDraining }
  }

  /// Replaces the expiry and metadata of an entry, if it still has the given content.
  ///
  /// Writes a small record. The body stays where it is.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    let hash = await hash(of: key)
    let known = shared.withLock { $0.staged[hash]?.entrySequence ?? $0.index[hash]?.sequence }
    guard await self.contentID(for: key) == contentID else { return false }
    let seconds = expires.expirySeconds
    return stage(hash) { state in
      guard metadata.count <= self.options.segmentSize / 2 else { return nil }
      switch state.staged[hash]?.content {
      case .put(let key, var entry):
        guard entry.contentID == contentID, let target = state.staged[hash]?.entrySequence else { return nil }
        (entry.expires, entry.metadata) = (expires, metadata)
        return (.renew(target: target, expires: seconds, metadata: metadata), .put(key, entry))
      case .remove:
        return nil
      case .renew, nil:
        // The content was read without the lock, so the entry may have changed.
        guard let target = state.index[hash]?.sequence, target == known else { return nil }
        let renewal = DiskOperation.renew(target: target, expires: seconds, metadata: metadata)
        return (renewal, renewal)
      }
    }
  }

  /// Removes the entry for a key.
  public func remove(_ key: CacheKey) async {
    let hash = await hash(of: key)
    stage(hash) { state in
      let isKnown = state.index[hash] != nil || state.staged[hash] != nil || state.owedRemovals[hash] != nil
      return isKnown ? (.remove, .remove) : nil
    }
  }

  /// Removes everything, and returns when the files are gone.
  ///
  /// Reads in progress finish. Entries that are stored meanwhile stay.
  public func removeAll() async {
    await opened()
    let (isOthers, before) = shared.withLock { state in
      let before = state.removeAll()
      // The files belong to another cache, or may do so by now.
      let isOthers = state.isReader || state.phase == .closed
      if isOthers { state.doomed = DiskState.Doomed() }
      return (isOthers, before)
    }
    // Staged bytes are released without the lock, since that may run any code.
    _ = consume before
    if isOthers { return }
    await onWriter { $0.drain() }
  }

  // MARK: - All entries

  /// Returns all entries without their bodies, in no particular order.
  ///
  /// Waits for ``flush()``, then reads the keys. Complexity: O(n).
  public func entries() async -> [DataCacheEntry] {
    await flush()
    let (state, folder) = (shared.withLock { $0 }, folder)
    let stored = try? await reading.run { _ in
      state.index.allParts.flatMap { part in
        part.keys.lazy.filter { state.staged[$0] == nil }.compactMap { state.place(of: $0) }
          .compactMap { folder.summary(at: $0) }
      }
    }
    let own = state.staged.values.compactMap { view -> DataCacheEntry? in
      guard case .put(let key, let data) = view.content else { return nil }
      return DataCacheEntry(CachedDataHead(data), for: key, hits: Int(view.hits))
    }
    return (stored ?? []) + own
  }

  /// Returns the contents and the history of the cache in numbers, including earlier processes.
  public func statistics() async -> DataCacheStatistics {
    await opened()
    return shared.withLock { state in
      var statistics = DataCacheStatistics()
      var counts = state.laneEntries
      for (hash, view) in state.staged {
        let known = state.index[hash]
        switch view.content {
        case .put(_, let data):
          if let known { counts[Int(known.lane)] -= 1 }
          counts[Int(data.kind.rawValue)] += 1
        case .remove:
          if let known { counts[Int(known.lane)] -= 1 }
        case .renew:
          break
        }
      }
      (statistics.originals, statistics.finished) = (counts[0], counts[1])
      statistics.entries = counts[0] + counts[1]
      statistics.bytes = state.fileBytes
      statistics.partials = state.streamed.counts[1]
      statistics.limit = self.options.sizeLimit
      (statistics.hits, statistics.misses) = (state.hits, state.misses)
      (statistics.evictions, statistics.damaged) = (state.evictions, state.damaged)
      return statistics
    }
  }

  /// A Boolean value that indicates whether another cache writes to the folder, or this one may not.
  ///
  /// If so, it reads the folder and stores its own entries in memory.
  public var isReadOnly: Bool { shared.withLock { $0.isReader } }

  /// Waits until everything that was stored has reached the device.
  public func flush() async { await onWriter { $0.flush() } }

  /// Writes everything, including the index, and releases the folder to other caches.
  ///
  /// The cache is empty afterwards.
  public func close() async { await onWriter { $0.close() } }

  /// Evicts until the folder takes up at most this many bytes.
  public func trim(to size: Int) async { await onWriter { $0.trim(to: max(0, size)) } }

  /// Reads and verifies every entry, and drops damaged ones.
  ///
  /// Complexity: O(bytes).
  package func verify() async -> DiskVerification {
    await onWriter { $0.verify() } ?? (0, [])
  }
}
