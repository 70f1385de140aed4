import VitrineRuntime

/// Access to the shared state on behalf of a caller.
extension DiskCache {
  /// Waits until the folder is open, and returns `true` if it had to wait.
  @discardableResult
  func opened() async -> Bool {
    await wait(\.opening) { $0.phase == .opening }
  }

  /// Waits in one of the lists, if the state demands it, and returns whether it did.
  @discardableResult
  private func wait(
    _ list: WritableKeyPath<Waiters, [Deferred<Void>]>,
    if isDue: (DiskState) -> Bool,
  ) async -> Bool {
    let waiter = shared.withLock { state -> Deferred<Void>? in
      guard isDue(state) else { return nil }
      let waiter = Deferred<Void>()
      // Within the lock, so that the end of the wait cannot come in between.
      self.waiters.withLock { $0[keyPath: list].append(waiter) }
      return waiter
    }
    await waiter?.value()
    return waiter != nil
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
    let (isStaged, isDue, left) = shared.withLock { state -> (Bool, Bool, Displaced) in
      guard state.phase == .open, let (operation, content) = decide(state) else { return (false, false, Displaced()) }
      // The removal of an entry from its other lane takes the sequence before its own.
      state.sequence += 1
      let sequence = state.nextSequence()
      if let retry = state.retryUptime, uptime < retry, !state.isReader {
        // The disk is failing. If an entry cannot be stored, an older one must not remain in its place.
        if case .renew = operation { return (false, false, Displaced()) }
        if state.drop(hash) != nil { state.owedRemovals[hash] = sequence }
        return (true, false, Displaced())
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
      var left = Displaced()
      left.view = state.stage(staged, view)
      if state.isReader {
        left.forgotten = state.forgetOldestStaged(over: self.options.stagingLimit)
        return (true, false, left)
      }
      defer { state.isDraining = true }
      return (true, !state.isDraining, left)
    }
    _ = consume left
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
    await wait(\.room) { $0.stagedBytes > options.stagingLimit && $0.isDraining }
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

private struct Displaced: Sendable {
  var view: StagedView?
  var forgotten: [(StagedOperation, StagedView?)] = []
}
