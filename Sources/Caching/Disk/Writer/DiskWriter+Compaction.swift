import VitrineRuntime

/// Keeps the folder within its limit: evicts by score, and copies forward what is worth keeping of the worst segment.
extension DiskWriter {
  private enum Step {
    /// A segment in which nothing lives.
    case delete(Segment)
    /// Entries whose bodies are files of their own.
    case evict([(KeyHash, DiskEntry)])
    /// A segment of which some is kept, in its order.
    case compact(Segment, keeping: [(KeyHash, DiskEntry)], evicting: [(KeyHash, DiskEntry)], isOldest: Bool)
  }

  /// Makes room, so that `needed` bytes more are within the limit.
  ///
  /// Dead bytes count, so a full cache must copy what lives out of a segment before that goes. The fifth of a lane that
  /// is least worth keeping is what may go: the segment with most of that, and of what is dead, is emptied, and whatever
  /// else is in it is copied. So the better four fifths are never evicted, and a byte gained costs few bytes copied,
  /// since what is old lies together.
  func makeRoom(for needed: Int, limit: Int) throws(FileError) {
    var stalls = 0
    var before = Int.max
    if shared.withLock({ $0.bytes + needed > limit && !$0.partials.isEmpty }) {
      dropPartials(over: min(options.partialShare, limit / 8))
    }
    // Bodies wait there for a sync to be removed; and what leaves now must not uncover what it replaced in another lane.
    if shared.withLock({ $0.bytes + needed > limit && !$0.replacedBodies.isEmpty }) { try sync() }
    if !owedMoves.isEmpty, shared.withLock({ $0.bytes + needed > limit }) { try sync() }
    while true {
      let (step, bytes) = shared.withLock { state -> (Step?, Int) in
        let bytes = state.bytes
        // A segment full of removals only moves on; the oldest gives its own up, and at last everything.
        stalls = bytes < before ? 0 : stalls + 1
        let excess = bytes + needed - limit
        return (excess > 0 ? plan(state, excess: excess, stalls: stalls) : nil, bytes)
      }
      before = bytes
      switch step {
      case nil:
        // With no entry left to evict, what might have become one goes too.
        if bytes + needed > limit { dropPartials(over: 0) }
        return
      case .delete(let segment):
        // What took the place of its entries must be there first.
        try sync()
        forget(segment)
      case .evict(let entries): try evict(entries)
      case .compact(let segment, let kept, let evicted, let isOldest):
        try compact(segment, keeping: kept, evicting: evicted, isOldest: isOldest)
      }
      removeDoomed()
    }
  }

  // MARK: - Planning, with the lock held

  private func plan(_ state: DiskState, excess: Int, stalls: Int) -> Step? {
    let active = lanes.compactMap(\.segment)
    if let empty = state.segments.values.first(where: {
      $0.live <= 0 && !active.contains($0.id) && isOldest($0, state)
    }) {
      return .delete(empty)
    }
    // The lane that is furthest over its share gives; either may use what the other leaves.
    let sizes = [state.bytes(ofLane: 0), state.bytes(ofLane: 1)]
    let lane = sizes[0] * options.laneShares[1] >= sizes[1] * options.laneShares[0] ? 0 : 1
    guard sizes[lane] > 0 else { return nil }
    var entries: [(hash: KeyHash, entry: DiskEntry, score: Float)] = []
    var histogram = ScoreHistogram()
    let score = options.scores[lane]
    for (hash, entry) in state.index where Int(entry.lane) == lane {
      let value = score.score(age: state.tick &- entry.lastUse, size: entry.size, hits: entry.hits)
      entries.append((hash, entry, value))
      histogram.add(value, size: entry.size)
    }
    var share = [5, 5, 2][min(stalls, 2)]
    if stalls > 2 { share = 0 }
    let oldest = state.segments.values.filter { $0.lane == lane }.map(\.id).min()
    while true {
      let bucket = share == 0 ? 0 : histogram.bucket(freeing: max(excess, sizes[lane] / share))
      var gains: [UInt32: Int] = [:]
      for segment in state.segments.values where segment.lane == lane {
        gains[segment.id] = segment.size - segment.live
      }
      var spilled: [(hash: KeyHash, entry: DiskEntry, score: Float)] = []
      for item in entries where ScoreHistogram.bucket(of: item.score) >= bucket {
        gains[item.entry.segment, default: 0] += Int(item.entry.length)
        if item.entry.isSpilled { spilled.append(item) }
      }
      if !spilled.isEmpty { return .evict(worst(spilled, atLeast: excess)) }
      if stalls > 0 { gains = gains.filter { $0.key == oldest } }
      let victim = gains.max { ($0.value, $1.key) < ($1.value, $0.key) }
      if let victim, let segment = state.segments[victim.key],
        share == 0 || stalls > 0 || victim.value >= max(1, segment.size / 8)
      {
        return split(segment, entries, bucket, state)
      }
      if share == 0 { return nil }
      share /= 2
    }
  }

  private func worst(
    _ entries: [(hash: KeyHash, entry: DiskEntry, score: Float)],
    atLeast excess: Int,
  ) -> [(KeyHash, DiskEntry)] {
    var freed = 0
    var worst: [(KeyHash, DiskEntry)] = []
    for item in entries.sorted(by: { ($0.score, $1.entry.sequence) > ($1.score, $0.entry.sequence) }) {
      guard freed < excess else { break }
      freed += Int(item.entry.bodyLength)
      worst.append((item.hash, item.entry))
    }
    return worst
  }

  private func split(
    _ segment: Segment,
    _ entries: [(hash: KeyHash, entry: DiskEntry, score: Float)],
    _ bucket: Int,
    _ state: DiskState,
  ) -> Step {
    let inside = entries.filter { $0.entry.segment == segment.id }.sorted { $0.entry.offset < $1.entry.offset }
    return .compact(
      segment,
      keeping: inside.filter { ScoreHistogram.bucket(of: $0.score) < bucket }.map { ($0.hash, $0.entry) },
      evicting: inside.filter { ScoreHistogram.bucket(of: $0.score) >= bucket }.map { ($0.hash, $0.entry) },
      isOldest: isOldest(segment, state),
    )
  }

  /// Whether nothing in its lane is older, so that its removals have nothing left to keep down.
  private func isOldest(_ segment: Segment, _ state: DiskState) -> Bool {
    !state.segments.values.contains { $0.lane == segment.lane && $0.id < segment.id }
  }

  // MARK: - Doing

  private func evict(_ entries: [(KeyHash, DiskEntry)]) throws(FileError) {
    for (hash, entry) in entries {
      // Its record would lead to a file that is gone, which is a miss; the removal spares the look.
      try appendRemoval(of: hash, sequence: entry.removalSequence, lane: Int(entry.lane))
    }
    try flushLanes()
    shared.withLock { state in
      for (hash, entry) in entries where state.index[hash]?.sequence == entry.sequence {
        state.drop(hash)
        state.evictions += 1
      }
    }
  }

  private func compact(
    _ victim: Segment,
    keeping kept: [(KeyHash, DiskEntry)],
    evicting evicted: [(KeyHash, DiskEntry)],
    isOldest: Bool,
  ) throws(FileError) {
    seal(victim.id)
    var moved: [(hash: KeyHash, from: DiskEntry, to: DiskEntry)] = []
    var lost: [(KeyHash, DiskEntry)] = []
    for (hash, entry) in kept {
      let current = shared.withLock { state in
        (state.index[hash], state.segments[entry.renewalSegment])
      }
      guard let now = current.0, now.sequence == entry.sequence, now.segment == victim.id else { continue }
      guard let copy = try copy(now, hash, from: victim, renewalIn: current.1) else {
        lost.append((hash, now))
        continue
      }
      moved.append((hash, now, copy))
    }
    let renewed = try moveRenewals(outOf: victim, except: Set(kept.map(\.0)).union(evicted.map(\.0)))
    if !isOldest {
      try copyRemovals(of: victim)
      for (hash, entry) in evicted + lost where entry.hasOlder {
        try appendRemoval(of: hash, sequence: entry.removalSequence, lane: victim.lane)
      }
    }
    try flushLanes()
    // What was copied must be there before the originals go.
    try sync()
    shared.withLock { state in
      guard state.epoch == epoch else { return }
      for (hash, from, copy) in moved {
        guard let now = state.index[hash], now.sequence == from.sequence, now.revision == from.revision else {
          continue
        }
        var entry = copy
        (entry.lastUse, entry.hits) = (now.lastUse, now.hits)
        state.insert(entry, for: hash)
        state.index[hash]?.hasOlder = from.hasOlder
      }
      for (hash, target, expires, revision, place) in renewed {
        state.renew(hash, target: target, expires: expires, revision: revision, at: place)
      }
      for (hash, entry) in evicted where state.index[hash]?.sequence == entry.sequence {
        state.drop(hash)
        state.evictions += 1
      }
      for (hash, entry) in lost where state.index[hash]?.sequence == entry.sequence {
        state.drop(hash)
        state.damaged += 1
      }
    }
    forget(victim)
  }

  /// Copies a record with what was renewed and counted since.
  private func copy(
    _ entry: DiskEntry,
    _ hash: KeyHash,
    from victim: Segment,
    renewalIn renewal: Segment?,
  ) throws(FileError) -> DiskEntry? {
    var inLog = entry
    // The body stays where it is, and is not read for this.
    inLog.isSpilled = false
    if entry.isSpilled { return try copySpilled(entry, hash, from: victim, renewalIn: renewal) }
    guard let (key, data, old) = folder.entry(inLog, hash: hash, in: victim, renewalIn: renewal) else { return nil }
    var attributes = old
    (attributes.expires, attributes.revision) = (entry.expires, entry.revision)
    (attributes.lastUse, attributes.hits) = (entry.lastUse, entry.hits)
    return try append(key: key, data, attributes, hash: hash, sequence: entry.sequence, spilledLength: nil)
  }

  private func copySpilled(
    _ entry: DiskEntry,
    _ hash: KeyHash,
    from victim: Segment,
    renewalIn renewal: Segment?,
  ) throws(FileError) -> DiskEntry? {
    guard
      let record = folder.record(victim.file, at: Int(entry.offset), length: Int(entry.length)),
      record.header.hash == hash, record.header.sequence == entry.sequence, var attributes = record.attributes
    else { return nil }
    var metadata = record.metadata
    if entry.renewalLength > 0, let renewal {
      let latest = folder.record(renewal.file, at: Int(entry.renewalOffset), length: Int(entry.renewalLength))
      guard let latest, latest.header.hash == hash else { return nil }
      metadata = latest.metadata
    }
    (attributes.expires, attributes.revision) = (entry.expires, entry.revision)
    (attributes.lastUse, attributes.hits) = (entry.lastUse, entry.hits)
    var header = record.header
    header.metadataLength = metadata.count
    let place = try append(header, attributes, key: record.key, metadata: metadata, payload: Data())
    var copy = entry
    (copy.segment, copy.offset, copy.length) = place
    copy.renewalLength = 0
    return copy
  }

  private typealias MovedRenewal = (
    KeyHash, target: UInt64, expires: Double, revision: UInt64, (segment: UInt32, offset: UInt32, length: UInt32)
  )

  /// Copies the renewals in a segment whose entries are elsewhere.
  private func moveRenewals(outOf victim: Segment, except: Set<KeyHash>) throws(FileError) -> [MovedRenewal] {
    let renewals = shared.withLock { state in
      state.index.filter { $1.renewalLength > 0 && $1.renewalSegment == victim.id && !except.contains($0) }
    }
    var moved: [MovedRenewal] = []
    for (hash, entry) in renewals {
      let record = folder.record(victim.file, at: Int(entry.renewalOffset), length: Int(entry.renewalLength))
      // A damaged one takes its entry along, at the next get.
      guard let record, record.header.hash == hash else { continue }
      let place = try appendRenewal(
        of: hash,
        target: entry.sequence,
        expires: entry.expires,
        metadata: record.metadata,
        revision: entry.revision,
        lane: victim.lane,
      )
      moved.append((hash, entry.sequence, entry.expires, entry.revision, place))
    }
    return moved
  }

  /// Copies the removals in a segment, as older records that they keep down may lie in others.
  private func copyRemovals(of victim: Segment) throws(FileError) {
    var scan = SegmentScan(victim.file, size: victim.size)
    while let (header, _) = scan.next() {
      guard header.kind == .removal, header.lane == victim.lane else { continue }
      try appendRemoval(of: header.hash, sequence: header.sequence, lane: victim.lane)
    }
  }

  private func forget(_ segment: Segment) {
    unsynced[segment.id] = nil
    nameChanges.all += 1
    shared.withLock { state in
      state.segments[segment.id] = nil
    }
    // The index may still lead there; that is a miss, and what was copied is found by scanning.
    try? folder.files.remove(folder.path(folder.segmentName(segment.id, lane: segment.lane)))
    isIndexOutdated = true
  }

  // MARK: - For people

  /// Evicts until the folder takes up no more than this.
  func trim(to limit: Int) {
    drain()
    do throws(FileError) {
      try makeRoom(for: 0, limit: limit)
      try sync()
      try writeIndex()
    } catch {
      // What cannot be written cannot be compacted; the next batch says so.
    }
  }

  /// Reads every entry, and drops those that are damaged; says which and how many there were.
  func verify() -> DiskVerification {
    drain()
    var report = DiskVerification()
    let entries = shared.withLock { $0.index }
    for (hash, entry) in entries {
      let places = shared.withLock { ($0.segments[entry.segment], $0.segments[entry.renewalSegment]) }
      guard let segment = places.0 else { continue }
      report.checked += 1
      if folder.entry(entry, hash: hash, in: segment, renewalIn: places.1) != nil { continue }
      let isCurrent = shared.withLock { state in
        guard let now = state.index[hash], now.sequence == entry.sequence, now.segment == entry.segment else {
          return false
        }
        state.damaged += 1
        state.drop(hash)
        state.owedRemovals[hash] = entry.removalSequence
        return true
      }
      guard isCurrent else { continue }
      // The key may be whole although the rest is not.
      let bytes = try? segment.file.bytes(Int(entry.length), at: Int(entry.offset))
      report.damaged.append(bytes.flatMap { name(in: $0, hash) })
    }
    removeDoomed()
    return report
  }

  private func name(in record: [UInt8], _ hash: KeyHash) -> CacheKey? {
    var reader = ByteReader(record)
    guard
      let header = RecordHeader(reader), reader.skip(RecordHeader.size + RecordAttributes.size),
      let bytes = reader.data(header.keyLength)
    else { return nil }
    let key = CacheKey(bytes: Array(bytes))
    return key.hash(under: shared.withLock { $0.secret }) == hash ? key : nil
  }
}
