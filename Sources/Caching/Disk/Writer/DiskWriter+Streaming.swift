import VitrineRuntime

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

  func name(of body: StreamedBody) -> String {
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
      try prepare()
      let fits = entry.metadata.count + body.key.bytes.count <= options.segmentSize / 2
      guard fits, let operation = takeTurn(body, entry), perform([operation]) else {
        drop(body)
        return .refused
      }
    } catch {
      drop(body)
      fail([], error)
      return .refused
    }
    return .sealed(entry.contentID)
  }

  /// Returns the storing of an entry behind all staged operations of its key, or `nil` if everything was removed.
  ///
  /// It is not staged itself, since readers cannot read its body yet.
  private func takeTurn(_ body: StreamedBody, _ entry: CachedData) -> StagedOperation? {
    // A caller that stores to one key endlessly must not block the writer.
    for _ in 0..<100 {
      drain()
      let turn = shared.withLock { state -> StagedOperation? in
        guard state.staged[body.hash] == nil else { return nil }
        // The removal from another lane takes the sequence before.
        state.sequence += 1
        let sequence = state.nextSequence()
        state.tick &+= 1
        return StagedOperation(hash: body.hash, sequence: sequence, operation: .put(body.key, entry), body: body)
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
