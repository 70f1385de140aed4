import VitrineRuntime

/// Keeps the folder within its limit: evicts by score, and compacts the segment with the highest gain.
extension DiskWriter {
  /// Makes room for `needed` more bytes within the limit.
  ///
  /// Dead bytes count, so a full cache must copy the live entries out of a segment before it can remove it. Eviction is
  /// restricted to the worst fifth of a lane, by score. The segment with the most bytes of that fifth and dead bytes is
  /// emptied, and its other entries are copied. So the better four fifths are never evicted. A byte gained costs few
  /// bytes copied, since old entries lie together.
  func makeRoom(for needed: Int, limit: Int) throws(FileError) {
    var stalls = 0
    var before = Int.max
    if shared.withLock({ $0.bytes + needed > limit && !$0.partials.isEmpty }) {
      dropPartials(over: min(options.partialShare, limit / 8))
    }
    // Replaced bodies wait for a sync before they are removed. An eviction must not uncover the replaced entry in
    // another lane.
    if shared.withLock({ $0.bytes + needed > limit && !$0.replacedBodies.isEmpty }) { try sync() }
    if !owedMoves.isEmpty, shared.withLock({ $0.bytes + needed > limit }) { try sync() }
    while true {
      let bytes = shared.withLock { $0.bytes }
      // Compacting a segment full of removals gains nothing. The oldest segment drops its removals, and after three
      // stalls everything.
      stalls = bytes < before ? 0 : stalls + 1
      let excess = bytes + needed - limit
      let step = excess > 0 ? plan(excess: excess, stalls: stalls) : nil
      before = bytes
      switch step {
      case nil:
        // With no entry left to evict, partial bodies go too.
        if bytes + needed > limit { dropPartials(over: 0) }
        return
      case .delete(let segment):
        // The entries that replaced the segment's must reach the device first.
        try sync()
        forget(segment)
      case .evict(let entries): try evict(entries)
      case .compact(let segment, let kept, let evicted, let isOldest):
        try compact(segment, keeping: kept, evicting: evicted, isOldest: isOldest)
      }
      removeDoomed()
    }
  }

  /// Returns the current limit of the folder, which is lower while the disk is nearly full.
  ///
  /// A tenth of the limit remains in any case, since without a cache every image would be loaded again and again. If
  /// the disk lacks even that room, writing fails.
  func currentLimit() -> Int {
    guard let space = folder.files.space(at: folder.path) else { return options.sizeLimit }
    let own = shared.withLock { $0.bytes }
    let possible = own.addingReportingOverflow(space.free - space.reserve).partialValue
    return min(options.sizeLimit, max(options.sizeLimit / 10, possible))
  }

  // MARK: - Steps

  private func evict(_ entries: [(KeyHash, DiskEntry)]) throws(FileError) {
    for (hash, entry) in entries {
      // Without the removal, the record would refer to a missing file, which is a miss but costs a read.
      try appendRemoval(of: hash, sequence: entry.removalSequence, lane: Int(entry.lane))
    }
    try flushLanes()
    drop(entries, \.evictions)
  }

  /// The number of entries handled at a time with the lock held.
  static let stepCount = 256

  /// Calls `body` for each item with the lock held, and releases it now and then.
  ///
  /// Ends if everything is removed meanwhile.
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

  /// Drops entries that have not been replaced, and counts them.
  private func drop(_ entries: [(KeyHash, DiskEntry)], _ counter: WritableKeyPath<DiskState, Int>) {
    inSteps(entries) { item, state in
      guard state.index[item.0]?.sequence == item.1.sequence else { return }
      state.drop(item.0)
      state[keyPath: counter] += 1
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
      guard let place = shared.withLock({ $0.place(of: hash) }), place.entry.sequence == entry.sequence,
        place.segment.id == victim.id
      else { continue }
      guard let copy = try copy(place) else {
        lost.append((hash, place.entry))
        continue
      }
      moved.append((hash, place.entry, copy))
    }
    let renewed = try moveRenewals(outOf: victim, except: Set(kept.map(\.0)).union(evicted.map(\.0)))
    if !isOldest {
      try copyRemovals(of: victim)
      for (hash, entry) in evicted + lost where entry.hasOlder {
        try appendRemoval(of: hash, sequence: entry.removalSequence, lane: victim.lane)
      }
    }
    try flushLanes()
    // The copies must reach the device before the originals are removed.
    try sync()
    inSteps(moved) { item, state in
      let (hash, from, copy) = item
      guard let now = state.index[hash], now.sequence == from.sequence, now.revision == from.revision else { return }
      var entry = copy
      (entry.lastUse, entry.hits) = (now.lastUse, now.hits)
      state.insert(entry, for: hash)
      state.index[hash]?.hasOlder = from.hasOlder
    }
    inSteps(renewed) { item, state in state.renew(item.hash, item.renewal) }
    drop(evicted, \.evictions)
    drop(lost, \.damaged)
    forget(victim)
  }

  /// Copies a record, and merges its renewal and uses.
  ///
  /// A body in its own file stays there and is not read.
  private func copy(_ place: DiskFolder.Place) throws(FileError) -> DiskEntry? {
    let entry = place.entry
    guard var record = folder.renewedRecord(at: place), var attributes = record.attributes else { return nil }
    (attributes.expires, attributes.revision) = (entry.expires, entry.revision)
    (attributes.lastUse, attributes.hits) = (entry.lastUse, entry.hits)
    record.attributes = attributes
    return try append(record.measured(spilledLength: entry.isSpilled ? Int(entry.bodyLength) : nil), attributes)
  }

  /// Copies the renewals in a segment whose entries lie elsewhere.
  private func moveRenewals(
    outOf victim: Segment,
    except: Set<KeyHash>,
  ) throws(FileError) -> [(hash: KeyHash, renewal: DiskRenewal)] {
    var renewals: [(KeyHash, DiskEntry)] = []
    eachEntry { hash, entry in
      guard entry.isRenewed, entry.renewal.segment == victim.id, !except.contains(hash) else { return }
      renewals.append((hash, entry))
    }
    var moved: [(hash: KeyHash, renewal: DiskRenewal)] = []
    for (hash, entry) in renewals {
      // A damaged renewal invalidates its entry at the next look-up.
      guard let record = folder.record(victim.file, at: entry.renewal), record.header.hash == hash else { continue }
      let renewal = DiskRenewal(target: entry.sequence, expires: entry.expires, revision: entry.revision)
      moved.append((hash, try append(renewal, of: hash, metadata: record.metadata, lane: victim.lane)))
    }
    return moved
  }

  /// Copies the removals in a segment, since other segments may have older records of their keys.
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
    // The index file may still refer to it, which is a miss. Copies are found by scanning.
    try? folder.remove(folder.segmentName(segment.id, lane: segment.lane))
    isIndexOutdated = true
  }
}
