import VitrineCaching
import VitrineRuntime

/// Changes to a remote tier, which wait in a queue.
extension RemoteTier {
  func store(_ entry: CachedData, for key: CacheKey) {
    change { queue, loose, _ in queue.store(entry, for: key, &loose) }
  }

  /// Renews an entry; `waiter` receives whether it had that content.
  func renew(
    _ key: CacheKey,
    contentID: ContentID,
    expires: Date?,
    metadata: Data,
    _ waiter: Deferred<Bool>?,
  ) {
    change(waiter) { $0.renew(key, contentID, expires, metadata, $2, &$1) }
  }

  func remove(_ key: CacheKey, _ waiter: Deferred<Bool>?) {
    change(waiter) { $0.remove(key, $2, &$1) }
  }

  func sweep(_ sweep: TierQueue.Sweep, _ waiter: Deferred<Bool>?) {
    change(waiter) { $0.sweep(sweep, $2, &$1) }
  }

  /// Waits for the operation with `waiter`, as long as a write may take.
  func outcome(of waiter: Deferred<Bool>) async -> Bool {
    let alarm = clock.schedule(after: limits.writeDeadline) { waiter.resolve(false) }
    defer { alarm.cancel() }
    return await withTaskCancellationHandler {
      await waiter.value()
    } onCancel: {
      waiter.resolve(false)
    }
  }

  /// Waits until the queue is written, or the breaker opens.
  func flush() async {
    let idle = Deferred<Void>()
    let waits = state.withLock { state in
      guard !state.queue.isEmpty, state.breaker.trialTime == nil else { return false }
      state.idleWaiters.append(idle)
      return true
    }
    if waits { await idle.value() }
    if state.withLock({ $0.breaker.state }) == .closed { await cache.flush() }
  }

  /// Waits until the queue has no operation for a key, or the breaker opens, as long as a write may take.
  func settled(_ key: CacheKey) async {
    let waiter = Deferred<Void>()
    let waits = state.withLock { state in
      guard state.queue.isBusy(key), state.breaker.trialTime == nil else { return false }
      state.keyWaiters[key, default: []].append(waiter)
      return true
    }
    guard waits else { return }
    let alarm = clock.schedule(after: limits.writeDeadline) { waiter.resolve(()) }
    await waiter.value()
    alarm.cancel()
  }

  private func change(
    _ waiter: Deferred<Bool>? = nil,
    _ body: (inout TierQueue, inout TierQueue.Loose, Deferred<Bool>?) -> Void,
  ) {
    var loose = TierQueue.Loose()
    state.withLock { state in
      body(&state.queue, &loose, waiter)
      // No caller waits for a tier whose breaker is open.
      if state.breaker.trialTime != nil { state.queue.takeWaiters(&loose) }
    }
    loose.resolve()
    pump()
  }

  /// Starts the writes that may run now.
  func pump() {
    while true {
      let now = clock.uptime
      var wait: (Duration, number: Int)?
      let next = state.withLock { state -> (TierQueue.Work, Leave)? in
        guard state.queue.hasNext else { return nil }
        guard let ticket = state.breaker.admit(at: now) else {
          if let time = state.breaker.trialTime, state.wake == nil {
            state.lastWake += 1
            state.wake = state.lastWake
            wait = (time - now, state.lastWake)
          }
          return nil
        }
        guard let work = state.queue.next() else {
          state.breaker.forget(ticket, at: now)
          return nil
        }
        return (work, state.begin(.write, ticket, limits, now))
      }
      if let (delay, number) = wait { wake(number, after: delay) }
      guard let (work, leave) = next else { return }
      Task(executorPreference: stepper) { await self.carryOut(work, leave) }
    }
  }

  /// Starts writes when the breaker allows a trial.
  private func wake(_ number: Int, after delay: Duration) {
    clock.schedule(after: delay) { [weak self] in
      guard let self else { return }
      let isDue = state.withLock { state in
        // A clock may call twice, and each call would schedule another one.
        guard state.wake == number else { return false }
        state.wake = nil
        return true
      }
      if isDue { pump() }
    }
  }

  private func carryOut(_ work: TierQueue.Work, _ leave: Leave) async {
    // The time starts anew, since a wait for a thread is not the tier's fault.
    let leave = Leave(.write, leave.ticket, clock.uptime, leave.patience)
    let outcome = Deferred<Outcome<Bool>>()
    let alarm = clock.schedule(after: limits.writeDeadline) { outcome.resolve(.timedOut) }
    // A running trial blocks all other calls, and a change may take long.
    let patience = leave.patience + .milliseconds(work.byteCount >> 16)
    let late =
      leave.ticket.isTrial && work.isBounded ? clock.schedule(after: patience) { [self] in tarry(leave) } : nil
    let task = Task(executorPreference: stepper) { [cache] in
      do {
        let answer = try await cache.carryOut(work)
        outcome.resolve(.value(answer))
        return answer
      } catch {
        outcome.resolve(.failed(error))
        throw error
      }
    }
    settle(await outcome.value(), leave, byteCount: work.byteCount, isBounded: work.isBounded)
    alarm.cancel()
    late?.cancel()
    // A late write may still be carried out, so no other operation on its key runs until it has ended.
    task.cancel()
    let ending: TierQueue.Ending
    switch await task.result {
    case .success(let answer): ending = .done(answer)
    case .failure(let error): ending = Self.isRefusal(error) ? .refused : .failed
    }
    var loose = TierQueue.Loose()
    let idle = state.withLock { state -> [Deferred<Void>] in
      if case (.one(_, .store), .done) = (work, ending) { state.counts.writes += 1 }
      state.queue.finish(work, ending, &loose)
      switch work {
      case .one(let key, _): return state.takeWaiters(key)
      case .sweep: return state.queue.isEmpty ? state.takeWaiters(nil) : []
      }
    }
    loose.resolve()
    for waiter in idle { waiter.resolve(()) }
    pump()
  }
}

extension FallibleDataCaching {
  /// Returns `false` if there was no entry to change.
  fileprivate func carryOut(_ work: TierQueue.Work) async throws -> Bool {
    switch work {
    case .one(let key, .store(let entry, _)): try await write(entry, for: key)
    case .one(let key, .renew(let contentID, let expires, let metadata)):
      return try await rewrite(key, contentID: contentID, expires: expires, metadata: metadata)
    case .one(let key, .remove): try await erase(key)
    case .sweep(.extending(let key)): try await erase(extending: key)
    case .sweep(.all): try await eraseAll()
    }
    return true
  }
}
