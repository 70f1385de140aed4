import VitrineRuntime

/// The shared state, on behalf of a caller.
extension DiskCache {
  enum Finding {
    case missing
    case staged(CachedData)
    case stored(DiskEntry, Segment, renewalIn: Segment?, StagedView?)
  }

  func opened() async {
    let waiter: Deferred<Void>? = shared.withLock { state in
      guard state.phase == .opening else { return nil }
      let waiter = Deferred<Void>()
      // Within the lock, so that the end of the opening cannot slip in between.
      self.waiters.withLock { $0.opening.append(waiter) }
      return waiter
    }
    await waiter?.value()
  }

  func hash(of key: CacheKey) async -> KeyHash {
    await opened()
    return key.hash(under: shared.withLock { $0.secret })
  }

  func isOver(_ stored: Date, _ now: Double) -> Bool {
    guard let lifetime = options.lifetime else { return false }
    return stored.timeIntervalSinceReferenceDate + lifetime / .seconds(1) <= now
  }

  func find(_ key: CacheKey, _ hash: KeyHash) -> Finding {
    let now = clock.now.timeIntervalSinceReferenceDate
    return shared.withLock { state in
      let view = state.staged[hash]
      switch view?.content {
      case .entry(let stagedKey, let data) where stagedKey == key && !self.isOver(data.stored, now):
        state.hits += 1
        state.tick &+= 1
        state.staged[hash]?.lastUse = state.tick
        state.staged[hash]?.hits &+= 1
        return .staged(data)
      case .entry, .removed:
        state.misses += 1
        return .missing
      case .renewal, nil:
        break
      }
      guard
        let entry = state.index[hash], let segment = state.segments[entry.segment],
        !self.isOver(Date(timeIntervalSinceReferenceDate: entry.stored), now)
      else {
        state.misses += 1
        return .missing
      }
      return .stored(entry, segment, renewalIn: state.segments[entry.renewalSegment], view)
    }
  }

  /// The content of what is kept, without counting it as used.
  func peek(_ key: CacheKey, _ hash: KeyHash) async -> (contentID: ContentID, sequence: UInt64)? {
    let (view, entry, segment) = shared.withLock { state in
      let entry = state.index[hash]
      return (state.staged[hash], entry, entry.flatMap { state.segments[$0.segment] })
    }
    if let view, case .entry(let stagedKey, let data) = view.content {
      return stagedKey == key ? (data.contentID, view.entrySequence) : nil
    }
    guard let entry, let segment else { return nil }
    let folder = folder
    let identity = try? await reading.run(priority: .high) { _ in
      folder.identity(of: entry, hash: hash, in: segment)
    }
    guard let identity, key.hasBytes(identity.key) else { return nil }
    return (identity.contentID, entry.sequence)
  }

  func used(_ data: CachedData, _ hash: KeyHash, _ view: StagedView?) -> CachedData {
    var data = data
    if case .renewal(_, let expires, let metadata) = view?.content {
      data.expires = expires == .infinity ? nil : Date(timeIntervalSinceReferenceDate: expires)
      data.metadata = metadata
    }
    return count(data, hash) ?? data
  }

  func count(_ data: CachedData?, _ hash: KeyHash) -> CachedData? {
    shared.withLock { state in
      if data == nil {
        state.misses += 1
      } else {
        state.hits += 1
        state.touch(hash)
      }
    }
    return data
  }

  func isOutdated(_ entry: DiskEntry, _ hash: KeyHash) -> Bool {
    shared.withLock { state in
      guard state.staged[hash] == nil, let now = state.index[hash] else { return true }
      return (now.segment, now.offset, now.revision) != (entry.segment, entry.offset, entry.revision)
    }
  }

  func dropDamaged(_ entry: DiskEntry, _ hash: KeyHash) {
    shared.withLock { state in
      guard let now = state.index[hash], now.segment == entry.segment, now.offset == entry.offset else { return }
      state.damaged += 1
      state.drop(hash)
      // Else an older version might come back after a crash.
      if !state.isReader { state.owedRemovals[hash] = now.removalSequence }
    }
  }

  /// Stages what `decide` says, with the lock held; returns whether it said something.
  @discardableResult
  func stage(
    _ hash: KeyHash,
    _ decide: (DiskState) -> (DiskOperation, StagedView.Content)?,
  ) -> Bool {
    let uptime = clock.uptime
    let (isStaged, isDue) = shared.withLock { state -> (Bool, Bool) in
      guard state.phase == .open, let (operation, content) = decide(state) else { return (false, false) }
      // An entry's removal in another lane has the number before its own.
      state.sequence += 1
      let sequence = state.nextSequence()
      if let retry = state.retryUptime, uptime < retry, !state.isReader {
        // The disk refuses: what is not kept must at least not leave an older one in its place.
        if case .renew = operation { return (false, false) }
        if state.drop(hash) != nil { state.owedRemovals[hash] = sequence }
        return (true, false)
      }
      state.tick &+= 1
      var view = StagedView(sequence: sequence, entrySequence: 0, content: content, lastUse: state.tick, hits: 1)
      if case .renew(let target, _, _) = operation { view.entrySequence = target }
      if case .put = operation {
        view.entrySequence = sequence
        // What replaces an entry inherits its uses.
        view.hits = (state.staged[hash]?.hits ?? state.index[hash]?.hits ?? 0) &+ 1
      }
      let staged = StagedOperation(hash: hash, sequence: sequence, operation: operation)
      state.stage(staged, view)
      if state.isReader {
        state.forgetOldestStaged(over: self.options.stagingLimit)
        return (true, false)
      }
      defer { state.isDraining = true }
      return (true, !state.isDraining)
    }
    guard isDue else { return isStaged }
    let isEnqueued = enqueue { [writer, waiters] in
      writer.drain()
      Self.resolve(waiters, \.room)
    }
    if !isEnqueued {
      shared.withLock { $0.isDraining = false }
      Self.resolve(waiters, \.room)
    }
    return isStaged
  }

  static func resolve(_ waiters: Lock<Waiters>, _ which: WritableKeyPath<Waiters, [Deferred<Void>]>) {
    let waiting = waiters.withLock { waiters in
      defer { waiters[keyPath: which].removeAll() }
      return waiters[keyPath: which]
    }
    for waiter in waiting { waiter.resolve(()) }
  }

  func waitForRoom() async {
    let waiter: Deferred<Void>? = shared.withLock { state in
      guard state.stagedBytes > self.options.stagingLimit, state.isDraining else { return nil }
      let waiter = Deferred<Void>()
      // Within the lock, so that the drain that makes room has not ended yet.
      self.waiters.withLock { $0.room.append(waiter) }
      return waiter
    }
    await waiter?.value()
  }

  /// Returns whether the system had a thread to give; without one there is no cache, and the caller gets misses.
  func enqueue(_ work: @escaping @Sendable () -> Void) -> Bool {
    (try? writing.enqueue { _ in work() }) != nil
  }

  @discardableResult
  func onWriter<Answer: Sendable>(_ work: @escaping @Sendable (DiskWriter) -> Answer) async -> Answer? {
    let answer = Deferred<Answer?>()
    let writer = writer
    do {
      try writing.enqueue { _ in answer.resolve(work(writer)) }
    } catch {
      answer.resolve(nil)
    }
    return await answer.value()
  }
}

/// What was read, or that it is damaged.
struct ReadAnswer: Sendable {
  var found: (key: [UInt8], data: CachedData, attributes: RecordAttributes)?
}
