import VitrineRuntime

/// Access to the shared state on behalf of a caller.
extension DiskCache {
  /// Waits until the folder is open, and returns `true` if it had to wait.
  @discardableResult
  func opened() async -> Bool {
    await wait { $0.phase == .opening }
  }

  /// Waits while the state demands it, and returns whether it did.
  @discardableResult
  func wait(while isDue: (DiskState) -> Bool) async -> Bool {
    var hasWaited = false
    while let waiter = waiter(if: isDue) {
      await waiter.value()
      hasWaited = true
    }
    return hasWaited
  }

  private func waiter(if isDue: (DiskState) -> Bool) -> Deferred<Void>? {
    shared.withLock { state in
      guard isDue(state) else { return nil }
      let waiter = Deferred<Void>()
      // Within the lock, so that the end of the wait cannot come in between.
      waiters.withLock { $0.append(waiter) }
      return waiter
    }
  }

  func hash(of key: CacheKey) async -> KeyHash {
    await opened()
    return key.hash(under: shared.withLock { $0.secret })
  }

  /// Stages the operation that `decide` returns with the lock held, and returns `false` if it returned none.
  @discardableResult
  func stage(
    _ hash: KeyHash,
    _ decide: (DiskState) -> (operation: DiskOperation, view: DiskOperation)?,
  ) -> Bool {
    let uptime = clock.uptime
    // Replaced and forgotten entries are released without the lock.
    let (isStaged, isDue, _) = shared.withLock { state -> (Bool, Bool, Displaced) in
      guard state.phase == .open, let (operation, content) = decide(state) else { return (false, false, (nil, [])) }
      // The removal of an entry from its other lane takes the sequence before its own.
      state.sequence += 1
      let sequence = state.nextSequence()
      if let retry = state.retryUptime, uptime < retry, !state.isReader {
        // The disk is failing. If an entry cannot be stored, an older one must not remain in its place.
        if case .renew = operation { return (false, false, (nil, [])) }
        if state.drop(hash) != nil { state.owedRemovals[hash] = sequence }
        return (true, false, (nil, []))
      }
      state.tick &+= 1
      var view = StagedView(sequence: sequence, entrySequence: 0, content: content, lastUse: state.tick, hits: 1)
      if case .renew(let target, _, _) = operation { view.entrySequence = target }
      if case .put = operation {
        view.entrySequence = sequence
        // A replacement inherits the uses.
        view.hits = (state.staged[hash]?.hits ?? state.index[hash]?.hits ?? 0) &+ 1
      }
      let staged = StagedOperation(hash: hash, sequence: sequence, operation: operation)
      var left: Displaced = (nil, [])
      left.view = state.stage(staged, view)
      if state.isReader {
        left.forgotten = state.forgetOldestStaged(over: self.options.stagingLimit)
        return (true, false, left)
      }
      defer { state.isDraining = true }
      return (true, !state.isDraining, left)
    }
    guard isDue else { return isStaged }
    let isEnqueued = enqueue { [writer, waiters] in
      writer.drain()
      Self.resolve(waiters)
    }
    if !isEnqueued {
      shared.withLock { $0.isDraining = false }
      Self.resolve(waiters)
    }
    return isStaged
  }

  /// Wakes all callers, which look at the state again.
  static func resolve(_ waiters: Lock<[Deferred<Void>]>) {
    let waiting = waiters.withLock { waiters in
      defer { waiters = [] }
      return waiters
    }
    for waiter in waiting { waiter.resolve(()) }
  }

  /// Enqueues work and returns `false` if the system has no thread for it, in which case every look-up is a miss.
  func enqueue(_ work: @escaping @Sendable () -> Void) -> Bool {
    (try? writer.writing.enqueue { _ in work() }) != nil
  }

  @discardableResult
  func onWriter<Answer: Sendable>(_ work: @escaping @Sendable (DiskWriter) -> Answer) async -> Answer? {
    let answer = Deferred<Answer?>()
    let writer = writer
    do {
      try writer.writing.enqueue { _ in answer.resolve(work(writer)) }
    } catch {
      answer.resolve(nil)
    }
    return await answer.value()
  }
}

private typealias Displaced = (view: StagedView?, forgotten: [(StagedOperation, StagedView?)])
