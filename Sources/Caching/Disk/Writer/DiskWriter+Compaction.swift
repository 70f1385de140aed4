import VitrineRuntime

/// Keeps the folder within its limit: evicts by score, and copies forward what is worth keeping of the worst segment.
extension DiskWriter {
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
      let bytes = shared.withLock { $0.bytes }
      // A segment full of removals only moves on; the oldest gives its own up, and at last everything.
      stalls = bytes < before ? 0 : stalls + 1
      let excess = bytes + needed - limit
      let step = excess > 0 ? plan(excess: excess, stalls: stalls) : nil
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

  // MARK: - Doing

  private func evict(_ entries: [(KeyHash, DiskEntry)]) throws(FileError) {
    for (hash, entry) in entries {
      // Its record would lead to a file that is gone, which is a miss; the removal spares the look.
      try appendRemoval(of: hash, sequence: entry.removalSequence, lane: Int(entry.lane))
    }
    try flushLanes()
    dropEvicted(entries)
  }

  /// In what steps entries are gone through with the lock held.
  static let stepCount = 256

  /// Calls `body` with the lock held for each item, and opens it in between; ends where everything was removed meanwhile.
  private func inSteps<Item>(_ items: [Item], _ body: (Item, inout DiskState) -> Void) {
    var rest = items[...]
    while !rest.isEmpty {
      let step = rest.prefix(Self.stepCount)
      rest = rest.dropFirst(step.count)
      shared.withLock { state in
        guard state.epoch == epoch else { return }
        for item in step { body(item, &state) }
      }
    }
  }

  private func dropEvicted(_ entries: [(KeyHash, DiskEntry)]) {
    inSteps(entries) { item, state in
      guard state.index[item.0]?.sequence == item.1.sequence else { return }
      state.drop(item.0)
      state.evictions += 1
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
    inSteps(moved) { item, state in
      let (hash, from, copy) = item
      guard let now = state.index[hash], now.sequence == from.sequence, now.revision == from.revision else { return }
      var entry = copy
      (entry.lastUse, entry.hits) = (now.lastUse, now.hits)
      state.insert(entry, for: hash)
      state.index[hash]?.hasOlder = from.hasOlder
    }
    inSteps(renewed) { item, state in
      let (hash, target, expires, revision, place) = item
      state.renew(hash, target: target, expires: expires, revision: revision, at: place)
    }
    dropEvicted(evicted)
    inSteps(lost) { item, state in
      guard state.index[item.0]?.sequence == item.1.sequence else { return }
      state.drop(item.0)
      state.damaged += 1
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
    let place = DiskFolder.Place(entry: inLog, hash: hash, segment: victim, renewalSegment: renewal)
    guard let (key, data, old) = folder.entry(at: place) else { return nil }
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
    var renewals: [(KeyHash, DiskEntry)] = []
    eachEntry { hash, entry in
      guard entry.renewalLength > 0, entry.renewalSegment == victim.id, !except.contains(hash) else { return }
      renewals.append((hash, entry))
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
    shared.withLock { $0.segments[segment.id] = nil }
    // The index may still lead there; that is a miss, and what was copied is found by scanning.
    try? folder.files.remove(folder.path(folder.segmentName(segment.id, lane: segment.lane)))
    isIndexOutdated = true
  }
}
