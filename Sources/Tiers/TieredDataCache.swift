public import VitrineCaching
public import VitrineRuntime

/// A cache that consists of several tiers: fast and near ones in front of slow and remote ones.
///
/// ```swift
/// let cache = TieredDataCache([
///   .local(MemoryDataCache(sizeLimit: 32 << 20), name: "memory"),
///   .local(disk, name: "disk"),
///   .remote(redis, name: "redis"),
/// ])
/// ```
/// **Look-ups** go through the tiers in order and stop at the first hit. An entry from a slower tier is promoted: the
/// faster ones store it, too. Another machine may have renewed or replaced an expired entry, so remote tiers are asked
/// for a fresher one.
///
/// **Writes** go to all tiers. The caller waits for writes to local tiers. Writes to remote tiers wait in a queue,
/// where the latest write of a key replaces the earlier one. When too many pile up, further ones are dropped and
/// counted. Entries that are useful to this machine only (`CachedData.isMachineLocal`), or that shared caches must not
/// store (`CachedData.isPrivate`), stay in local tiers.
///
/// **Removals** reach all tiers, and replace queued writes of the same key. The caller waits until they have arrived,
/// at most for the deadline of a write. If a remote tier cannot be reached, the removal is repeated until it arrives.
/// Until then this cache does not serve the tier's entry.
///
/// **Failures** of a remote tier cost little. A caller waits for a call a few times as long as such calls usually take,
/// within bounds (``RemoteLimits/headPatience``), and continues without it. After several failures or late calls in a
/// row the tier's circuit breaker opens, and the tier is skipped. Then one call at a time tests whether it works again.
/// ``tierStatistics`` counts all of this.
///
/// Do not nest tiered caches: give all tiers to one cache.
public final class TieredDataCache: DataCaching {
  enum Place: Sendable {
    case local(any DataCaching, Lock<TierStatistics>)
    case remote(RemoteTier)
  }

  let places: [Place]
  let changes = TierChanges()
  /// The first cache, if it has a synchronous look-up.
  private let warm: (any WarmDataCaching)?
  /// The first local cache that stores partial bodies.
  package let partialStoring: DiskCache?

  /// Creates a cache of several tiers.
  ///
  /// - Parameters:
  ///   - tiers: The caches, in the order of look-up.
  ///   - clock: The clock for deadlines. Defaults to the system clock.
  public convenience init(_ tiers: [Tier], clock: any TimeSource = .system) {
    self.init(tiers, clock: clock, stepper: nil)
  }

  /// Creates a cache whose calls to remote tiers run on an executor, for tests.
  package init(_ tiers: [Tier], clock: any TimeSource, stepper: (any TaskExecutor)?) {
    self.clock = clock
    var names: [String: Int] = [:]
    places = tiers.map { tier in
      let number = (names[tier.name] ?? 0) + 1
      names[tier.name] = number
      let name = number == 1 ? tier.name : "\(tier.name)-\(number)"
      guard let limits = tier.limits else {
        return .local(tier.cache, Lock(TierStatistics(name: name, isRemote: false)))
      }
      return .remote(RemoteTier(tier.cache, name: name, limits, clock, stepper))
    }
    let local = tiers.filter { $0.limits == nil }.map(\.cache)
    warm = tiers.first?.limits == nil ? local.first as? any WarmDataCaching : nil
    partialStoring = local.lazy.compactMap { $0 as? DiskCache }.first
  }

  let clock: any TimeSource

  /// The first remote tier that grants leases.
  var leasing: (RemoteTier, any KeyLeasing)? {
    for case .remote(let tier) in places { if let leases = tier.leases { return (tier, leases) } }
    return nil
  }

  /// The history of each tier, in the order of look-up.
  public var tierStatistics: [TierStatistics] {
    places.map { place in
      switch place {
      case .local(_, let counts): counts.withLock { $0 }
      case .remote(let tier): tier.statistics
      }
    }
  }

  // MARK: Look-ups

  /// Returns the entry for a key from the first tier that has one, and promotes it.
  public func entry(for key: CacheKey) async -> CachedData? {
    // The look-up begins before the first tier is read, so that a store meanwhile is noticed.
    let reading = changes.begin(key)
    for (index, place) in places.enumerated() {
      guard let entry = await entry(for: key, in: place, index, reading) else { continue }
      await promote(entry, for: key, before: index, reading)
      return await newest(entry, key, after: index)
    }
    changes.end(reading)
    return nil
  }

  /// Returns the entry for a key from one tier.
  ///
  /// Returns `nil` if the tier has none, or if the entry arrives later, when it is promoted.
  private func entry(
    for key: CacheKey,
    in place: Place,
    _ index: Int,
    _ reading: TierChanges.Reading,
  ) async -> CachedData? {
    guard case .remote(let tier) = place else { return await entry(for: key, in: place, isPeeking: false) }
    let later = changes.fork(reading)
    let found = await tier.entry(for: key, isPeeking: false) { [self] late in
      if let late { await promote(late, for: key, before: index, later) } else { changes.end(later) }
    }
    if case .later = found { return nil }
    changes.end(later)
    return found.entry
  }

  /// Returns the entry for a key from the first tier that has one, without counting it as used or promoting it.
  public func peek(_ key: CacheKey) async -> CachedData? {
    for place in places {
      if let entry = await entry(for: key, in: place, isPeeking: true) { return entry }
    }
    return nil
  }

  private func entry(for key: CacheKey, in place: Place, isPeeking: Bool) async -> CachedData? {
    switch place {
    case .remote(let tier): return await tier.entry(for: key, isPeeking: isPeeking).entry
    case .local(let cache, _) where isPeeking: return await cache.peek(key)
    case .local(let cache, let counts):
      let entry = await cache.entry(for: key)
      counts.withLock { counts in
        if entry == nil { counts.misses += 1 } else { counts.hits += 1 }
      }
      return entry
    }
  }

  /// Stores an entry in the tiers before `index`, unless it was changed since it was read.
  func promote(_ entry: CachedData, for key: CacheKey, before index: Int, _ reading: TierChanges.Reading) async {
    guard changes.isCurrent(reading) else {
      changes.end(reading)
      return
    }
    for place in places[..<index] {
      switch place {
      case .remote(let tier): if !entry.staysHere { tier.store(entry, for: key) }
      case .local(let cache, let counts):
        await cache.store(entry, for: key)
        counts.withLock { $0.promotions += 1 }
      }
    }
    guard !changes.end(reading) else { return }
    // The entry may have been stored after it was removed or replaced. A miss is always correct.
    for place in places[..<index] {
      switch place {
      case .remote(let tier): tier.remove(key, nil)
      case .local(let cache, _): if await cache.contentID(for: key) == entry.contentID { await cache.remove(key) }
      }
    }
  }

  /// Returns the head for each key from the first tier that has one.
  ///
  /// Each further tier is asked only for the missing keys, and a remote one also for expired ones. No body is read.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    var heads = [CachedDataHead?](repeating: nil, count: keys.count)
    var missing = Array(keys.indices)
    var near: [Int] = []
    for place in places where !missing.isEmpty {
      let asked = missing.map { keys[$0] }
      let found: [CachedDataHead?]
      switch place {
      case .remote(let tier): found = await tier.heads(for: asked)
      case .local(let cache, let counts):
        found = await cache.heads(for: asked)
        counts.withLock { counts in
          let count = found.count { $0 != nil }
          counts.headHits += count
          counts.headMisses += found.count - count
        }
        near += zip(missing, found).filter { $0.1 != nil }.map(\.0)
      }
      for (number, head) in zip(missing, found) { heads[number] = head }
      missing.removeAll { heads[$0] != nil }
    }
    return await newest(heads, keys, near)
  }

  /// Returns a Boolean value that indicates whether any tier has an entry for the key.
  public func contains(_ key: CacheKey) async -> Bool {
    for place in places {
      switch place {
      case .local(let cache, _): if await cache.contains(key) { return true }
      case .remote(let tier): if await tier.heads(for: [key]).first.flatMap({ $0 }) != nil { return true }
      }
    }
    return false
  }

  /// Returns the identity of the content from the first tier that has the key, without reading the body.
  public func contentID(for key: CacheKey) async -> ContentID? {
    for place in places {
      switch place {
      case .local(let cache, _): if let contentID = await cache.contentID(for: key) { return contentID }
      case .remote(let tier):
        if let head = await tier.heads(for: [key]).first.flatMap({ $0 }) { return head.contentID }
      }
    }
    return nil
  }

  // MARK: Changes

  /// Stores an entry in every local tier, and queues it for the remote ones.
  public func store(_ entry: CachedData, for key: CacheKey) async {
    changes.beginChange(of: key)
    for place in places.reversed() {
      switch place {
      // The tier would serve the older entry in its place.
      case .remote(let tier) where entry.isPrivate: tier.remove(key, nil)
      case .remote(let tier): if !entry.staysHere { tier.store(entry, for: key) }
      case .local(let cache, let counts):
        await cache.store(entry, for: key)
        counts.withLock { $0.writes += 1 }
      }
    }
    changes.endChange(of: key)
  }

  /// Renews the entry in every tier.
  ///
  /// If a local tier had the content, this does not wait for remote tiers.
  ///
  /// - Returns: A Boolean value that indicates whether any tier had that content.
  @discardableResult
  public func renew(_ key: CacheKey, contentID: ContentID, expires: Date?, metadata: Data) async -> Bool {
    changes.beginChange(of: key)
    defer { changes.endChange(of: key) }
    var isRenewed = false
    var waiters: [(RemoteTier, Deferred<Bool>)] = []
    for place in places.reversed() {
      switch place {
      case .local(let cache, _):
        isRenewed = await cache.renew(key, contentID: contentID, expires: expires, metadata: metadata) || isRenewed
      case .remote(let tier):
        let waiter = Deferred<Bool>()
        tier.renew(key, contentID: contentID, expires: expires, metadata: metadata, waiter)
        waiters.append((tier, waiter))
      }
    }
    guard !isRenewed else { return true }
    for (tier, waiter) in waiters { isRenewed = await tier.outcome(of: waiter) || isRenewed }
    return isRenewed
  }

  /// Removes the entry for a key from every tier.
  public func remove(_ key: CacheKey) async {
    await remove(key: key) {
      await $0.remove(key)
    } remote: {
      $0.remove(key, $1)
    }
  }

  /// Removes everything from every tier.
  ///
  /// A remote tier loses the entries of all machines that share it.
  public func removeAll() async {
    await remove(key: nil) {
      await $0.removeAll()
    } remote: {
      $0.sweep(.all, $1)
    }
  }

  /// Removes the entries whose keys extend a key from every tier.
  public func removeAll(extending key: CacheKey) async {
    await remove(key: nil) {
      await $0.removeAll(extending: key)
    } remote: {
      $0.sweep(.extending(key), $1)
    }
  }

  /// Removes from the slowest tier first, so that a concurrent promotion is noticed.
  private func remove(
    key: CacheKey?,
    local: (any DataCaching) async -> Void,
    remote: (RemoteTier, Deferred<Bool>) -> Void,
  ) async {
    changes.beginChange(of: key)
    var waiters: [(RemoteTier, Deferred<Bool>)] = []
    for place in places.reversed() {
      switch place {
      case .local(let cache, _): await local(cache)
      case .remote(let tier):
        let waiter = Deferred<Bool>()
        remote(tier, waiter)
        waiters.append((tier, waiter))
      }
    }
    changes.endChange(of: key)
    for (tier, waiter) in waiters { _ = await tier.outcome(of: waiter) }
  }

  /// Removes the entries that satisfy a condition from every tier.
  ///
  /// A remote tier lists its entries first, which takes a while.
  public func removeAll(where isRemoved: @Sendable (DataCacheEntry) -> Bool) async {
    for place in places.reversed() {
      switch place {
      case .local(let cache, _):
        changes.beginChange(of: nil)
        await cache.removeAll(where: isRemoved)
        changes.endChange(of: nil)
      case .remote(let tier):
        for entry in await tier.entries() where isRemoved(entry) { await remove(entry.key) }
      }
    }
  }

  // MARK: Contents

  /// Returns the entries of all tiers, each key once, as in the first tier that has it.
  ///
  /// A remote tier whose breaker is open adds none.
  public func entries() async -> [DataCacheEntry] {
    var known: Set<CacheKey> = []
    var entries: [DataCacheEntry] = []
    for place in places {
      switch place {
      case .local(let cache, _): entries += await cache.entries().filter { known.insert($0.key).inserted }
      case .remote(let tier): entries += await tier.entries().filter { known.insert($0.key).inserted }
      }
    }
    return entries
  }

  /// Returns the sums over all tiers; see ``tierStatistics`` for the single tiers.
  public func statistics() async -> DataCacheStatistics {
    var sum = DataCacheStatistics()
    for place in places {
      let one: DataCacheStatistics
      switch place {
      case .local(let cache, _): one = await cache.statistics()
      case .remote(let tier): one = await tier.cacheStatistics()
      }
      sum.entries = sum.entries.addingSaturating(one.entries)
      sum.originals = sum.originals.addingSaturating(one.originals)
      sum.finished = sum.finished.addingSaturating(one.finished)
      sum.partials = sum.partials.addingSaturating(one.partials)
      sum.bytes = sum.bytes.addingSaturating(one.bytes)
      sum.limit = sum.limit.addingSaturating(one.limit)
      sum.hits = sum.hits.addingSaturating(one.hits)
      sum.misses = sum.misses.addingSaturating(one.misses)
      sum.evictions = sum.evictions.addingSaturating(one.evictions)
      sum.damaged = sum.damaged.addingSaturating(one.damaged)
    }
    return sum
  }

  /// Waits until every local tier has flushed, and every remote one has received its queued writes or cannot be
  /// reached.
  public func flush() async {
    for place in places {
      switch place {
      case .local(let cache, _): await cache.flush()
      case .remote(let tier): await tier.flush()
      }
    }
  }
}

extension TieredDataCache: WarmDataCaching {
  /// Returns the entry if the first tier has it.
  ///
  /// A miss is known at once only if there is no other tier. An entry of a slower tier is promoted, which takes a wait.
  package func warmEntry(for key: CacheKey) -> WarmEntry {
    guard let warm, case .local(_, let counts) = places.first else { return places.isEmpty ? .missing : .unknown }
    switch warm.warmEntry(for: key) {
    case .entry(let entry):
      counts.withLock { $0.hits += 1 }
      return .entry(entry)
    case .missing where places.count == 1: return .missing
    case .missing, .unknown: return .unknown
    }
  }
}
