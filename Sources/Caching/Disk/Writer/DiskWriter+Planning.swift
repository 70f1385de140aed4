import VitrineRuntime

/// Chooses the entries to evict.
///
/// It works on copies of the parts of the index, without the lock. The writer alone adds and moves entries, so a
/// planned entry is still there unless it was used, dropped or removed meanwhile. The code that executes the plan
/// checks that again.
extension DiskWriter {
  enum CompactionStep {
    /// Remove a segment without live records.
    case delete(Segment)
    /// Evict entries whose bodies are files of their own.
    case evict([(KeyHash, DiskEntry)])
    /// Compact a segment, and keep some entries in their order.
    case compact(Segment, keeping: [(KeyHash, DiskEntry)], evicting: [(KeyHash, DiskEntry)], isOldest: Bool)
  }

  /// An entry with its eviction score.
  private typealias Scored = (hash: KeyHash, entry: DiskEntry, score: Float)

  /// Calls `body` with each entry, as it was when its part of the index was copied.
  func eachEntry(_ body: (KeyHash, DiskEntry) -> Void) {
    for number in 0..<DiskIndex.partCount {
      let part = shared.withLock { $0.index.part(number) }
      for (hash, entry) in part { body(hash, entry) }
    }
  }

  private func eachEntry(ofLane lane: Int, at now: UInt32, _ body: (Scored) -> Void) {
    let score = options.score
    eachEntry { hash, entry in
      guard Int(entry.lane) == lane else { return }
      // An entry used since then has age 0. The counter of uses wraps around.
      let age = entry.lastUse &- now < 1 << 24 ? 0 : now &- entry.lastUse
      body((hash, entry, score.score(age: age, size: entry.size, hits: entry.hits)))
    }
  }

  /// Returns the next step to free `excess` bytes, or `nil` if nothing is left to remove.
  ///
  /// Complexity: O(n). The lock is held only to copy one of 1024 parts of the index at a time.
  func plan(excess: Int, stalls: Int) -> CompactionStep? {
    let (segments, sizes, now) = shared.withLock { state in
      (state.segments, [state.bytes(ofLane: 0), state.bytes(ofLane: 1)], state.tick)
    }
    let active = lanes.compactMap(\.segment)
    let oldest = (0..<2).map { lane in segments.values.lazy.filter { $0.lane == lane }.map(\.id).min() }
    // In the oldest segment of a lane, removals have no older records to suppress.
    if let empty = segments.values.first(where: { $0.live <= 0 && !active.contains($0.id) && $0.id == oldest[$0.lane] })
    {
      return .delete(empty)
    }
    // The lane furthest above its share gives way. Either may use free space of the other.
    let lane = sizes[0] * options.laneShares[1] >= sizes[1] * options.laneShares[0] ? 0 : 1
    guard sizes[lane] > 0 else { return nil }
    var histogram = ScoreHistogram()
    eachEntry(ofLane: lane, at: now) { histogram.add($0.score, size: $0.entry.size) }
    var share = stalls > 2 ? 0 : [5, 5, 2][stalls]
    while true {
      let bucket = share == 0 ? 0 : histogram.bucket(freeing: max(excess, sizes[lane] / share))
      var gains: [UInt32: Int] = [:]
      for segment in segments.values where segment.lane == lane { gains[segment.id] = segment.size - segment.live }
      var spilled: [Scored] = []
      eachEntry(ofLane: lane, at: now) { item in
        guard ScoreHistogram.bucket(of: item.score) >= bucket else { return }
        gains[item.entry.record.segment, default: 0] += Int(item.entry.record.length)
        if item.entry.isSpilled { spilled.append(item) }
      }
      if !spilled.isEmpty { return .evict(worst(spilled, atLeast: excess)) }
      if stalls > 0 { gains = gains.filter { $0.key == oldest[lane] } }
      let victim = gains.max { ($0.value, $1.key) < ($1.value, $0.key) }
      if let victim, let segment = segments[victim.key],
        share == 0 || stalls > 0 || victim.value >= max(1, segment.size / 8)
      {
        return split(segment, at: bucket, now, isOldest: segment.id == oldest[lane])
      }
      if share == 0 { return nil }
      share /= 2
    }
  }

  private func worst(_ entries: [Scored], atLeast excess: Int) -> [(KeyHash, DiskEntry)] {
    var freed = 0
    var worst: [(KeyHash, DiskEntry)] = []
    for item in entries.sorted(by: { ($0.score, $1.entry.sequence) > ($1.score, $0.entry.sequence) }) {
      guard freed < excess else { break }
      freed += Int(item.entry.bodyLength)
      worst.append((item.hash, item.entry))
    }
    return worst
  }

  private func split(_ segment: Segment, at bucket: Int, _ now: UInt32, isOldest: Bool) -> CompactionStep {
    var inside: [Scored] = []
    eachEntry(ofLane: segment.lane, at: now) { if $0.entry.record.segment == segment.id { inside.append($0) } }
    inside.sort { $0.entry.record.offset < $1.entry.record.offset }
    return .compact(
      segment,
      keeping: inside.filter { ScoreHistogram.bucket(of: $0.score) < bucket }.map { ($0.hash, $0.entry) },
      evicting: inside.filter { ScoreHistogram.bucket(of: $0.score) >= bucket }.map { ($0.hash, $0.entry) },
      isOldest: isOldest,
    )
  }
}
