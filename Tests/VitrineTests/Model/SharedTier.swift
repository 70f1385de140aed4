import VitrineCaching
import VitrineRuntime
import VitrineTesting
import VitrineTiers

/// A tier that several machines share, whose every answer the test may put off, lose or let fail.
///
/// It has the order of a server that compares: an entry never replaces one that was stored later, and none that was
/// stored before a removal comes back after it. Without that order the last write to arrive stays, as in a bucket.
final class SharedTier: @unchecked Sendable {
  // @unchecked: used by one thread only, that of the test.
  enum Condition: CaseIterable { case working, slow, failing, refusing }

  /// The fate of one call.
  enum Fate {
    case now
    /// It takes place later, when the test says so.
    case later
    /// It takes place now, and the answer comes later.
    case answeredLater
    case fails
    /// The caller hears of a failure, and yet it takes place later.
    case failsAndHappens
    case refused
  }

  struct Failure: DataCacheFailure { let isRefusal: Bool }

  private struct Lease {
    let token: UInt64
    let end: Duration
  }

  let clock: ManualClock
  let keepsOrder: Bool
  var entries: [CacheKey: CachedData] = [:]
  /// The calls that wait.
  private(set) var held: [Deferred<Void>] = []
  /// The writes that have failed for their callers and are still to come.
  private(set) var late: [() -> Void] = []
  /// When the variants of a source were last removed, and everything.
  private var removals: [CacheKey: Date] = [:]
  private var cleared = Date.distantPast
  private var leases: [CacheKey: Lease] = [:]
  /// The fate of the next call; the parameter is true for one that changes something.
  var fate: (Bool) -> Fate = { _ in .now }
  var whenWritten: (CacheKey, CachedData) -> Void = { _, _ in }
  /// An entry, or its head, was given to a machine.
  var whenRead: (CacheKey, CachedDataHead) -> Void = { _, _ in }
  /// One entry was removed.
  var whenErased: (CacheKey) -> Void = { _ in }
  /// What extends a key was removed, or everything.
  var whenRemoved: (CacheKey?) -> Void = { _ in }
  /// A write was refused.
  var whenRefused: (CacheKey) -> Void = { _ in }

  init(_ clock: ManualClock, keepsOrder: Bool) { (self.clock, self.keepsOrder) = (clock, keepsOrder) }

  /// The keys, in an order that is the same in every run.
  var keys: [CacheKey] { entries.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) } }

  func release(_ index: Int) { held.remove(at: index).resolve(()) }

  func happen(_ index: Int) { late.remove(at: index)() }

  /// Loses everything, as a restart does.
  func restart() {
    (entries, leases, removals, cleared) = ([:], [:], [:], .distantPast)
  }

  private func perform<Answer>(
    changes: Bool,
    ifRefused: () -> Void = {},
    _ body: @escaping () -> Answer,
  ) async throws -> Answer {
    switch fate(changes) {
    case .now: return body()
    case .later:
      let gate = Deferred<Void>()
      held.append(gate)
      await gate.value()
      return body()
    case .answeredLater:
      let answer = body()
      let gate = Deferred<Void>()
      held.append(gate)
      await gate.value()
      return answer
    case .fails: throw Failure(isRefusal: false)
    case .failsAndHappens:
      late.append { _ = body() }
      throw Failure(isRefusal: false)
    case .refused:
      ifRefused()
      throw Failure(isRefusal: true)
    }
  }

  // MARK: Order

  private static func source(_ key: CacheKey) -> CacheKey {
    CacheKey(bytes: Array(key.bytes.prefix(key.end(ofParts: 3) ?? key.bytes.count)))
  }

  private func put(_ entry: CachedData, _ key: CacheKey) {
    if keepsOrder {
      let removal = max(cleared, removals[Self.source(key)] ?? .distantPast)
      if removal > entry.stored {
        // The removal of what is there may have waited for this write in its place.
        if let old = entries[key], old.stored < removal { entries[key] = nil }
        return
      }
      if let old = entries[key], old.stored > entry.stored { return }
    }
    entries[key] = entry
    whenWritten(key, entry)
  }

  private func remove(extending prefix: CacheKey) {
    for key in entries.keys where key.isExtension(of: prefix) { entries[key] = nil }
    removals[Self.source(prefix)] = clock.now
    whenRemoved(prefix)
  }
}

extension SharedTier: FallibleDataCaching {
  func read(_ key: CacheKey) async throws -> CachedData? {
    try await perform(changes: false) {
      let entry = self.entries[key]
      if let entry { self.whenRead(key, CachedDataHead(entry)) }
      return entry
    }
  }

  func readHeads(of keys: [CacheKey]) async throws -> [CachedDataHead?] {
    try await perform(changes: false) {
      keys.map { key in
        var head = self.entries[key].map { CachedDataHead($0) }
        head?.data = nil
        if let head { self.whenRead(key, head) }
        return head
      }
    }
  }

  func write(_ entry: CachedData, for key: CacheKey) async throws {
    try await perform(changes: true) {
      entries[key] = nil
      whenRefused(key)
    } _: {
      self.put(entry, key)
    }
  }

  func rewrite(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async throws -> Bool {
    try await perform(changes: true) {
      guard var entry = self.entries[key], entry.contentID == contentID else { return false }
      (entry.expires, entry.metadata) = (expires, metadata)
      self.entries[key] = entry
      self.whenWritten(key, entry)
      return true
    }
  }

  func erase(_ key: CacheKey) async throws {
    try await perform(changes: true) {
      self.entries[key] = nil
      self.whenErased(key)
    }
  }

  func erase(extending key: CacheKey) async throws {
    try await perform(changes: true) { self.remove(extending: key) }
  }

  func eraseAll() async throws {
    try await perform(changes: true) {
      (self.entries, self.cleared) = ([:], self.clock.now)
      self.whenRemoved(nil)
    }
  }

  func entries() async -> [DataCacheEntry] { [] }

  func statistics() async -> DataCacheStatistics { DataCacheStatistics() }

  func flush() async {}
}

extension SharedTier: KeyLeasing {
  private func holder(_ key: CacheKey) -> UInt64? {
    leases[key].flatMap { $0.end > clock.uptime ? $0.token : nil }
  }

  func acquire(_ lease: KeyLease, for duration: Duration) async throws -> LeaseAnswer {
    try await perform(changes: false) {
      switch self.holder(lease.key) {
      case nil, lease.token:
        self.leases[lease.key] = Lease(token: lease.token, end: self.clock.uptime + duration)
        return .acquired
      case 0: return .vain
      default: return .held
      }
    }
  }

  func extend(_ lease: KeyLease, for duration: Duration) async throws -> Bool {
    try await perform(changes: false) {
      guard self.holder(lease.key) == lease.token else { return false }
      self.leases[lease.key] = Lease(token: lease.token, end: self.clock.uptime + duration)
      return true
    }
  }

  func release(_ lease: KeyLease, inVainFor vainTime: Duration?) async throws {
    try await perform(changes: true) {
      guard self.holder(lease.key) == lease.token else { return }
      self.leases[lease.key] = vainTime.map { Lease(token: 0, end: self.clock.uptime + $0) }
    }
  }

  func revoke(extending key: CacheKey) async throws {
    try await perform(changes: true) {
      self.leases = self.leases.filter { $0.key != key && !$0.key.isExtension(of: key) }
    }
  }
}
