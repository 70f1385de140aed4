import VitrineRuntime

/// A segment's file; its size and what of it is alive are in ``DiskState``.
struct Segment: Sendable {
  let id: UInt32
  let lane: Int
  let file: any DiskFile
  var size: Int
  /// The bytes of records that the index leads to.
  var live = 0
}

/// What the index knows about an entry.
struct DiskEntry: Sendable {
  var segment: UInt32
  var offset: UInt32
  /// Of the record, in bytes.
  var length: UInt32
  var bodyLength: UInt32
  var sequence: UInt64
  var revision: UInt64
  /// Seconds since the reference date.
  var stored: Double
  /// Seconds since the reference date; infinite for never.
  var expires: Double
  var lastUse: UInt32
  var hits: UInt32
  /// Where the latest renewal is, if `renewalLength` is not 0.
  var renewalSegment: UInt32 = 0
  var renewalOffset: UInt32 = 0
  var renewalLength: UInt32 = 0
  var lane: UInt8
  /// Whether the bytes are a file of their own.
  var isSpilled: Bool
  /// Whether records that this one replaced may still lie in the log.
  var hasOlder = false

  /// Of a removal that ends this entry and no later one, which may be on its way already: each leaves the number before
  /// its own free.
  var removalSequence: UInt64 { sequence + 1 }

  /// What the entry takes up.
  var size: Int { Int(length) + Int(renewalLength) + (isSpilled ? Int(bodyLength) : 0) }
}

/// What was asked of the cache and is not written yet.
enum DiskOperation: Sendable {
  case put(CacheKey, CachedData)
  case renew(target: UInt64, expires: Double, metadata: Data)
  case remove
}

struct StagedOperation: Sendable {
  var hash: KeyHash
  var sequence: UInt64
  var operation: DiskOperation

  var byteCount: Int {
    switch operation {
    case .put(let key, let entry): 256 + key.bytes.count + entry.metadata.count + entry.data.count
    case .renew(_, _, let metadata): 256 + metadata.count
    case .remove: 256
    }
  }
}

/// What a reader finds for a key before it is written.
struct StagedView: Sendable {
  enum Content: Sendable {
    case entry(CacheKey, CachedData)
    case renewal(target: UInt64, expires: Double, metadata: Data)
    case removed
  }

  /// Of the latest operation.
  var sequence: UInt64
  /// Of the entry that it belongs to; 0 if there is none.
  var entrySequence: UInt64
  var content: Content
  /// How many operations of this key wait.
  var lastUse: UInt32
  var hits: UInt32
}

/// What callers, readers and the writer of a ``DiskCache`` share, under one lock.
struct DiskState {
  enum Phase {
    case opening, open, closed
  }

  var phase = Phase.opening
  /// Another process writes to this folder.
  var isReader = false
  var secret = SipHash.Secret(low: 0, high: 0)
  /// Grows when everything is removed; what was under way for an earlier one is void.
  var epoch = 0

  var index: [KeyHash: DiskEntry] = [:]
  var segments: [UInt32: Segment] = [:]
  /// The bodies that are files of their own, by the sequence of their entry.
  var bodies: [UInt64: (lane: Int, size: Int)] = [:]
  /// The bodies that come piece by piece, and those that were left in the middle, by number.
  var streamed: [UInt64: StreamedFile] = [:]
  /// Those of them that somebody may go on with.
  var partials: [KeyHash: UInt64] = [:]
  var doomedPartials: [UInt64] = []
  /// Files that are of no use any more, for the writer to remove.
  var doomedBodies: [UInt64] = []
  /// Those that newer entries have replaced, which stay until these have reached the device.
  var replacedBodies: [UInt64] = []
  var doomedSegments: [UInt32] = []
  var nextSegment: UInt32 = 1
  var indexFileSize = 0

  var staged: [KeyHash: StagedView] = [:]
  var queue: [StagedOperation] = []
  var queueStart = 0
  var stagedBytes = 0
  /// Removals that could not be written; what they mean still lies on the disk.
  var owedRemovals: [KeyHash: UInt64] = [:]
  var isDraining = false
  /// While the disk refuses to be written: until when nothing is tried.
  var retryUptime: Duration?

  var sequence: UInt64 = 0
  var tick: UInt32 = 0
  var touched: Set<KeyHash> = []
  var hits = 0
  var misses = 0
  var evictions = 0
  var damaged = 0
  var laneEntries = [0, 0]

  mutating func nextSequence() -> UInt64 {
    sequence += 1
    return sequence
  }

  // MARK: - Size

  /// The bytes of a lane's files.
  func bytes(ofLane lane: Int) -> Int {
    segments.values.reduce(0) { $0 + ($1.lane == lane ? $1.size : 0) }
      + bodies.values.reduce(0) { $0 + ($1.lane == lane ? $1.size : 0) }
  }

  /// The bytes of bodies that are not whole.
  var streamedBytes: Int { streamed.values.reduce(0) { $0 + $1.size } }

  /// What the folder takes up, with room for the index to be written beside the one that there is.
  var bytes: Int {
    bytes(ofLane: 0) + bytes(ofLane: 1) + streamedBytes + max(indexFileSize, IndexFile.size(entries: index.count)) * 2
      + 4096
  }

  // MARK: - Index

  mutating func insert(_ entry: DiskEntry, for hash: KeyHash) {
    var entry = entry
    if drop(hash, replacedBy: entry.sequence) != nil { entry.hasOlder = true }
    index[hash] = entry
    segments[entry.segment]?.live += Int(entry.length)
    if entry.renewalLength > 0 { segments[entry.renewalSegment]?.live += Int(entry.renewalLength) }
    laneEntries[Int(entry.lane)] += 1
    if entry.isSpilled { bodies[entry.sequence] = (Int(entry.lane), Int(entry.bodyLength)) }
  }

  @discardableResult
  mutating func drop(_ hash: KeyHash, replacedBy sequence: UInt64? = nil) -> DiskEntry? {
    guard let entry = index.removeValue(forKey: hash) else { return nil }
    segments[entry.segment]?.live -= Int(entry.length)
    if entry.renewalLength > 0 { segments[entry.renewalSegment]?.live -= Int(entry.renewalLength) }
    laneEntries[Int(entry.lane)] -= 1
    // It counts until its file is gone.
    if entry.isSpilled, sequence == nil { doomedBodies.append(entry.sequence) }
    if entry.isSpilled, let sequence, entry.sequence != sequence { replacedBodies.append(entry.sequence) }
    touched.remove(hash)
    return entry
  }

  mutating func doomPartial(_ number: UInt64) {
    doomedPartials.append(number)
    guard let file = streamed.removeValue(forKey: number), partials[file.hash] == number else { return }
    partials[file.hash] = nil
  }

  mutating func renew(
    _ hash: KeyHash,
    target: UInt64,
    expires: Double,
    revision: UInt64,
    at location: (segment: UInt32, offset: UInt32, length: UInt32),
  ) {
    guard var entry = index[hash], entry.sequence == target, entry.revision <= revision else { return }
    if entry.renewalLength > 0 { segments[entry.renewalSegment]?.live -= Int(entry.renewalLength) }
    entry.expires = expires
    entry.revision = revision
    (entry.renewalSegment, entry.renewalOffset, entry.renewalLength) = location
    segments[location.segment]?.live += Int(location.length)
    index[hash] = entry
  }

  mutating func touch(_ hash: KeyHash) {
    tick &+= 1
    guard index[hash] != nil else { return }
    index[hash]?.lastUse = tick
    index[hash]?.hits &+= 1
    touched.insert(hash)
  }

  // MARK: - Staging

  mutating func stage(_ operation: StagedOperation, _ view: StagedView) {
    staged[operation.hash] = view
    queue.append(operation)
    stagedBytes += operation.byteCount
  }

  /// Takes the next operations to be written, up to some bytes; leaves out what a later one makes void.
  mutating func takeBatch(upTo limit: Int) -> [StagedOperation] {
    var batch: [StagedOperation] = []
    var bytes = 0
    while queueStart < queue.count, bytes < limit {
      let operation = queue[queueStart]
      queueStart += 1
      if case .put = operation.operation, staged[operation.hash]?.entrySequence != operation.sequence {
        stagedBytes -= operation.byteCount
        continue
      }
      bytes += operation.byteCount
      batch.append(operation)
    }
    if queueStart == queue.count {
      queue.removeAll(keepingCapacity: queue.count < 1024)
      queueStart = 0
    } else if queueStart > 1024 {
      queue.removeFirst(queueStart)
      queueStart = 0
    }
    return batch
  }

  mutating func unstage(_ operation: StagedOperation) {
    stagedBytes -= operation.byteCount
    if staged[operation.hash]?.sequence == operation.sequence { staged[operation.hash] = nil }
  }

  /// Forgets everything; the files are left for the writer to remove.
  mutating func removeAll() {
    epoch += 1
    index.removeAll()
    staged.removeAll()
    queue.removeAll()
    queueStart = 0
    stagedBytes = 0
    owedRemovals.removeAll()
    touched.removeAll()
    laneEntries = [0, 0]
    doomedSegments += segments.keys
    segments.removeAll()
    doomedBodies = Array(bodies.keys)
    replacedBodies.removeAll()
    doomedPartials += streamed.keys
    streamed.removeAll()
    partials.removeAll()
  }
}

extension DiskState {
  /// For a cache that may not write: what it stored first goes first.
  mutating func forgetOldestStaged(over limit: Int) {
    while stagedBytes > limit, queueStart < queue.count {
      let operation = queue[queueStart]
      queueStart += 1
      unstage(operation)
    }
    if queueStart > 1024 {
      queue.removeFirst(queueStart)
      queueStart = 0
    }
  }
}
