import VitrineRuntime

/// One remote tier: a cache behind deadlines, a circuit breaker and a queue of writes.
final class RemoteTier: Sendable {
  private struct State {
    var breaker: CircuitBreaker
    var queue: TierQueue
    var counts: TieredDataCache.TierStatistics
    /// The number of calls under way.
    var callCount = 0
    /// The number of calls that may be made a second time.
    var hedges = State.mostHedges
    /// True if the queue is looked at when the breaker allows a trial.
    var isWakeSet = false
    /// Those who wait until nothing is queued.
    var idleWaiters: [Deferred<Void>] = []
    /// Those who wait until nothing is queued for a key.
    var keyWaiters: [CacheKey: [Deferred<Void>]] = [:]

    /// A tenth of the calls may be made twice, and some more at first.
    static let (mostHedges, hedgeShare) = (10.0, 0.1)

    mutating func takeHedge() -> Bool {
      guard hedges >= 1, breaker.state == .closed else { return false }
      hedges -= 1
      counts.hedges += 1
      return true
    }

    /// Takes those who have waited long enough, as far as one key is concerned, or all for `nil`.
    mutating func takeWaiters(_ key: CacheKey?) -> [Deferred<Void>] {
      guard let key, breaker.trialTime == nil else {
        defer { (idleWaiters, keyWaiters) = ([], [:]) }
        return idleWaiters + keyWaiters.values.joined()
      }
      var taken = queue.isBusy(key) ? [] : keyWaiters.removeValue(forKey: key) ?? []
      if queue.isEmpty {
        taken += idleWaiters
        idleWaiters = []
      }
      return taken
    }
  }

  private enum Outcome<Value: Sendable>: Sendable {
    case value(Value)
    case failed(any Error)
    case timedOut
    case cancelled
  }

  private let cache: any FallibleDataCaching
  let limits: TieredDataCache.RemoteLimits
  private let clock: any TimeSource
  let stepper: (any TaskExecutor)?
  private let state: Lock<State>

  init(
    _ cache: any DataCaching,
    name: String,
    _ limits: TieredDataCache.RemoteLimits,
    _ clock: any TimeSource,
    _ stepper: (any TaskExecutor)?,
  ) {
    self.cache = cache as? any FallibleDataCaching ?? UnfailingDataCache(cache: cache)
    (self.limits, self.clock, self.stepper) = (limits, clock, stepper)
    let backOffs = limits.backOff...max(limits.backOff, limits.maxBackOff)
    state = Lock(
      State(
        breaker: CircuitBreaker(failureLimit: limits.failureLimit, backOffs: backOffs),
        queue: TierQueue(limits),
        counts: TieredDataCache.TierStatistics(name: name, isRemote: true),
      )
    )
  }

  /// The cache, if it keeps leases.
  var leases: (any KeyLeasing)? { cache as? any KeyLeasing }

  var statistics: TieredDataCache.TierStatistics {
    state.withLock { state in
      var counts = state.counts
      counts.breaker = state.breaker.state
      counts.droppedWrites += state.queue.droppedWrites
      counts.droppedRemovals += state.queue.droppedRemovals
      counts.queuedWrites = state.queue.writeCount
      counts.queuedBytes = state.queue.byteCount
      counts.queuedRemovals = state.queue.removalCount
      return counts
    }
  }

  // MARK: Reading

  /// Returns the entry for a key; `isPeeking` if it must not count.
  func entry(for key: CacheKey, isPeeking: Bool) async -> CachedData? {
    let entry = await known(key, isPeeking: isPeeking)
    state.withLock { state in
      if entry == nil { state.counts.misses += 1 } else { state.counts.hits += 1 }
    }
    return entry
  }

  private func known(_ key: CacheKey, isPeeking: Bool) async -> CachedData? {
    switch state.withLock({ $0.queue.pending(key) }) {
    case .stored(let entry): return entry
    case .removed: return nil
    case .none, .renewed: break
    }
    let found = await attempt(within: limits.bodyDeadline) { [cache] in
      isPeeking ? try await cache.peekOrRead(key) : try await cache.read(key)
    } size: {
      $0?.data.count ?? 0
    }
    guard var entry = found ?? nil else { return nil }
    // A removal that has come meanwhile wins, and so does a renewal.
    switch state.withLock({ $0.queue.pending(key) }) {
    case .none: return entry
    case .stored(let newer): return newer
    case .removed: return nil
    case .renewed(entry.contentID, let expires, let metadata):
      (entry.expires, entry.metadata) = (expires, metadata)
      return entry
    case .renewed: return entry
    }
  }

  /// Returns the heads for some keys.
  func heads(for keys: [CacheKey]) async -> [CachedDataHead?] {
    let pending = state.withLock { state in keys.map { state.queue.pending($0) } }
    let asked = zip(keys, pending).compactMap { key, pending in
      switch pending {
      case .none, .renewed: key
      case .stored, .removed: nil
      }
    }
    var answers: [CachedDataHead?] = []
    if !asked.isEmpty {
      answers = await attempt(within: limits.headDeadline) { [cache] in try await cache.readHeads(of: asked) } ?? []
      // A cache that returns too few heads tells nothing.
      if answers.count != asked.count { answers = Array(repeating: nil, count: asked.count) }
    }
    var found = zip(asked, answers).makeIterator()
    let heads = zip(keys, pending).map { key, pending -> CachedDataHead? in
      switch pending {
      case .stored(let entry): return CachedDataHead(entry)
      case .removed: return nil
      case .none, .renewed:
        guard var head = found.next()?.1 else { return nil }
        switch state.withLock({ $0.queue.pending(key) }) {
        case .none: return head
        case .stored(let newer): return CachedDataHead(newer)
        case .removed: return nil
        case .renewed(head.contentID, let expires, let metadata):
          (head.expires, head.metadata) = (expires, metadata)
          return head
        case .renewed: return head
        }
      }
    }
    state.withLock { state in
      let count = heads.count { $0 != nil }
      state.counts.headHits += count
      state.counts.headMisses += heads.count - count
    }
    return heads
  }

  /// Returns the entries of the cache; none while the breaker is open.
  func entries() async -> [DataCacheEntry] {
    state.withLock { $0.breaker.state } == .closed ? await cache.entries() : []
  }

  func cacheStatistics() async -> DataCacheStatistics {
    guard state.withLock({ $0.breaker.state }) == .closed,
      case .value(let statistics) = await run(within: limits.bodyDeadline, { [cache] in await cache.statistics() }).0
    else { return DataCacheStatistics() }
    return statistics
  }

  // MARK: Writing

  func store(_ entry: CachedData, for key: CacheKey) {
    change { queue, loose, _ in queue.store(entry, for: key, &loose) }
  }

  /// Renews an entry; `waiter` learns whether it had that content.
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

  /// Waits for what was added with `waiter`, as long as a write may take.
  func outcome(of waiter: Deferred<Bool>) async -> Bool {
    let alarm = clock.schedule(after: limits.writeDeadline) { waiter.resolve(false) }
    defer { alarm.cancel() }
    return await withTaskCancellationHandler {
      await waiter.value()
    } onCancel: {
      waiter.resolve(false)
    }
  }

  /// Waits until what is queued is written, or the breaker opens.
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

  /// Waits until nothing is queued for a key, as long as a write may take, or the breaker opens.
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
      // Nobody waits for a tier that is left alone.
      if state.breaker.trialTime != nil { state.queue.takeWaiters(&loose) }
    }
    loose.resolve()
    pump()
  }

  /// Starts what may be written now.
  private func pump() {
    while true {
      let now = clock.uptime
      var wait: Duration?
      let next = state.withLock { state -> (TierQueue.Work, CircuitBreaker.Ticket, others: Int)? in
        guard state.queue.hasNext else { return nil }
        guard let ticket = state.breaker.admit(at: now) else {
          if let time = state.breaker.trialTime, !state.isWakeSet {
            state.isWakeSet = true
            wait = time - now
          }
          return nil
        }
        guard let work = state.queue.next() else {
          state.breaker.forget(ticket, at: now)
          return nil
        }
        state.callCount += 1
        return (work, ticket, state.callCount - 1)
      }
      if let wait { wake(after: wait) }
      guard let (work, ticket, others) = next else { return }
      Task(executorPreference: stepper) { await self.carryOut(work, ticket, behind: others) }
    }
  }

  /// Looks at the queue when the breaker allows a trial.
  private func wake(after delay: Duration) {
    clock.schedule(after: delay) { [weak self] in
      guard let self else { return }
      state.withLock { $0.isWakeSet = false }
      pump()
    }
  }

  private func carryOut(_ work: TierQueue.Work, _ ticket: CircuitBreaker.Ticket, behind others: Int) async {
    let began = clock.uptime
    let (outcome, task) = await run(within: limits.writeDeadline) { [cache] in
      switch work {
      case .one(let key, .store(let entry, _)): try await cache.write(entry, for: key)
      case .one(let key, .renew(let contentID, let expires, let metadata)):
        return try await cache.rewrite(key, contentID: contentID, expires: expires, metadata: metadata)
      case .one(let key, .remove): try await cache.erase(key)
      case .sweep(.extending(let key)): try await cache.erase(extending: key)
      case .sweep(.all): try await cache.eraseAll()
      }
      return true
    }
    settle(outcome, ticket, isSlow: work.isBounded && isSlow(since: began, work.byteCount, behind: others))
    // One that is late may still be done, so nothing else happens to its key until it has ended.
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

  // MARK: Calling

  /// Calls the cache; `nil` if the breaker did not allow that, or the call failed.
  func attempt<Value: Sendable>(
    within limit: Duration,
    hedges: Bool = true,
    _ body: @escaping @Sendable () async throws -> Value,
    size: (Value) -> Int = { _ in 0 },
  ) async -> Value? {
    let now = clock.uptime
    let (ticket, others) = state.withLock { state in
      let ticket = state.breaker.admit(at: now)
      if ticket == nil { state.counts.skipped += 1 } else { state.callCount += 1 }
      state.hedges = min(State.mostHedges, state.hedges + State.hedgeShare)
      return (ticket, state.callCount - 1)
    }
    guard let ticket else { return nil }
    let (outcome, task) = await run(within: limit, hedges: hedges, body)
    guard case .value(let value) = outcome else {
      task.cancel()
      settle(outcome, ticket, isSlow: false)
      return nil
    }
    settle(outcome, ticket, isSlow: isSlow(since: now, size(value), behind: others))
    return value
  }

  /// Runs a call, and returns when it has ended, its time is over or the caller is cancelled, whatever comes first.
  ///
  /// One that is slow is made a second time if `hedges` is true, and the first answer counts: where few answers are slow,
  /// two of them seldom are.
  private func run<Value: Sendable>(
    within limit: Duration,
    hedges: Bool = false,
    _ body: @escaping @Sendable () async throws -> Value,
  ) async -> (Outcome<Value>, Task<Value, any Error>) {
    let outcome = Deferred<Outcome<Value>>()
    let alarm = clock.schedule(after: limit) { outcome.resolve(.timedOut) }
    defer { alarm.cancel() }
    let task = Task(executorPreference: stepper) {
      do {
        let value = try await body()
        outcome.resolve(.value(value))
        return value
      } catch {
        outcome.resolve(.failed(error))
        throw error
      }
    }
    guard hedges, limits.slowLimit < limit else {
      return await withTaskCancellationHandler {
        (await outcome.value(), task)
      } onCancel: {
        outcome.resolve(.cancelled)
      }
    }
    let second = Lock<Task<Void, Never>?>(nil)
    let starter = clock.schedule(after: limits.slowLimit) { [stepper, state] in
      guard state.withLock({ $0.takeHedge() }) else { return }
      let call = Task(executorPreference: stepper) {
        // Its failure says nothing, as the first may still succeed.
        if let value = try? await body() { outcome.resolve(.value(value)) }
      }
      second.withLock { $0 = call }
    }
    let result = await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      outcome.resolve(.cancelled)
    }
    starter.cancel()
    second.withLock { $0 }?.cancel()
    if case .value = result { task.cancel() }
    return (result, task)
  }

  /// Returns if a call was slow, allowing for those that were under way when it began.
  private func isSlow(since began: Duration, _ byteCount: Int, behind others: Int) -> Bool {
    clock.uptime - began > limits.slowLimit + .milliseconds(byteCount >> 16) + .microseconds(500 * others)
  }

  /// Counts the outcome of a call, and tells the breaker.
  private func settle<Value>(_ outcome: Outcome<Value>, _ ticket: CircuitBreaker.Ticket, isSlow: Bool) {
    let now = clock.uptime
    let description = if case .failed(let error) = outcome { "\(error)" } else { "no answer in time" }
    let isRefusal = if case .failed(let error) = outcome { Self.isRefusal(error) } else { false }
    var loose = TierQueue.Loose()
    let idle = state.withLock { state -> [Deferred<Void>] in
      var hasOpened = false
      state.callCount -= 1
      switch outcome {
      case .value where isSlow:
        state.counts.slowCalls += 1
        hasOpened = state.breaker.tarry(ticket, at: now)
      case .value: state.breaker.succeed(ticket)
      case .cancelled: state.breaker.forget(ticket, at: now)
      case .failed:
        state.counts.lastFailure = description
        if isRefusal {
          state.counts.refusals += 1
          state.breaker.succeed(ticket)
        } else {
          state.counts.errors += 1
          hasOpened = state.breaker.fail(ticket, at: now)
        }
      case .timedOut:
        state.counts.timeOuts += 1
        state.counts.lastFailure = description
        hasOpened = state.breaker.fail(ticket, at: now)
      }
      guard hasOpened else { return [] }
      state.counts.openings += 1
      state.queue.takeWaiters(&loose)
      return state.takeWaiters(nil)
    }
    loose.resolve()
    for waiter in idle { waiter.resolve(()) }
    // A trial may have let those in that waited for its end.
    if ticket.isTrial { pump() }
  }

  private static func isRefusal(_ error: any Error) -> Bool { (error as? any DataCacheFailure)?.isRefusal ?? false }
}
