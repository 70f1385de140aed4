import VitrineRuntime

/// The writer of a ``DiskCache``, which appends to the log in batches on a single thread.
///
/// Callers stage operations in the shared state, where readers see them at once. The writer turns them into records,
/// and then into entries of the index.
@safe
final class DiskWriter: @unchecked Sendable {
  // Sendable, since all mutable state is touched on the writer's serial queue only; `shared` is a lock.

  /// The end of a lane's log.
  struct Lane {
    var segment: UInt32?
    var file: (any DiskFile)?
    var tail = 0
    var buffer = HeadWriter()
  }

  /// A change to the index once a batch is written.
  enum Outcome {
    case put(DiskEntry)
    case renewal(DiskRenewal)
    case removal
    case refused
  }

  static let retryInterval = Duration.seconds(30)
  let folder: DiskFolder
  let options: DiskOptions
  let clock: any TimeSource
  let shared: Lock<DiskState>
  let writing = WorkQueue(label: "vitrine-write", width: 1)
  let syncing = WorkQueue(label: "vitrine-sync", width: 1)
  private let warn: @Sendable (String) -> Void
  private(set) var lockFile: (any DiskFile)?

  var lanes = [Lane(), Lane()]
  private(set) var epoch = 0
  /// The segments that are not fully synced, each with the number of writes at its last change.
  var unsynced: [UInt32: (file: any DiskFile, writes: Int)] = [:]
  private var writes = 0
  /// The number of changes to names in the folder, and the number of synced ones.
  var nameChanges = (all: 0, synced: 0)
  /// Removals from lanes that entries have left, to be written once the entries are synced.
  ///
  /// If they were written at once, a crash could leave a removal without the entry that replaced the removed one.
  var owedMoves: [(hash: KeyHash, sequence: UInt64, lane: Int)] = []
  var isIndexOutdated = false
  /// Set if the format file could not be written yet.
  var owesFormat = false
  /// Set while the files of an earlier process are read; an error then leaves them unchanged.
  var isUnreadable = false
  /// Segments with a damaged end, to which nothing may be appended.
  var damagedSegments: Set<UInt32> = []
  var isSyncScheduled = false

  init(
    folder: DiskFolder,
    options: DiskOptions,
    clock: any TimeSource,
    lockFile: (any DiskFile)?,
    warn: @escaping @Sendable (String) -> Void,
  ) {
    (self.folder, self.options, self.clock, self.warn) = (folder, options, clock, warn)
    var state = DiskState()
    state.isReader = lockFile?.tryLock() != true
    self.lockFile = state.isReader ? nil : lockFile
    shared = Lock(state)
  }

  // MARK: - Batches

  /// The size of a batch in bytes.
  ///
  /// Room is made for a whole batch, so it must be small beside the limit.
  private var batchSize: Int { min(64 << 10, options.segmentSize) }

  /// Writes all staged operations.
  func drain() {
    while true {
      let (batch, void) = shared.withLock { state -> ([StagedOperation], [StagedOperation]) in
        guard state.phase == .open, !state.isReader else {
          state.isDraining = false
          return ([], [])
        }
        adopt(&state)
        let (batch, void) = state.takeBatch(upTo: batchSize)
        if batch.isEmpty { state.isDraining = false }
        return (batch, void)
      }
      // Released without the lock, like all staged entries.
      _ = consume void
      removeDoomed()
      if batch.isEmpty { break }
      perform(batch)
    }
  }

  /// Resets the writer if everything was removed.
  ///
  /// Called with the lock held.
  private func adopt(_ state: inout DiskState) {
    guard state.epoch != epoch else { return }
    epoch = state.epoch
    lanes = [Lane(), Lane()]
    unsynced.removeAll()
    owedMoves.removeAll()
    state.indexFileSize = 0
    isIndexOutdated = true
  }

  /// Writes operations, and returns whether they have taken effect.
  @discardableResult
  func perform(_ batch: [StagedOperation]) -> Bool {
    do throws(FileError) {
      try prepare()
      let owed = shared.withLock { $0.owedRemovals }
      let spilled = batch.reduce(0) { $0 + $1.byteCount }
      try makeRoom(for: spilled + owed.count * RecordHeader.size, limit: currentLimit())
      for (hash, sequence) in owed { try appendRemoval(of: hash, sequence: sequence) }
      let bodies = try writeBodies(batch)
      var outcomes: [Outcome] = []
      for operation in batch { outcomes.append(try append(operation, bodies)) }
      try flushLanes()
      defer { syncIfDue() }
      return finish(batch, outcomes, owed)
    } catch {
      fail(batch, error)
      return false
    }
  }

  /// Returns `false` if everything was removed meanwhile, including the batch.
  private func finish(_ batch: [StagedOperation], _ outcomes: [Outcome], _ owed: [KeyHash: UInt64]) -> Bool {
    let (recovered, left) = shared.withLock { state -> (Bool, [StagedView?]?) in
      let recovered = state.retryUptime != nil
      state.retryUptime = nil
      guard state.epoch == epoch else {
        doomBodies(of: batch, &state)
        return (recovered, nil)
      }
      for (hash, sequence) in owed where state.owedRemovals[hash] == sequence { state.owedRemovals[hash] = nil }
      var left: [StagedView?] = []
      for (operation, outcome) in zip(batch, outcomes) {
        apply(outcome, of: operation, &state)
        left.append(state.unstage(operation))
      }
      return (recovered, left)
    }
    if recovered { warn("the disk cache at \(folder.path) can be written again") }
    return left != nil
  }

  private func apply(_ outcome: Outcome, of operation: StagedOperation, _ state: inout DiskState) {
    switch outcome {
    case .put(var entry):
      // Uses between staging and writing count.
      if let view = state.staged[operation.hash], view.entrySequence == entry.sequence {
        (entry.lastUse, entry.hits) = (view.lastUse, view.hits)
      }
      state.insert(entry, for: operation.hash)
    case .renewal(let renewal):
      state.renew(operation.hash, renewal)
    case .removal:
      state.drop(operation.hash)
    case .refused:
      if state.drop(operation.hash) != nil { state.owedRemovals[operation.hash] = operation.sequence }
    }
  }

  /// Handles a write error: neither the new entries nor those they would have replaced remain.
  func fail(_ batch: [StagedOperation], _ error: FileError) {
    for lane in lanes.indices {
      lanes[lane].buffer.removeAll()
      try? lanes[lane].file?.truncate(to: lanes[lane].tail)
    }
    let uptime = clock.uptime
    let (isFirst, left) = shared.withLock { state -> (Bool, [StagedView?]) in
      let isFirst = state.retryUptime == nil
      if isFirst || uptime >= state.retryUptime ?? .zero { state.retryUptime = uptime + Self.retryInterval }
      doomBodies(of: batch, &state)
      guard state.epoch == epoch else { return (isFirst, []) }
      var left: [StagedView?] = []
      for operation in batch {
        left.append(state.unstage(operation))
        if case .renew = operation.operation { continue }
        apply(.refused, of: operation, &state)
      }
      return (isFirst, left)
    }
    _ = consume left
    if isFirst { warn("the disk cache at \(folder.path) cannot be written: \(error.description)") }
  }

  private func doomBodies(of batch: [StagedOperation], _ state: inout DiskState) {
    for operation in batch where state.bodies[operation.sequence] != nil {
      state.doomed.bodies.append(operation.sequence)
    }
  }

  // MARK: - Files

  func flushLanes() throws(FileError) {
    for lane in lanes.indices { try flush(lane) }
  }

  func flush(_ lane: Int) throws(FileError) {
    let count = lanes[lane].buffer.count
    guard count > 0, let id = lanes[lane].segment, let file = lanes[lane].file else { return }
    try file.write(lanes[lane].buffer.bytes, at: lanes[lane].tail)
    lanes[lane].tail += count
    lanes[lane].buffer.removeAll()
    writes += 1
    unsynced[id] = (file, writes)
    let tail = lanes[lane].tail
    shared.withLock { state in
      if state.epoch == epoch { state.segments[id]?.size = tail }
    }
  }

  func roll(_ lane: Int) throws(FileError) {
    let id = shared.withLock { state in
      defer { state.nextSegment += 1 }
      return state.nextSegment
    }
    let file = try folder.create(folder.segmentName(id, lane: lane))
    try file.truncate(to: 0)
    nameChanges.all += 1
    if lanes[lane].segment != nil { isIndexOutdated = true }
    lanes[lane] = Lane(segment: id, file: file)
    shared.withLock { state in
      if state.epoch == epoch {
        state.segments[id] = Segment(id: id, lane: lane, file: file, size: 0)
      } else {
        state.doomed.segments.append(id)
      }
    }
  }

  /// Ends appending to a segment.
  func seal(_ id: UInt32) {
    for lane in lanes.indices where lanes[lane].segment == id { lanes[lane] = Lane() }
  }

  /// Writes the large bodies of a batch under temporary names, unless they have been streamed, syncs them together, and
  /// then renames them.
  private func writeBodies(_ batch: [StagedOperation]) throws(FileError) -> [UInt64: UInt32] {
    typealias Body = (sequence: UInt64, name: String, file: any DiskFile, checksum: UInt32, size: Int, lane: Int)
    var written: [Body] = []
    do throws(FileError) {
      for operation in batch {
        guard case .put(_, let data) = operation.operation else { continue }
        let (sequence, lane) = (operation.sequence, Int(data.kind.rawValue))
        if let body = operation.body, let file = body.file {
          written.append((sequence, name(of: body), file, body.checksum.value, body.count, lane))
        } else if data.data.count > options.spillThreshold {
          let name = folder.temporaryBodyName(sequence)
          let file = try folder.create(name)
          var checksum = CRC32C()
          checksum.append(data.data)
          written.append((sequence, name, file, checksum.value, data.data.count, lane))
          try file.write(data.data, at: 0)
        }
      }
      for body in written { try body.file.sync() }
      for body in written {
        try folder.rename(body.name, to: folder.bodyName(body.sequence))
        nameChanges.all += 1
      }
      // A record without its body would invalidate the older version of the entry too.
      if !written.isEmpty { try syncNames() }
    } catch {
      for body in written {
        try? folder.remove(body.name)
        try? folder.remove(folder.bodyName(body.sequence))
      }
      throw error
    }
    shared.withLock { state in
      for body in written { state.bodies[body.sequence] = SpilledBody(lane: body.lane, size: body.size) }
      // From here on, a streamed body is an ordinary body, which becomes an entry by its record.
      for operation in batch { if let body = operation.body { state.streamed[body.number] = nil } }
    }
    for operation in batch {
      if let body = operation.body, body.isPartial { try? folder.remove(folder.journalName(body.number)) }
    }
    return Dictionary(uniqueKeysWithValues: written.map { ($0.sequence, $0.checksum) })
  }

  /// Removes obsolete files.
  func removeDoomed() {
    let (doomed, mine) = shared.withLock { state in
      defer { state.doomed = DiskState.Doomed() }
      return (state.doomed, state.epoch == epoch)
    }
    // The index goes first, since it refers to the other files, so that a crash in between restores nothing.
    if !doomed.segments.isEmpty, mine { try? folder.remove("index") }
    if !doomed.segments.isEmpty || !doomed.bodies.isEmpty { nameChanges.all += 1 }
    // A record must not outlive its removal, which lies in the same segment or in a later one.
    for id in doomed.segments.sorted() {
      for lane in lanes.indices { try? folder.remove(folder.segmentName(id, lane: lane)) }
    }
    for number in doomed.partials {
      for name in [folder.partialName(number), folder.journalName(number), folder.temporaryBodyName(number)] {
        try? folder.remove(name)
      }
    }
    for sequence in doomed.bodies {
      try? folder.remove(folder.bodyName(sequence))
      shared.withLock { state in state.bodies[sequence] = nil }
    }
  }

  /// Throws while nothing may be written, and otherwise makes sure that the folder is there.
  func prepare() throws(FileError) {
    guard shared.withLock({ $0.phase == .open }) else { throw FileError("closed") }
    if let retry = shared.withLock({ $0.retryUptime }), clock.uptime < retry { throw FileError(code: EAGAIN) }
    try ensureFolder()
  }

  /// Creates the folder again if it was deleted.
  private func ensureFolder() throws(FileError) {
    if let lockFile, !lockFile.isDeleted {
      guard owesFormat else { return }
      try folder.writeFormat(shared.withLock { $0.secret })
      owesFormat = false
      return
    }
    let before = shared.withLock { state in
      let (staged, queue, start, bytes) = (state.staged, state.queue, state.queueStart, state.stagedBytes)
      let before = state.removeAll()
      // The files are lost, but not this batch, which belongs to the new epoch.
      (state.staged, state.queue, state.queueStart, state.stagedBytes) = (staged, queue, start, bytes)
      state.doomed = DiskState.Doomed()
      state.bodies = SizedTable()
      adopt(&state)
      return before
    }
    _ = consume before
    try folder.files.makeFolder(folder.path)
    let file = try folder.create("lock")
    guard file.tryLock() else { throw FileError("another process writes to the folder") }
    lockFile = file
    try folder.writeFormat(shared.withLock { $0.secret })
  }

  func report(_ error: FileError) {
    warn("the disk cache at \(folder.path): \(error.description)")
  }

  func close() {
    flush()
    let isWritable = shared.withLock { state in
      defer { state.phase = .closed }
      return state.phase == .open && !state.isReader && state.retryUptime == nil
    }
    if isWritable, lockFile?.isDeleted == false { try? writeIndex() }
    lanes = [Lane(), Lane()]
    let before = shared.withLock { state in
      let before = state.removeAll()
      state.doomed = DiskState.Doomed()
      return before
    }
    _ = consume before
    lockFile = nil
  }
}
