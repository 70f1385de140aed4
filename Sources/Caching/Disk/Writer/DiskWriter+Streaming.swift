import VitrineRuntime

/// A body on its way to the disk, piece by piece.
@safe
final class StreamedBody: @unchecked Sendable {
  // Sendable, since all mutable state is touched on the writer's queue only, and `failure` is a lock.

  enum End: Sendable {
    case sealed(ContentID)
    /// A body so small that it is stored like any other.
    case small(Data)
    case refused
  }

  let key: CacheKey
  let hash: KeyHash
  let isPartial: Bool
  let metadata: Data
  private let failure = Lock(false)

  fileprivate(set) var number: UInt64 = 0
  fileprivate var epoch = 0
  fileprivate var file: (any DiskFile)?
  fileprivate var journal: (any DiskFile)?
  fileprivate var journalEnd = 0
  fileprivate var count = 0
  fileprivate var checksum = CRC32C()
  fileprivate var contentHash = ContentHash()
  /// The bytes, if another cache writes to the folder and there is no file.
  fileprivate var memory = Data()

  init(_ key: CacheKey, _ hash: KeyHash, isPartial: Bool, metadata: Data) {
    (self.key, self.hash, self.isPartial, self.metadata) = (key, hash, isPartial, metadata)
  }

  /// A Boolean value that indicates whether the body failed and will not be stored.
  var hasFailed: Bool { failure.withLock { $0 } }

  func fail() { failure.withLock { $0 = true } }
}

/// Streamed bodies, each of which is a file from its first piece on.
extension DiskWriter {
  /// Appends a piece, or fails the whole body on a write error.
  func append(_ piece: Data, to body: StreamedBody) {
    guard !body.hasFailed else { return }
    guard body.count + piece.count <= options.entryLimit else { return drop(body) }
    if shared.withLock({ $0.isReader }) {
      guard body.memory.count + piece.count <= options.stagingLimit else { return drop(body) }
      return body.memory.append(piece)
    }
    do throws(FileError) {
      try prepare()
      if body.file == nil { try begin(body) }
      guard let file = body.file, shared.withLock({ $0.epoch == body.epoch }) else { return drop(body) }
      let limit = currentLimit()
      try makeRoom(for: piece.count + RecordHeader.size * 2, limit: limit)
      guard shared.withLock({ $0.bytes + piece.count <= limit + limit / 20 }) else { return drop(body) }
      try file.write(piece, at: body.count)
      body.count += piece.count
      body.checksum.append(piece)
      body.contentHash.append(piece)
      if body.isPartial { try checkpoint(body) }
      note(body)
    } catch {
      drop(body)
      fail([], error)
    }
  }

  private func begin(_ body: StreamedBody) throws(FileError) {
    let now = clock.now.timeIntervalSinceReferenceDate
    (body.number, body.epoch) = shared.withLock { state in
      let number = state.nextSequence()
      state.streamed[number] = StreamedFile(hash: body.hash, isPartial: body.isPartial, changed: now)
      return (number, state.epoch)
    }
    body.file = try folder.create(name(of: body))
    guard body.isPartial else { return }
    let journal = try folder.create(folder.journalName(body.number))
    let head = PartialJournal.head(body.number, body.hash, key: body.key.bytes, metadata: body.metadata)
    try journal.write(head, at: 0)
    (body.journal, body.journalEnd) = (journal, head.count)
  }

  private func name(of body: StreamedBody) -> String {
    body.isPartial ? folder.partialName(body.number) : folder.temporaryBodyName(body.number)
  }

  private func checkpoint(_ body: StreamedBody) throws(FileError) {
    let now = clock.now.timeIntervalSinceReferenceDate
    let checkpoint = PartialJournal.Checkpoint(count: body.count, checksum: body.checksum.value, changed: now)
    let record = PartialJournal.checkpoint(body.number, body.hash, checkpoint)
    try body.journal?.write(record, at: body.journalEnd)
    body.journalEnd += record.count
  }

  private func note(_ body: StreamedBody) {
    let now = clock.now.timeIntervalSinceReferenceDate
    shared.withLock { state in
      guard state.epoch == body.epoch else { return }
      state.streamed[body.number]?.size = body.count + body.journalEnd
      state.streamed[body.number]?.changed = now
    }
  }

  /// Resumes a partial body.
  func goOn(with body: StreamedBody, after partial: PartialBody) -> Bool {
    (body.number, body.epoch) = (partial.number, partial.epoch)
    (body.count, body.journalEnd) = (partial.count, partial.journalEnd)
    (body.checksum, body.contentHash) = (partial.checksum, partial.contentHash)
    do throws(FileError) {
      let file = try folder.open(folder.partialName(partial.number), isWritable: true)
      let journal = try folder.open(folder.journalName(partial.number), isWritable: true)
      // Bytes after the last checkpoint are not verified.
      try file.truncate(to: body.count)
      try journal.truncate(to: body.journalEnd)
      (body.file, body.journal) = (file, journal)
    } catch {
      drop(body)
      return false
    }
    note(body)
    return true
  }

  // MARK: - The end

  /// Keeps a body as a partial one, for a later writer to resume.
  func keep(_ body: StreamedBody, _ rest: Data) -> Bool {
    let isWorthIt = body.count + rest.count >= DiskOptions.partialMinimum
    if body.isPartial, isWorthIt, !rest.isEmpty { append(rest, to: body) }
    guard body.isPartial, isWorthIt, body.file != nil, !body.hasFailed else {
      drop(body)
      return false
    }
    let isKept = shared.withLock { state in
      guard state.epoch == body.epoch, state.streamed[body.number] != nil else { return false }
      if let older = state.partials[body.hash] { state.doomPartial(older) }
      state.partials[body.hash] = body.number
      return true
    }
    close(body)
    dropPartials(over: options.partialShare)
    return isKept
  }

  /// Drops a body.
  func drop(_ body: StreamedBody) {
    body.fail()
    body.memory = Data()
    close(body)
    guard body.number != 0 else { return }
    shared.withLock { state in
      if state.epoch == body.epoch { state.doomPartial(body.number) }
    }
    removeDoomed()
  }

  private func close(_ body: StreamedBody) {
    (body.file, body.journal) = (nil, nil)
  }

  /// Makes an entry of a body by renaming its file, or returns a small body to be stored.
  func seal(_ body: StreamedBody, _ head: CachedData, hasOwnID: Bool) -> StreamedBody.End {
    let rest = head.data
    if !rest.isEmpty { append(rest, to: body) }
    defer { close(body) }
    guard !body.hasFailed else { return .refused }
    guard let file = body.file else { return .small(body.memory) }
    if body.count <= options.spillThreshold {
      let bytes = try? file.bytes(body.count, at: 0)
      let data = bytes.map { Data($0) } ?? Data()
      var checksum = CRC32C()
      checksum.append(data)
      let isWhole = data.count == body.count && checksum.value == body.checksum.value
      drop(body)
      return isWhole ? .small(data) : .refused
    }
    var entry = head
    entry.data = Data()
    if hasOwnID { entry.contentID = body.contentHash.value }
    do throws(FileError) {
      guard try adopt(body, file, entry) else {
        drop(body)
        return .refused
      }
      return .sealed(entry.contentID)
    } catch {
      drop(body)
      fail([], error)
      return .refused
    }
  }

  private func adopt(_ body: StreamedBody, _ file: any DiskFile, _ entry: CachedData) throws(FileError) -> Bool {
    try prepare()
    guard entry.metadata.count + body.key.bytes.count <= options.segmentSize / 2 else { return false }
    try makeRoom(for: 1024 + entry.metadata.count + body.key.bytes.count, limit: currentLimit())
    try file.sync()
    guard let (sequence, older) = takeTurn(body) else { return false }
    let lane = Int(entry.kind.rawValue)
    try folder.rename(name(of: body), to: folder.bodyName(sequence))
    shared.withLock { state in
      guard state.epoch == body.epoch else { return }
      // From here on it is an ordinary body, which becomes an entry by its record.
      state.streamed[body.number] = nil
      state.bodies[sequence] = SpilledBody(lane: lane, size: body.count)
    }
    do throws(FileError) {
      nameChanges.all += 1
      try syncNames()
      if body.isPartial { try folder.remove(folder.journalName(body.number)) }
      oweMove(body.hash, from: older, to: entry.kind, sequence: sequence)
      let attributes = RecordAttributes(
        entry,
        sequence: sequence,
        lastUse: shared.withLock { $0.tick &+ 1 },
        hits: (older?.hits ?? 0) &+ 1,
        bodyChecksum: body.checksum.value,
      )
      let record = try append(body.key, entry, attributes, hash: body.hash, spilledLength: body.count)
      try flushLanes()
      nameChanges.all += 1
      syncIfDue()
      return finish(record, of: body, sequence)
    } catch {
      shared.withLock { $0.doomed.bodies.append(sequence) }
      throw error
    }
  }

  private func finish(_ record: DiskEntry, of body: StreamedBody, _ sequence: UInt64) -> Bool {
    shared.withLock { state in
      guard state.epoch == body.epoch else {
        state.doomed.bodies.append(sequence)
        return false
      }
      state.tick &+= 1
      state.insert(record, for: body.hash)
      return true
    }
  }

  /// Takes a sequence behind all staged operations of the key, or returns `nil` if everything was removed.
  private func takeTurn(_ body: StreamedBody) -> (sequence: UInt64, older: DiskEntry?)? {
    // A caller that stores to one key endlessly must not block the writer.
    for _ in 0..<100 {
      drain()
      let turn = shared.withLock { state -> (sequence: UInt64, older: DiskEntry?)? in
        guard state.staged[body.hash] == nil else { return nil }
        // The removal from another lane takes the sequence before.
        state.sequence += 1
        return (state.nextSequence(), state.index[body.hash])
      }
      guard shared.withLock({ $0.epoch == body.epoch && $0.phase == .open }) else { return nil }
      if let turn { return turn }
    }
    return nil
  }

  // MARK: - All of them

  /// Drops idle partial bodies that are over a day old or exceed `limit` bytes together, the oldest first.
  func dropPartials(over limit: Int) {
    let oldest = clock.now.timeIntervalSinceReferenceDate - DiskOptions.partialLifetime
    shared.withLock { state in
      let idle = state.partials.values.compactMap { number in state.streamed[number].map { (number, $0) } }
        .sorted { ($0.1.changed, $0.0) < ($1.1.changed, $1.0) }
      var size = idle.reduce(0) { $0 + $1.1.size }
      for (number, file) in idle where file.changed <= oldest || size > limit {
        size -= file.size
        state.doomPartial(number)
      }
    }
    removeDoomed()
  }

  /// Reads the partial bodies of an earlier process, and removes incomplete ones.
  func openPartials(_ names: [String], _ state: inout DiskState) {
    var bodies: Set<UInt64> = []
    var journals: Set<UInt64> = []
    for name in names {
      if let number = DiskFolder.number(in: name, DiskFolder.partialSuffix) { bodies.insert(number) }
      if let number = DiskFolder.number(in: name, DiskFolder.journalSuffix) { journals.insert(number) }
    }
    for number in bodies.union(journals).sorted() {
      state.sequence = max(state.sequence, number)
      if bodies.contains(number), let journal = PartialJournal.read(number, in: folder),
        let last = journal.checkpoints.last,
        CacheKey(bytes: journal.key).hash(under: state.secret) == journal.hash
      {
        // If a key has two partial bodies, the later one counts.
        if let older = state.partials[journal.hash] { state.doomPartial(older) }
        state.partials[journal.hash] = number
        state.streamed[number] = StreamedFile(
          hash: journal.hash,
          size: size(of: folder.partialName(number)) + size(of: folder.journalName(number)),
          isPartial: true,
          changed: last.changed,
        )
      } else {
        state.doomed.partials.append(number)
      }
    }
    if state.isReader { state.doomed.partials.removeAll() }
  }

  private func size(of name: String) -> Int {
    (try? folder.open(name).size()) ?? 0
  }
}
