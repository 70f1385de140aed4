import VitrineRuntime

/// Reads the folder of an earlier process.
extension DiskWriter {
  /// Reads the index and the records after it, and removes obsolete files.
  ///
  /// If another cache writes to the folder, this one changes nothing in it.
  func open() {
    let isReader = shared.withLock { $0.isReader }
    do throws(FileError) {
      try readFolder(isReader: isReader)
    } catch {
      let (secret, retryUptime) = (SipHash.Secret.random(), clock.uptime + Self.retryInterval)
      let isUnreadable = isUnreadable
      shared.withLock { state in
        state.phase = .open
        state.secret = secret
        state.retryUptime = retryUptime
        // Writing would replace entries that a later start may be able to read.
        if isUnreadable { state.isReader = true }
      }
      owesFormat = !isUnreadable
      report(isUnreadable ? FileError("cannot be read, and stays as it is: \(error)") : error)
      return
    }
    shared.withLock { $0.phase = .open }
    guard !isReader else { return }
    dropPartials(over: options.partialShare)
    do throws(FileError) {
      // If the earlier process was killed, some of its data may only be in the system's memory.
      if !unsynced.isEmpty { try sync() }
      try makeRoom(for: 0, limit: currentLimit())
      if isIndexOutdated {
        try sync()
        try writeIndex()
      }
    } catch {
      report(error)
    }
  }

  private func readFolder(isReader: Bool) throws(FileError) {
    let secret: SipHash.Secret
    isUnreadable = true
    let format = try folder.readFormat()
    isUnreadable = false
    switch format {
    case .known(let known):
      secret = known
    case .missing where isReader, .damaged where isReader, .unknown where isReader:
      return shared.withLock { $0.secret = .random() }
    case .missing, .damaged:
      // Without the secret, no key leads to any record.
      try removeOwnFiles()
      secret = .random()
      try folder.writeFormat(secret)
    case .unknown(let version):
      try setAside(version)
      secret = .random()
      try folder.writeFormat(secret)
    }
    var state = shared.withLock { $0 }
    state.secret = secret
    isUnreadable = true
    let bodies = try readSegments(&state)
    isUnreadable = false
    checkBodies(bodies, &state)
    let opened = state
    shared.withLock { $0 = opened }
    if !isReader { adoptActives(opened) }
  }

  private func removeOwnFiles() throws(FileError) {
    for name in try folder.files.names(in: folder.path) where isOwn(name) { try folder.remove(name) }
  }

  private func isOwn(_ name: String) -> Bool {
    name == "index" || name.hasSuffix(".tmp") || DiskFolder.segment(named: name) != nil
      || [DiskFolder.bodySuffix, DiskFolder.partialSuffix, DiskFolder.journalSuffix]
        .contains { DiskFolder.number(in: name, $0) != nil }
  }

  /// Moves the files of another format version into a folder of their own, and replaces earlier ones there.
  private func setAside(_ version: UInt32) throws(FileError) {
    let aside = folder.path("format-\(version)")
    try folder.files.makeFolder(aside)
    for name in try folder.files.names(in: folder.path) where name == "format" || isOwn(name) {
      try folder.files.rename(folder.path(name), to: "\(aside)/\(name)")
    }
    report(FileError("format \(version) is unknown; its files were moved to format-\(version)"))
  }

  /// Returns the sequences of the bodies.
  private func readSegments(_ state: inout DiskState) throws(FileError) -> Set<UInt64> {
    var bodies: Set<UInt64> = []
    let names = try folder.files.names(in: folder.path)
    openPartials(names, &state)
    for name in names {
      if let body = DiskFolder.number(in: name, DiskFolder.bodySuffix) { bodies.insert(body) }
      if name.hasSuffix(".tmp"), !state.isReader { try? folder.remove(name) }
      guard let (id, lane) = DiskFolder.segment(named: name) else { continue }
      guard let file = try folder.existing(name, isWritable: !state.isReader) else {
        // The name belongs to a FIFO or a device instead of a segment.
        if !state.isReader { try? folder.remove(name) }
        continue
      }
      state.segments[id] = Segment(id: id, lane: lane, file: file, size: try file.size())
      state.nextSegment = max(state.nextSegment, id + 1)
    }
    var covered: [UInt32: Int] = [:]
    if let file = try? folder.open("index"), let bytes = try? file.bytes(file.size(), at: 0) {
      covered = IndexFile.decode(bytes, into: &state) ?? [:]
      state.indexFileSize = bytes.count
    }
    var found = Found()
    for segment in state.segments.values.sorted(by: { $0.id < $1.id }) {
      let start = covered[segment.id] ?? 0
      guard start <= segment.size else {
        // The segment is shorter than in the index. The place of the lost data must not be written again.
        damagedSegments.insert(segment.id)
        isIndexOutdated = true
        continue
      }
      replay(segment, from: start, &found, &state)
    }
    for (hash, renewal) in found.renewals { state.renew(hash, renewal) }
    for uses in found.uses { count(uses, &state) }
    return bodies
  }

  /// The records that were found before their entries, since the lanes are written in parallel.
  private struct Found {
    var removals: [KeyHash: UInt64] = [:]
    var renewals: [KeyHash: DiskRenewal] = [:]
    var uses: [Data] = []
  }

  private func replay(_ segment: Segment, from start: Int, _ found: inout Found, _ state: inout DiskState) {
    var scan = SegmentScan(segment.file, size: segment.size, from: start)
    defer {
      if !state.isReader, segment.size > start {
        unsynced[segment.id] = (segment.file, 0)
        nameChanges.all += 1
      }
    }
    while let (header, offset) = scan.next() {
      state.sequence = max(state.sequence, header.sequence)
      guard let place = RecordPlace(segment.id, offset, header.length) else { continue }
      switch header.kind {
      case .entry, .spilled:
        guard header.lane == segment.lane, let attributes = scan.attributes(at: offset),
          header.sequence > found.removals[header.hash] ?? 0
        else { continue }
        insert(DiskEntry(header, attributes, at: place), header.hash, segment, &state)
      case .removal:
        found.removals[header.hash] = max(header.sequence, found.removals[header.hash] ?? 0)
        if let older = state.index[header.hash], older.sequence < header.sequence { state.drop(header.hash) }
      case .renewal:
        guard let record = folder.record(segment.file, at: place) else { continue }
        var payload = HeadReader(Array(record.payload))
        guard let target = payload.uint64(), let expires = payload.seconds(),
          header.sequence > found.renewals[header.hash]?.revision ?? 0
        else { continue }
        let revision = header.sequence
        found.renewals[header.hash] = DiskRenewal(target: target, expires: expires, revision: revision, place: place)
      case .uses:
        if let record = folder.record(segment.file, at: place) { count(record.payload, &state) }
      case .partial:
        continue
      }
    }
    guard scan.offset < segment.size else { return }
    // The tail is torn, or the middle is damaged. The rest of the segment cannot be trusted.
    let isLast = !state.segments.values.contains { $0.lane == segment.lane && $0.id > segment.id }
    if isLast, !state.isReader, (try? segment.file.truncate(to: scan.offset)) != nil {
      state.segments[segment.id]?.size = scan.offset
    } else {
      damagedSegments.insert(segment.id)
    }
  }

  private func insert(_ entry: DiskEntry, _ hash: KeyHash, _ segment: Segment, _ state: inout DiskState) {
    if let known = state.index[hash] {
      if known.lane != entry.lane {
        let (newer, older) = known.sequence > entry.sequence ? (known, entry) : (entry, known)
        owedMoves.append((hash, newer.sequence - 1, Int(older.lane)))
      }
      // After a power failure, a record may have its header and lack the rest.
      if known.sequence > entry.sequence || known.revision > entry.revision {
        state.index[hash]?.hasOlder = true
        let file = state.segments[known.record.segment]?.file
        if file.flatMap({ folder.record($0, at: known.record) }) != nil { return }
        state.drop(hash)
      } else if folder.record(segment.file, at: entry.record) == nil {
        return
      }
    }
    state.tick = max(state.tick, entry.lastUse)
    state.insert(entry, for: hash)
  }

  private func count(_ payload: Data, _ state: inout DiskState) {
    var reader = HeadReader(Array(payload))
    while let low = reader.uint64(), let high = reader.uint64(), let lastUse = reader.uint32(),
      let hits = reader.uint32()
    {
      let hash = KeyHash(low: low, high: high)
      guard let entry = state.index[hash], entry.hits <= hits else { continue }
      state.index[hash]?.lastUse = lastUse
      state.index[hash]?.hits = hits
      state.tick = max(state.tick, lastUse)
    }
  }

  private func checkBodies(_ bodies: Set<UInt64>, _ state: inout DiskState) {
    var needed: Set<UInt64> = []
    for part in state.index.allParts {
      for (hash, entry) in part where entry.isSpilled {
        if bodies.contains(entry.sequence) { needed.insert(entry.sequence) } else { state.drop(hash) }
      }
    }
    state.doomed.bodies.removeAll()
    let replaced = Set(state.replacedBodies).intersection(bodies).subtracting(needed)
    state.replacedBodies = Array(replaced)
    state.bodies.filter { needed.contains($0) || replaced.contains($0) }
    guard !state.isReader else { return }
    for body in bodies.subtracting(needed).subtracting(replaced) {
      try? folder.remove(folder.bodyName(body))
    }
  }

  private func adoptActives(_ state: DiskState) {
    for lane in lanes.indices {
      let newest = state.segments.values.filter { $0.lane == lane }.max { $0.id < $1.id }
      guard let newest, newest.size < options.segmentSize, !damagedSegments.contains(newest.id) else { continue }
      lanes[lane] = Lane(segment: newest.id, file: newest.file, tail: newest.size)
    }
    damagedSegments.removeAll()
  }
}
