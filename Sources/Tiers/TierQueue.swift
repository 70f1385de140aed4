import VitrineCaching
import VitrineRuntime

/// The pending and running writes of a remote tier: at most one of each kind for a key, the latest.
///
/// It is a value without threads, so that a test controls the order. Operations on one key never run concurrently. A
/// removal drops the earlier writes of its key; a failed removal is retried.
struct TierQueue: Sendable {
  enum Operation: Sendable {
    /// A store. `removes` is `true` if the entry must be removed in case the write fails.
    case store(CachedData, removes: Bool)
    case renew(ContentID, Date?, Data)
    case remove
  }

  /// The removal of many keys.
  enum Sweep: Sendable, Equatable {
    case extending(CacheKey)
    case all

    func covers(_ key: CacheKey) -> Bool {
      switch self {
      case .extending(let prefix): key.isExtension(of: prefix)
      case .all: true
      }
    }
  }

  enum Work: Sendable {
    case one(CacheKey, Operation)
    case sweep(Sweep)

    /// A Boolean value that indicates whether the time of the work is limited; the removal of many keys has no limit.
    var isBounded: Bool { if case .one = self { true } else { false } }
    /// The size of the body that is sent.
    var byteCount: Int { if case .one(_, .store(let entry, _)) = self { entry.data.count } else { 0 } }
  }

  enum Ending: Sendable {
    case done(Bool)
    /// The tier could not be reached.
    case failed
    /// The tier has refused the operation, and would refuse it again.
    case refused
  }

  /// The state of a key in the queue, for a reader.
  enum Pending: Sendable {
    case none
    case stored(CachedData)
    case renewed(ContentID, Date?, Data)
    case removed
  }

  /// The writes that have left the queue, and their waiters, to be released and resolved with no lock held.
  struct Loose: Sendable {
    fileprivate var operations: [Operation] = []
    fileprivate var waiters: [(waiter: Deferred<Bool>, answer: Bool)] = []

    func resolve() { for (waiter, answer) in waiters { waiter.resolve(answer) } }

    fileprivate mutating func add(_ waiters: [Deferred<Bool>], _ answer: Bool) {
      for waiter in waiters { self.waiters.append((waiter, answer)) }
    }
  }

  private struct Item {
    var operation: Operation
    var waiters: [Deferred<Bool>] = []
    /// A Boolean value that indicates whether the key is in `order`; a running item's is not.
    var isInOrder = false
  }

  private struct SweepItem {
    let sweep: Sweep
    var waiters: [Deferred<Bool>]
  }

  private let entryLimit: Int
  private let byteLimit: Int
  private let removalLimit: Int
  private let width: Int

  private var items: [CacheKey: Item] = [:]
  private var order: [CacheKey] = []
  private var orderStart = 0
  private var running: [CacheKey: Item] = [:]
  private var sweeps: [SweepItem] = []
  private var runningSweep: SweepItem?

  /// The numbers of pending and running writes and removals, and the size of the writes.
  private(set) var writeCount = 0
  private(set) var removalCount = 0
  private(set) var byteCount = 0
  private(set) var droppedWrites = 0
  private(set) var droppedRemovals = 0

  init(_ limits: TieredDataCache.RemoteLimits) {
    entryLimit = max(0, limits.queuedEntries)
    byteLimit = max(0, limits.queuedBytes)
    removalLimit = max(0, limits.queuedRemovals)
    width = max(1, limits.concurrentWrites)
  }

  var isEmpty: Bool { items.isEmpty && running.isEmpty && sweeps.isEmpty && runningSweep == nil }

  // MARK: Adding

  mutating func store(_ entry: CachedData, for key: CacheKey, _ loose: inout Loose) {
    let old = items[key]
    let (oldCount, oldBytes) = cost(old?.operation, key)
    let bytes = cost(.store(entry, removes: false), key).bytes
    guard writeCount - oldCount < entryLimit, byteCount - oldBytes + bytes <= byteLimit else {
      droppedWrites += 1
      // A waiting write is older than the dropped one.
      if old != nil { remove(key, nil, &loose) }
      return
    }
    put(.store(entry, removes: old.map { Self.removes($0.operation) } ?? false), for: key, nil, &loose)
  }

  /// Adds a renewal; `waiter` receives whether the entry had the content.
  mutating func renew(
    _ key: CacheKey,
    _ contentID: ContentID,
    _ expires: Date?,
    _ metadata: Data,
    _ waiter: Deferred<Bool>?,
    _ loose: inout Loose,
  ) {
    switch items[key]?.operation {
    case .store(var entry, let removes):
      let isSame = entry.contentID == contentID
      if let waiter { loose.add([waiter], isSame) }
      guard isSame else { return }
      (entry.expires, entry.metadata) = (expires, metadata)
      put(.store(entry, removes: removes), for: key, nil, &loose)
    case .remove:
      if let waiter { loose.add([waiter], false) }
    case .renew, nil:
      guard items[key] != nil || writeCount < entryLimit, byteCount + metadata.count <= byteLimit else {
        droppedWrites += 1
        if let waiter { loose.add([waiter], false) }
        return
      }
      put(.renew(contentID, expires, metadata), for: key, waiter, &loose)
    }
  }

  /// Adds a removal; `waiter` receives whether it was carried out.
  mutating func remove(_ key: CacheKey, _ waiter: Deferred<Bool>?, _ loose: inout Loose) {
    guard items[key].map({ Self.isRemoval($0.operation) }) ?? false || removalCount < removalLimit else {
      droppedRemovals += 1
      if let waiter { loose.add([waiter], false) }
      if items[key] != nil { drop(key, &loose) }
      return
    }
    put(.remove, for: key, waiter, &loose)
  }

  /// Adds a removal of many keys, before all pending items.
  mutating func sweep(_ sweep: Sweep, _ waiter: Deferred<Bool>?, _ loose: inout Loose) {
    for key in items.keys where sweep.covers(key) { drop(key, &loose) }
    if sweep == .all {
      for item in sweeps { loose.add(item.waiters, false) }
      removalCount -= sweeps.count
      sweeps = []
    }
    if let same = sweeps.firstIndex(where: { $0.sweep == sweep }) {
      if let waiter { sweeps[same].waiters.append(waiter) }
    } else if sweep == .all || removalCount < removalLimit {
      sweeps.append(SweepItem(sweep: sweep, waiters: waiter.map { [$0] } ?? []))
      removalCount += 1
    } else {
      droppedRemovals += 1
      if let waiter { loose.add([waiter], false) }
    }
  }

  private mutating func put(
    _ operation: Operation,
    for key: CacheKey,
    _ waiter: Deferred<Bool>?,
    _ loose: inout Loose,
  ) {
    var item = Item(operation: operation)
    if let old = items[key] {
      count(old.operation, key, -1)
      loose.operations.append(old.operation)
      // A repeated removal resolves the waiters of the earlier one.
      if Self.isRemoval(old.operation), Self.isRemoval(operation) {
        item.waiters = old.waiters
      } else {
        loose.add(old.waiters, false)
      }
      item.isInOrder = old.isInOrder
    }
    if let waiter { item.waiters.append(waiter) }
    count(operation, key, 1)
    items[key] = item
    if running[key] == nil { enqueue(key) }
  }

  private mutating func enqueue(_ key: CacheKey) {
    guard items[key]?.isInOrder == false else { return }
    items[key]?.isInOrder = true
    order.append(key)
  }

  private mutating func drop(_ key: CacheKey, _ loose: inout Loose) {
    guard let old = items.removeValue(forKey: key) else { return }
    count(old.operation, key, -1)
    loose.operations.append(old.operation)
    loose.add(old.waiters, false)
  }

  // MARK: Reading

  /// Returns the latest pending or running operation for a key.
  func pending(_ key: CacheKey) -> Pending {
    guard !isEmpty else { return .none }
    if let item = items[key] { return Self.pending(item.operation) }
    if sweeps.contains(where: { $0.sweep.covers(key) }) { return .removed }
    if let item = running[key] { return Self.pending(item.operation) }
    return runningSweep?.sweep.covers(key) ?? false ? .removed : .none
  }

  /// Returns `true` if an operation for a key is pending or running.
  func isBusy(_ key: CacheKey) -> Bool { items[key] != nil || running[key] != nil }

  private static func pending(_ operation: Operation) -> Pending {
    switch operation {
    case .store(let entry, _): .stored(entry)
    case .renew(let contentID, let expires, let metadata): .renewed(contentID, expires, metadata)
    case .remove: .removed
    }
  }

  // MARK: Running

  /// A Boolean value that indicates whether ``next()`` would return work.
  var hasNext: Bool {
    guard runningSweep == nil else { return false }
    guard sweeps.isEmpty else { return running.isEmpty }
    return running.count < width && order[orderStart...].contains { items[$0]?.isInOrder ?? false }
  }

  /// Takes the next work, whose end is reported with ``finish(_:_:_:)``.
  mutating func next() -> Work? {
    guard hasNext else { return nil }
    if !sweeps.isEmpty {
      let first = sweeps.removeFirst()
      runningSweep = first
      return .sweep(first.sweep)
    }
    while orderStart < order.count {
      let key = order[orderStart]
      orderStart += 1
      if orderStart > 1024, orderStart * 2 > order.count {
        order.removeFirst(orderStart)
        orderStart = 0
      }
      // A dropped key leaves its place behind, and a key that was added again has two.
      guard var item = items[key], item.isInOrder, running[key] == nil else { continue }
      items[key] = nil
      item.isInOrder = false
      running[key] = item
      return .one(key, item.operation)
    }
    return nil
  }

  mutating func finish(_ work: Work, _ ending: Ending, _ loose: inout Loose) {
    switch work {
    case .sweep: finishSweep(ending, &loose)
    case .one(let key, _): finishOne(key, ending, &loose)
    }
  }

  private mutating func finishSweep(_ ending: Ending, _ loose: inout Loose) {
    guard let item = runningSweep.take() else { return }
    removalCount -= 1
    if case .done = ending { return loose.add(item.waiters, true) }
    loose.add(item.waiters, false)
    guard case .failed = ending else { return droppedRemovals += 1 }
    // A later removal covers the failed one.
    guard !sweeps.contains(where: { $0.sweep == .all || $0.sweep == item.sweep }) else { return }
    sweeps.insert(SweepItem(sweep: item.sweep, waiters: []), at: 0)
    removalCount += 1
  }

  private mutating func finishOne(_ key: CacheKey, _ ending: Ending, _ loose: inout Loose) {
    guard let item = running.removeValue(forKey: key) else { return }
    count(item.operation, key, -1)
    loose.operations.append(item.operation)
    switch ending {
    case .done(let answer): loose.add(item.waiters, answer)
    case .failed:
      loose.add(item.waiters, false)
      if case .store = item.operation { droppedWrites += 1 }
      if Self.removes(item.operation) { removeLater(key, &loose) }
    case .refused:
      loose.add(item.waiters, false)
      switch item.operation {
      case .store: droppedWrites += 1
      case .remove: droppedRemovals += 1
      case .renew: break
      }
    }
    if items[key] != nil { enqueue(key) }
  }

  /// Adds a failed removal again, before the operations that were added since.
  private mutating func removeLater(_ key: CacheKey, _ loose: inout Loose) {
    switch items[key]?.operation {
    case .store(let entry, _): items[key]?.operation = .store(entry, removes: true)
    case .remove: break
    case .renew, nil:
      guard !sweeps.contains(where: { $0.sweep.covers(key) }) else { return }
      remove(key, nil, &loose)
    }
  }

  /// Takes all waiters, since the queue will stand still for a while.
  mutating func takeWaiters(_ loose: inout Loose) {
    for key in items.keys {
      loose.add(items[key]?.waiters ?? [], false)
      items[key]?.waiters = []
    }
    for index in sweeps.indices {
      loose.add(sweeps[index].waiters, false)
      sweeps[index].waiters = []
    }
  }

  // MARK: Counting

  private mutating func count(_ operation: Operation, _ key: CacheKey, _ sign: Int) {
    if Self.isRemoval(operation) { removalCount += sign }
    let (count, bytes) = cost(operation, key)
    writeCount += sign * count
    byteCount += sign * bytes
  }

  /// Returns the cost of an operation under the limits of writes.
  private func cost(_ operation: Operation?, _ key: CacheKey) -> (count: Int, bytes: Int) {
    switch operation {
    case .store(let entry, _): (1, entry.data.count + entry.metadata.count + key.bytes.count)
    case .renew(_, _, let metadata): (1, metadata.count + key.bytes.count)
    case .remove, nil: (0, 0)
    }
  }

  private static func isRemoval(_ operation: Operation) -> Bool { if case .remove = operation { true } else { false } }

  /// Returns `true` if the tier must have no entry after a failure of the operation.
  private static func removes(_ operation: Operation) -> Bool {
    switch operation {
    case .store(_, let removes): removes
    case .remove: true
    case .renew: false
    }
  }
}
