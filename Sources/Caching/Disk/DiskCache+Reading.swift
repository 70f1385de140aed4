import VitrineRuntime

/// Look-ups.
extension DiskCache {
  /// The result of a look-up in the shared state.
  private enum Finding {
    case missing
    case staged(CachedData)
    /// An entry on disk, with its renewal if that is not written yet.
    case stored(DiskFolder.Place, StagedView?)
  }

  // MARK: - Entries

  /// Returns the entry for a key, fresh or expired, and counts it as used.
  ///
  /// A miss does not touch the disk. Complexity: O(1), plus reading and verifying the bytes.
  public func entry(for key: CacheKey) async -> CachedData? {
    var warm = warmEntry(for: key)
    if case .unknown = warm, await opened() { warm = warmEntry(for: key) }
    switch warm {
    case .entry(let entry): return entry
    case .missing:
      countMiss()
      return nil
    case .unknown: return await read(key, countsUse: true)
    }
  }

  /// Returns the entry for a key, fresh or expired, without counting it as used.
  ///
  /// The bytes are read and verified. A damaged entry is not dropped before it is used.
  public func peek(_ key: CacheKey) async -> CachedData? { await read(key, countsUse: false) }

  /// Reads on a thread that may wait for the device.
  private func read(_ key: CacheKey, countsUse: Bool) async -> CachedData? {
    let hash = await hash(of: key)
    // A compaction may move the record meanwhile. The second look then finds it.
    for _ in 0..<3 {
      switch find(key, hash, countsUse: countsUse) {
      case .missing:
        if countsUse { countMiss() }
        return nil
      case .staged(let data): return data
      case .stored(let place, let renewal):
        let folder = folder
        let reading = try? await reading.run(priority: .high) { _ in folder.entry(at: place, of: key) }
        // The task was cancelled, or no thread was available.
        guard let reading else { return nil }
        if case .found(let data) = reading {
          return countsUse ? used(data, hash, renewal) : data.renewed(by: renewal)
        }
        if isOutdated(place) { continue }
        guard countsUse else { return nil }
        // Another key with the same hash is a miss. A damaged entry is dropped.
        if case .unreadable = reading { shared.withLock { _ = $0.dropDamaged(hash, place.entry) } }
        countMiss()
        return nil
      }
    }
    if countsUse { countMiss() }
    return nil
  }

  // MARK: - Heads

  /// Returns the heads of the entries for some keys.
  ///
  /// A head has the body only if that is not written yet. Reads headers and metadata, on the caller's thread if the
  /// system has them in memory, all others on one thread that may wait. Does not verify the bodies. Does not count as
  /// use. Complexity: O(k) for k keys.
  public func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    await opened()
    var heads = [CachedDataHead?](repeating: nil, count: keys.count)
    var pending = Array(keys.indices)
    // A compaction may move records meanwhile. The second look then finds them.
    for attempt in 0..<3 where !pending.isEmpty {
      // The page cache may hold the state before a move, so only the first attempt reads it.
      let waiting = lookUp(keys, pending, cached: attempt == 0, &heads)
      guard !waiting.isEmpty else { break }
      let (folder, asked) = (folder, waiting)
      let read = try? await reading.run(priority: .high) { _ in
        asked.map { folder.head(at: $0.place, of: keys[$0.number]) }
      }
      // The task was cancelled, or no thread was available.
      guard let read else { break }
      pending = []
      for (asked, head) in zip(asked, read) {
        if case .found(let head) = head {
          heads[asked.number] = head.renewed(by: asked.renewal)
        } else if isOutdated(asked.place) {
          pending.append(asked.number)
        }
      }
    }
    return heads
  }

  private typealias Waiting = (number: Int, place: DiskFolder.Place, renewal: StagedView?)

  /// Finds the heads in memory and in the page cache, and returns the places of the others.
  // Not inlined: an `async` function keeps room for all of its values, and its task an allocation.
  @inline(never)
  private func lookUp(_ keys: [CacheKey], _ all: [Int], cached: Bool, _ heads: inout [CachedDataHead?]) -> [Waiting] {
    let secret = shared.withLock { $0.secret }
    var waiting: [Waiting] = []
    for number in all {
      switch find(keys[number], keys[number].hash(under: secret), countsUse: false) {
      case .missing: continue
      case .staged(let data): heads[number] = CachedDataHead(data)
      case .stored(let place, let renewal):
        if cached, case .found(let head) = folder.head(at: place, of: keys[number], cachedOnly: true) {
          heads[number] = head.renewed(by: renewal)
        } else {
          waiting.append((number, place, renewal))
        }
      }
    }
    return waiting
  }

  /// Returns a Boolean value that indicates whether a key has an entry.
  ///
  /// Does not count as use and reads nothing.
  public func contains(_ key: CacheKey) async -> Bool {
    if case .missing = find(key, await hash(of: key), countsUse: false) { return false }
    return true
  }

  // MARK: - The shared state

  private func find(_ key: CacheKey, _ hash: KeyHash, countsUse: Bool) -> Finding {
    // Read before the lock is taken, since a custom clock may run any code.
    let oldest = options.lifetime.map { clock.now.timeIntervalSinceReferenceDate - $0 / .seconds(1) } ?? -.infinity
    return shared.withLock { state in
      let view = state.staged[hash]
      switch view?.content {
      case .put(let stagedKey, let data)
      where stagedKey == key && data.stored.timeIntervalSinceReferenceDate > oldest:
        if countsUse {
          state.hits += 1
          state.tick &+= 1
          state.staged[hash]?.lastUse = state.tick
          state.staged[hash]?.hits &+= 1
        }
        return .staged(data)
      case .put, .remove:
        return .missing
      case .renew, nil:
        guard let place = state.place(of: hash), place.entry.stored > oldest else { return .missing }
        return .stored(place, view)
      }
    }
  }

  private func used(_ data: CachedData, _ hash: KeyHash, _ renewal: StagedView?) -> CachedData {
    shared.withLock { state in
      state.hits += 1
      state.touch(hash)
    }
    return data.renewed(by: renewal)
  }

  private func countMiss() { shared.withLock { $0.misses += 1 } }

  private func isOutdated(_ place: DiskFolder.Place) -> Bool {
    shared.withLock { state in
      guard state.staged[place.hash] == nil, let now = state.index[place.hash] else { return true }
      return (now.record, now.revision) != (place.entry.record, place.entry.revision)
    }
  }
}

extension DiskCache: WarmDataCaching {
  /// Looks for the entry among staged entries and in the system's page cache.
  ///
  /// The result is unknown while the folder is being opened.
  package func warmEntry(for key: CacheKey) -> WarmEntry {
    let secret = shared.withLock { $0.phase == .opening ? nil : $0.secret }
    guard let secret else { return .unknown }
    let hash = key.hash(under: secret)
    switch find(key, hash, countsUse: true) {
    case .missing: return .missing
    case .staged(let data): return .entry(data)
    case .stored(let place, let renewal):
      // Most hits are in the page cache, and waking a thread would cost more than reading them.
      guard place.entry.record.length <= Self.inlineLength, !place.entry.isSpilled,
        case .found(let data) = folder.entry(at: place, of: key, cachedOnly: true)
      else { return .unknown }
      return .entry(used(data, hash, renewal))
    }
  }
}

/// An entry or a head, which a renewal changes.
private protocol Renewable {
  var expires: Date? { get set }
  var metadata: Data { get set }
}

extension CachedData: Renewable {}
extension CachedDataHead: Renewable {}

extension Renewable {
  /// Returns the same with a renewal that is not written yet.
  fileprivate func renewed(by view: StagedView?) -> Self {
    guard case .renew(_, let expires, let metadata) = view?.content else { return self }
    var renewed = self
    (renewed.expires, renewed.metadata) = (Date(expirySeconds: expires), metadata)
    return renewed
  }
}
