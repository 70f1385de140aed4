package import VitrineCaching
import VitrineRuntime
import VitrineTesting
package import VitrineTiers

/// A cache elsewhere that works, fails, refuses or hangs, as a test says.
///
/// ```swift
/// let remote = FakeRemoteCache()
/// let cache = TieredDataCache([.local(memory), .remote(remote)], clock: clock)
/// remote.condition = .hanging
/// ```
package final class FakeRemoteCache: FallibleDataCaching {
  /// The condition of the cache.
  package enum Condition: Sendable, Hashable, CaseIterable {
    /// Every call is answered.
    case working
    /// Every call throws a ``Failure``.
    case failing
    /// Every call throws a ``Failure`` that is a refusal; a refused write removes its key.
    case refusing
    /// Calls wait until the condition changes, or their task is cancelled.
    case hanging
    /// Calls wait until the condition changes, although their task is cancelled.
    case stuck
  }

  /// A kind of call.
  package enum Call: Sendable, Hashable {
    /// A call of ``FakeRemoteCache/read(_:)``.
    case read
    /// A call of ``FakeRemoteCache/readHeads(of:)``.
    case heads
    /// A call of ``FakeRemoteCache/write(_:for:)``.
    case write
    /// A call of ``FakeRemoteCache/rewrite(_:contentID:expires:metadata:)``.
    case rewrite
    /// A call of ``FakeRemoteCache/erase(_:)``.
    case erase
    /// A call of ``FakeRemoteCache/erase(extending:)`` or ``FakeRemoteCache/eraseAll()``.
    case sweep
    /// A call of ``FakeRemoteCache/acquire(_:for:)``.
    case acquire
    /// A call of ``FakeRemoteCache/extend(_:for:)``.
    case extend
    /// A call of ``FakeRemoteCache/release(_:inVainFor:)``.
    case release
  }

  /// The error of a call that fails.
  package struct Failure: DataCacheFailure {
    /// A Boolean value that indicates whether the cache refused the call.
    package let isRefusal: Bool
  }

  private struct State: Sendable {
    var condition = Condition.working
    var entries: [CacheKey: CachedData] = [:]
    /// The tokens of the holders; 0 where waiting is in vain.
    var leases: [CacheKey: UInt64] = [:]
    var begun: [Call] = []
    var ended: [Call] = []
    var gates: [Deferred<Void>] = []

    /// Returns the gate at which a call has to wait now, and whether it ignores cancellation.
    mutating func addGate() -> (Deferred<Void>, Bool)? {
      guard condition == .hanging || condition == .stuck else { return nil }
      let gate = Deferred<Void>()
      gates.append(gate)
      return (gate, condition == .stuck)
    }
  }

  private let state = Watched(State())

  /// Creates an empty cache that works.
  package init() {}

  /// The condition; calls that wait go on by the new one.
  package var condition: Condition {
    get { state.value.condition }
    set {
      let gates = state.change { state in
        state.condition = newValue
        defer { state.gates = [] }
        return state.gates
      }
      for gate in gates { gate.resolve(()) }
    }
  }

  /// The calls so far, in the order of their beginning.
  package var calls: [Call] { state.value.begun }

  /// Returns the number of calls of one kind.
  package func count(of call: Call) -> Int { state.value.begun.count { $0 == call } }

  /// The keys that have an entry.
  package var keys: Set<CacheKey> { Set(state.value.entries.keys) }

  /// Waits, without a clock, until `count` calls of a kind have begun.
  ///
  /// Returns early if the awaiting task is cancelled, as by a test's time limit.
  package func wait(forBegun call: Call, count: Int = 1) async {
    await state.wait { $0.begun.count { $0 == call } >= count }
  }

  /// Waits, without a clock, until `count` calls of a kind have ended, however they did.
  ///
  /// Returns early if the awaiting task is cancelled, as by a test's time limit.
  package func wait(forEnded call: Call, count: Int = 1) async {
    await state.wait { $0.ended.count { $0 == call } >= count }
  }

  /// Sets or removes an entry as another machine would, whatever the condition.
  package func put(_ entry: CachedData?, for key: CacheKey) {
    let old = state.change { state in
      defer { state.entries[key] = entry }
      return state.entries[key]
    }
    _ = consume old
  }

  /// Returns the entry for a key, whatever the condition, as another machine would see it.
  package func stored(_ key: CacheKey) -> CachedData? { state.value.entries[key] }

  private func perform<Answer: Sendable>(
    _ call: Call,
    ifRefused: (@Sendable (inout [CacheKey: CachedData]) -> Void)? = nil,
    _ body: @Sendable (inout [CacheKey: CachedData]) -> Answer,
  ) async throws -> Answer {
    defer { state.change { $0.ended.append(call) } }
    var waits = state.change { state in
      state.begun.append(call)
      return state.addGate()
    }
    while let (gate, isStuck) = waits {
      if isStuck {
        await gate.value()
      } else {
        await withTaskCancellationHandler {
          await gate.value()
        } onCancel: {
          gate.resolve(())
        }
        try Task.checkCancellation()
      }
      waits = state.change { $0.addGate() }
    }
    switch condition {
    case .failing: throw Failure(isRefusal: false)
    case .refusing:
      if let ifRefused { state.change { ifRefused(&$0.entries) } }
      throw Failure(isRefusal: true)
    case .working, .hanging, .stuck: return state.change { body(&$0.entries) }
    }
  }

  // MARK: The cache

  /// Returns the entry for a key.
  package func read(_ key: CacheKey) async throws -> CachedData? { try await perform(.read) { $0[key] } }

  /// Returns the heads of the entries for these keys, without their bytes.
  package func readHeads(of keys: [CacheKey]) async throws -> [CachedDataHead?] {
    try await perform(.heads) { entries in
      keys.map { key in
        guard let entry = entries[key] else { return nil }
        var head = CachedDataHead(entry)
        head.data = nil
        return head
      }
    }
  }

  /// Stores an entry.
  package func write(_ entry: CachedData, for key: CacheKey) async throws {
    try await perform(.write) {
      $0[key] = nil
    } _: {
      $0[key] = entry
    }
  }

  /// Renews the entry for a key, if it still has that content.
  package func rewrite(
    _ key: CacheKey,
    contentID: ContentID,
    expires: Date?,
    metadata: Data,
  ) async throws -> Bool {
    try await perform(.rewrite) { entries in
      guard entries[key]?.contentID == contentID else { return false }
      entries[key]?.expires = expires
      entries[key]?.metadata = metadata
      return true
    }
  }

  /// Removes the entry for a key.
  package func erase(_ key: CacheKey) async throws { try await perform(.erase) { $0[key] = nil } }

  /// Removes the entries whose keys extend a key.
  package func erase(extending key: CacheKey) async throws {
    try await perform(.sweep) { entries in
      for other in entries.keys where other.isExtension(of: key) { entries[other] = nil }
    }
  }

  /// Removes all entries.
  package func eraseAll() async throws { try await perform(.sweep) { $0 = [:] } }

  /// Returns all entries, without their bytes.
  package func entries() async -> [DataCacheEntry] {
    state.value.entries.map { key, data in DataCacheEntry(CachedDataHead(data), for: key, hits: 1) }
  }

  /// Returns the number of entries.
  package func statistics() async -> DataCacheStatistics {
    var statistics = DataCacheStatistics()
    statistics.entries = state.value.entries.count
    return statistics
  }

  /// Returns at once.
  package func flush() async {}
}

/// Leases that end when a test says so, and not by time.
extension FakeRemoteCache: KeyLeasing {
  /// The keys on which somebody holds a lease.
  package var leasedKeys: Set<CacheKey> { Set(state.value.leases.filter { $0.value != 0 }.keys) }

  /// The keys for which waiting is in vain.
  package var vainKeys: Set<CacheKey> { Set(state.value.leases.filter { $0.value == 0 }.keys) }

  /// Waits, without a clock, until nobody holds a lease.
  ///
  /// Returns early if the awaiting task is cancelled, as by a test's time limit.
  package func waitForNoLease() async {
    await state.wait { state in state.leases.values.allSatisfy { $0 == 0 } }
  }

  /// Ends all leases, as time does with those of holders that have died.
  package func expireLeases() { state.change { $0.leases = [:] } }

  /// Gives the leases on some keys to somebody who never ends them.
  package func occupy(_ keys: CacheKey...) { state.change { for key in keys { $0.leases[key] = .max } } }

  /// Acquires a lease.
  package func acquire(_ lease: KeyLease, for duration: Duration) async throws -> LeaseAnswer {
    _ = try await perform(.acquire) { _ in }
    return state.change { state in
      switch state.leases[lease.key] {
      case nil, lease.token:
        state.leases[lease.key] = lease.token
        return .acquired
      case 0: return .vain
      default: return .held
      }
    }
  }

  /// Does nothing to the holder's own lease.
  package func extend(_ lease: KeyLease, for duration: Duration) async throws -> Bool {
    _ = try await perform(.extend) { _ in }
    return state.value.leases[lease.key] == lease.token
  }

  /// Ends a lease.
  package func release(_ lease: KeyLease, inVainFor vainTime: Duration?) async throws {
    _ = try await perform(.release) { _ in }
    state.change { state in
      guard state.leases[lease.key] == lease.token else { return }
      state.leases[lease.key] = vainTime == nil ? nil : 0
    }
  }

  /// Ends all leases for a key and for keys that extend it.
  package func revoke(extending key: CacheKey) async throws {
    _ = try await perform(.release) { _ in }
    state.change { $0.leases = $0.leases.filter { $0.key != key && !$0.key.isExtension(of: key) } }
  }
}
