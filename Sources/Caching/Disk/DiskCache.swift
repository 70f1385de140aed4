public import VitrineRuntime

/// Keeps bytes in a folder, within a limit, across restarts and crashes.
///
/// ```swift
/// let cache = try DiskCache(directory: folder, sizeLimit: 300 << 20)
/// await cache.store(CachedData(data: bytes, contentID: ContentID(of: bytes), stored: .now), for: key)
/// let entry = await cache.entry(for: key)
/// ```
///
/// What is stored can be read at once and is written soon after, many entries by one call of the system. Every byte is
/// checked against a checksum when it is read: what was damaged, by whatever, is a miss. Whenever the process is killed,
/// at most the entries of the last moment are lost; when the power fails, those of the last second.
///
/// **Limit.** The folder never takes up more than 5 % over the limit, everything in it counted. What was not used for
/// long goes first, what was used often goes late, and the large goes before the small of the same age. Originals may
/// take up 80 % of the limit and finished images 20 %; either may use what the other leaves.
///
/// While others have nearly filled the disk it keeps to less: a twentieth of the disk stays free, at least 1 GB and at most
/// a fifth of it, down to a tenth of the limit.
///
/// **One writer.** One cache at a time writes to a folder. A second one, in this process or in another, reads what is
/// there and keeps what it stores itself in memory.
///
/// **Failures.** A disk that is full or cannot be written costs one warning, and entries are not kept until it can be
/// written again, which is tried every 30 seconds. A folder that was deleted is made again.
///
/// No call waits for the device on a thread of the caller's: files are read and written on threads of the cache's own,
/// save what the system has in memory.
public final class DiskCache: DataCaching {
  /// The folder.
  public let directory: URL

  let folder: DiskFolder
  let options: DiskOptions
  let clock: any TimeSource
  let shared: Lock<DiskState>
  let writer: DiskWriter
  let writing: WorkQueue
  let reading: WorkQueue
  let waiters = Lock(Waiters())
  private let warnings: DiskWarnings

  /// The longest record that is read on the caller's thread, in bytes, with the largest image that is kept as pixels:
  /// reading and checking it takes some 70 us, and another thread as much and what changing to it costs.
  static let inlineLength = 520 << 10

  struct Waiters {
    var opening: [Deferred<Void>] = []
    var room: [Deferred<Void>] = []
  }

  /// Opens a folder, or makes it.
  ///
  /// Its index is read in the background; calls wait for that.
  ///
  /// - Parameters:
  ///   - directory: The folder, which the cache has for itself. Made for its owner alone.
  ///   - sizeLimit: The most that the folder takes up, in bytes.
  ///   - lifetime: After how long an entry is gone, from when it was stored; never by default.
  ///   - clock: Tells the time; the machine's by default.
  ///   - warn: Told in words when the disk refuses, and when it is well again; nobody by default.
  /// - Throws: ``DiskCacheError`` if there is no such folder and none can be made.
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
    self.directory = directory
    self.options = options
    self.clock = clock
    folder = DiskFolder(path: directory.path, files: files)
    let warnings = DiskWarnings(warn)
    self.warnings = warnings
    var lockFile: (any DiskFile)?
    do throws(FileError) {
      if !options.readsOnly {
        try files.makeFolder(folder.path)
        lockFile = try files.open(folder.path("lock"), isWritable: true, isCreated: true)
      }
    } catch {
      throw DiskCacheError(path: folder.path, reason: error.description)
    }
    var state = DiskState()
    state.isReader = lockFile?.tryLock() != true
    let isReader = state.isReader
    shared = Lock(state)
    let writing = WorkQueue(label: "vitrine-write", width: 1)
    self.writing = writing
    reading = WorkQueue(label: "vitrine-read", width: 3)
    let box = WriterReference()
    let interval = options.syncInterval
    writer = DiskWriter(
      folder: folder,
      options: options,
      clock: clock,
      shared: shared,
      lockFile: isReader ? nil : lockFile,
      scheduleSync: {
        clock.schedule(after: interval) {
          _ = try? writing.enqueue(priority: .low) { _ in
            box.writer?.syncBeside { work in _ = try? writing.enqueue { _ in work() } }
          }
        }
      },
      warn: { warnings.tell($0) },
    )
    box.set(writer)
    let isEnqueued = enqueue { [shared, waiters, writer] in
      writer.open()
      shared.withLock { $0.phase = .open }
      Self.resolve(waiters, \.opening)
    }
    if !isEnqueued { shared.withLock { $0.phase = .closed } }
  }

  /// Tells somebody else, too, when the disk refuses, and when it is well again; `warn` returns whether it goes on listening.
  package func addWarning(_ warn: @escaping @Sendable (String) -> Bool) { warnings.add(warn) }

  // MARK: - Entries

  /// Keeps an entry, in place of an older one of the same key.
  ///
  /// It can be read as soon as this returns. One that is larger than a quarter of the limit is not kept, and the older
  /// one is removed. Waits while more than 32 MB are still to be written.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    let hash = await hash(of: key)
    let size = entry.data.count + entry.metadata.count + key.bytes.count
    let mayKeep = size <= options.entryLimit && entry.metadata.count + key.bytes.count <= options.segmentSize / 2
    stage(hash) { state in
      guard mayKeep else { return (.remove, .removed) }
      return (.put(key, entry), .entry(key, entry))
    }
    await waitForRoom()
  }

  /// Replaces expiry and metadata of what is kept for a key, if it still is that content.
  ///
  /// Writes a small record; the bytes stay where they are.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    let hash = await hash(of: key)
    guard let known = await identity(of: key, hash), known.contentID == contentID else { return false }
    let seconds = expires?.timeIntervalSinceReferenceDate ?? .infinity
    return stage(hash) { state in
      guard metadata.count <= self.options.segmentSize / 2 else { return nil }
      switch state.staged[hash]?.content {
      case .entry(let key, var entry):
        guard entry.contentID == contentID, let target = state.staged[hash]?.entrySequence else { return nil }
        (entry.expires, entry.metadata) = (expires, metadata)
        return (.renew(target: target, expires: seconds, metadata: metadata), .entry(key, entry))
      case .removed:
        return nil
      case .renewal, nil:
        // The content was looked at outside of the lock: it must still be that entry.
        guard let target = state.index[hash]?.sequence, target == known.sequence else { return nil }
        return (
          .renew(target: target, expires: seconds, metadata: metadata),
          .renewal(target: target, expires: seconds, metadata: metadata),
        )
      }
    }
  }

  /// Removes what is kept for a key.
  public func remove(_ key: CacheKey) async {
    let hash = await hash(of: key)
    stage(hash) { state in
      let isKnown = state.index[hash] != nil || state.staged[hash] != nil || state.owedRemovals[hash] != nil
      return isKnown ? (.remove, .removed) : nil
    }
  }

  /// Removes everything, and returns when the files are gone.
  ///
  /// What is being read is read to its end; what is stored meanwhile stays.
  public func removeAll() async {
    await opened()
    let (isOthers, before) = shared.withLock { state in
      let before = state.removeAll()
      // What is there is another's, or may be by now.
      let isOthers = state.isReader || state.phase == .closed
      if isOthers {
        state.doomedPartials.removeAll()
        state.doomedSegments.removeAll()
        state.doomedBodies.removeAll()
      }
      return (isOthers, before)
    }
    // The bytes that were staged may be anybody's: they are released with the lock open.
    _ = consume before
    if isOthers { return }
    await onWriter { $0.drain() }
  }

  /// Removes the entries for which `isRemoved` says so.
  ///
  /// Reads the keys, unless nothing is kept. Complexity: O(n).
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    for entry in await entries() where isRemoved(entry) { await remove(entry.key) }
  }

  // MARK: - All entries

  /// Returns what is kept, in no order.
  ///
  /// Reads the keys. Complexity: O(n).
  public func entries() async -> [DataCacheEntry] {
    await flush()
    let (staged, index, segments) = shared.withLock { ($0.staged, $0.index, $0.segments) }
    let folder = folder
    let stored = try? await reading.run { _ in
      index.allParts.flatMap { part in
        part.compactMap { hash, entry -> DataCacheEntry? in
          guard staged[hash] == nil, let segment = segments[entry.segment] else { return nil }
          return folder.summary(at: DiskFolder.Place(entry: entry, hash: hash, segment: segment))
        }
      }
    }
    let own = staged.values.compactMap { view -> DataCacheEntry? in
      guard case .entry(let key, let data) = view.content else { return nil }
      return DataCacheEntry(
        key: key,
        kind: data.kind,
        byteCount: data.data.count,
        stored: data.stored,
        expires: data.expires,
        hits: Int(view.hits),
      )
    }
    return (stored ?? []) + own
  }

  /// How much is kept, and what happened so far, earlier processes included.
  public func statistics() async -> DataCacheStatistics {
    await opened()
    return shared.withLock { state in
      var statistics = DataCacheStatistics()
      var counts = state.laneEntries
      for (hash, view) in state.staged {
        let known = state.index[hash]
        switch view.content {
        case .entry(_, let data):
          if let known { counts[Int(known.lane)] -= 1 }
          counts[Int(data.kind.rawValue)] += 1
        case .removed:
          if let known { counts[Int(known.lane)] -= 1 }
        case .renewal:
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

  /// Whether another cache writes to the folder, so that this one keeps what it stores in memory.
  public var isReadOnly: Bool { shared.withLock { $0.isReader } }

  /// Waits until everything that was stored has reached the device.
  public func flush() async {
    await opened()
    await onWriter { $0.flush() }
  }

  /// Writes everything, the index too, and lets another cache have the folder; afterwards nothing is found or kept.
  public func close() async {
    await opened()
    await onWriter { $0.close() }
  }

  /// Evicts until the folder takes up no more than this, in bytes.
  public func trim(to size: Int) async {
    await opened()
    if isReadOnly { return }
    await onWriter { $0.trim(to: max(0, size)) }
  }

  /// Reads everything, and drops what is damaged.
  ///
  /// Complexity: O(bytes).
  public func verify() async -> DiskVerification {
    await opened()
    return await onWriter { $0.verify() } ?? DiskVerification()
  }
}

/// Lets the timer reach the writer without keeping it alive.
private final class WriterReference: Sendable {
  private struct Weak: Sendable {
    weak var writer: DiskWriter?
  }

  private let reference = Lock(Weak())

  func set(_ writer: DiskWriter) {
    reference.withLock { $0.writer = writer }
  }

  var writer: DiskWriter? { reference.withLock { $0.writer } }
}
