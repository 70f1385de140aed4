import VitrineRuntime

/// The state that callers, readers and the writer of a ``DiskCache`` share under one lock.
struct DiskState {
  enum Phase {
    case opening, open, closed
  }

  /// Files by number.
  struct Doomed {
    var partials: [UInt64] = []
    var bodies: [UInt64] = []
    var segments: [UInt32] = []
  }

  var phase = Phase.opening
  /// Set if another cache writes to the folder.
  var isReader = false
  var secret = SipHash.Secret(low: 0, high: 0)
  /// Incremented when everything is removed, which invalidates the work of earlier epochs.
  var epoch = 0

  var index = DiskIndex()
  var segments = SizedTable<UInt32, Segment>()
  /// The bodies in files of their own, by the sequence of their entry.
  var bodies = SizedTable<UInt64, SpilledBody>()
  /// The streamed and partial bodies, by number.
  var streamed = SizedTable<UInt64, StreamedFile>()
  /// The partial bodies that may be resumed.
  var partials: [KeyHash: UInt64] = [:]
  /// Obsolete files for the writer to remove.
  var doomed = Doomed()
  /// The bodies of replaced entries, which stay until the new entries have reached the device.
  var replacedBodies: [UInt64] = []
  var nextSegment: UInt32 = 1
  var indexFileSize = 0

  var staged: [KeyHash: StagedView] = [:]
  var queue: [StagedOperation] = []
  var queueStart = 0
  var stagedBytes = 0
  /// Removals that could not be written yet, so the removed entries are still on disk.
  var owedRemovals: [KeyHash: UInt64] = [:]
  var isDraining = false
  /// Set while the disk fails: the uptime before which nothing is written.
  var retryUptime: Duration?

  var sequence: UInt64 = 0
  var tick: UInt32 = 0
  var hits = 0
  var misses = 0
  var evictions = 0
  var damaged = 0
  var laneEntries = PerGroup()

  mutating func nextSequence() -> UInt64 {
    sequence += 1
    return sequence
  }

  // MARK: - Size

  /// Returns the size of a lane's files, in bytes.
  ///
  /// Complexity: O(1), like all sizes here.
  func bytes(ofLane lane: Int) -> Int { segments.bytes[lane] + bodies.bytes[lane] }

  /// The size of streamed and partial bodies, in bytes.
  var streamedBytes: Int { streamed.bytes.sum }

  /// The size of all files in the folder, in bytes.
  var fileBytes: Int { bytes(ofLane: 0) + bytes(ofLane: 1) + streamedBytes + indexFileSize }

  /// The size that counts against the limit, with room to write a second index file.
  var bytes: Int {
    bytes(ofLane: 0) + bytes(ofLane: 1) + streamedBytes + max(indexFileSize, IndexFile.size(entries: index.count)) * 2
      + 4096
  }

  // MARK: - Index

  mutating func insert(_ entry: DiskEntry, for hash: KeyHash) {
    var entry = entry
    if drop(hash, replacedBy: entry.sequence) != nil { entry.hasOlder = true }
    index[hash] = entry
    count(entry.record, by: 1)
    count(entry.renewal, by: 1)
    laneEntries[Int(entry.lane)] += 1
    if entry.isSpilled {
      bodies[entry.sequence] = SpilledBody(lane: Int(entry.lane), size: Int(entry.bodyLength))
    }
  }

  @discardableResult
  mutating func drop(_ hash: KeyHash, replacedBy sequence: UInt64? = nil) -> DiskEntry? {
    guard let entry = index.remove(hash) else { return nil }
    count(entry.record, by: -1)
    count(entry.renewal, by: -1)
    laneEntries[Int(entry.lane)] -= 1
    // The body counts until its file is removed.
    if entry.isSpilled, sequence == nil { doomed.bodies.append(entry.sequence) }
    if entry.isSpilled, let sequence, entry.sequence != sequence { replacedBodies.append(entry.sequence) }
    return entry
  }

  /// Drops a damaged entry and owes its removal, unless it has been moved or replaced; returns whether it did.
  mutating func dropDamaged(_ hash: KeyHash, _ entry: DiskEntry) -> Bool {
    guard let now = index[hash], now.sequence == entry.sequence, now.record == entry.record else { return false }
    damaged += 1
    drop(hash)
    // Without the owed removal an older version might come back after a crash.
    if !isReader { owedRemovals[hash] = now.removalSequence }
    return true
  }

  mutating func doomPartial(_ number: UInt64) {
    doomed.partials.append(number)
    guard let file = streamed[number] else { return }
    streamed[number] = nil
    if partials[file.hash] == number { partials[file.hash] = nil }
  }

  mutating func renew(_ hash: KeyHash, _ renewal: DiskRenewal) {
    guard var entry = index[hash], entry.sequence == renewal.target, entry.revision <= renewal.revision else { return }
    count(entry.renewal, by: -1)
    (entry.expires, entry.revision, entry.renewal) = (renewal.expires, renewal.revision, renewal.place)
    count(entry.renewal, by: 1)
    index[hash] = entry
  }

  /// Counts the bytes of a record as live, or no longer.
  private mutating func count(_ place: RecordPlace, by sign: Int) {
    if place.length > 0 { segments[place.segment]?.live += sign * Int(place.length) }
  }

  /// Returns the place of an entry on disk.
  func place(of hash: KeyHash) -> DiskFolder.Place? {
    guard let entry = index[hash], let segment = segments[entry.record.segment] else { return nil }
    let renewalSegment = entry.isRenewed ? segments[entry.renewal.segment] : nil
    return DiskFolder.Place(entry: entry, hash: hash, segment: segment, renewalSegment: renewalSegment)
  }

  mutating func touch(_ hash: KeyHash) {
    tick &+= 1
    index.touch(hash, at: tick)
  }

  /// A copy for the index file, without staged entries, which would be copied when they change.
  var forIndexFile: DiskState {
    var copy = self
    (copy.staged, copy.queue) = ([:], [])
    return copy
  }

  /// Removes everything from the state, and leaves the files for the writer to remove.
  ///
  /// - Returns: The earlier state, to be released without the lock, since releasing staged bytes may run any code.
  mutating func removeAll() -> DiskState {
    let before = self
    epoch += 1
    index = DiskIndex()
    staged = [:]
    queue = []
    queueStart = 0
    stagedBytes = 0
    owedRemovals = [:]
    laneEntries = PerGroup()
    doomed.segments += segments.keys
    segments = SizedTable()
    doomed.bodies = Array(bodies.keys)
    replacedBodies = []
    doomed.partials += streamed.keys
    streamed = SizedTable()
    partials = [:]
    return before
  }
}
