import VitrineCaching
import VitrineRuntime

/// A remote tier: a cache behind deadlines, a circuit breaker and a queue of writes.
///
/// This file has the common part of all calls. See `RemoteTier+Reading` for look-ups and `RemoteTier+Writing` for
/// changes.
final class RemoteTier: Sendable {
  struct State {
    var breaker: CircuitBreaker
    var queue: TierQueue
    var counts: TieredDataCache.TierStatistics
    var heads: Pace
    var bodies: Pace
    var writes: Pace
    /// The number of calls with a waiting caller.
    var callCount = 0
    /// The number of calls that may be repeated, and its growth with each call.
    private var hedges: Double
    private let hedgeShare: Double
    /// The number of the scheduled wake-up, at which the breaker may allow a trial; below it, the last number.
    var wake: Int?
    var lastWake = 0
    /// The callers that wait for an empty queue.
    var idleWaiters: [Deferred<Void>] = []
    /// The callers that wait until the queue has no operation for a key.
    var keyWaiters: [CacheKey: [Deferred<Void>]] = [:]

    init(_ limits: TieredDataCache.RemoteLimits, name: String) {
      let backOffs = limits.backOff...max(limits.backOff, limits.maxBackOff)
      breaker = CircuitBreaker(failureLimit: limits.failureLimit, backOffs: backOffs)
      queue = TierQueue(limits)
      counts = TieredDataCache.TierStatistics(name: name, isRemote: true)
      heads = Pace(within: limits.headPatience)
      bodies = Pace(within: limits.bodyPatience)
      writes = Pace(within: limits.bodyPatience)
      hedgeShare = min(max(0, limits.hedgeShare), 1)
      hedges = hedgeShare * Self.hedgeMemory
    }

    /// The number of calls whose unused hedges are saved.
    private static let hedgeMemory = 100.0

    mutating func takeHedge() -> Bool {
      guard hedges >= 1, breaker.state == .closed else { return false }
      hedges -= 1
      counts.hedges += 1
      return true
    }

    mutating func earnHedge() { hedges = min(hedgeShare * Self.hedgeMemory, hedges + hedgeShare) }

    /// Begins a call.
    mutating func begin(
      _ kind: Kind,
      _ ticket: CircuitBreaker.Ticket,
      _ limits: TieredDataCache.RemoteLimits,
      _ now: Duration,
    )
      -> Leave
    {
      // The call may take half a millisecond more for each one before it, so that a burst does not open the breaker.
      let more = Duration.microseconds(500 * callCount)
      callCount += 1
      let (pace, most) =
        kind == .head ? (heads, limits.headPatience) : (kind == .body ? bodies : writes, limits.bodyPatience)
      return Leave(kind, ticket, now, min(pace.patience + more, most.upperBound))
    }

    /// Records the time of a call.
    ///
    /// Calls that were running when the breaker opened add no information, and would make a fault look normal.
    mutating func note(_ time: Duration, _ leave: Leave) {
      guard breaker.state == .closed || leave.ticket.isTrial else { return }
      switch leave.kind {
      case .head: heads.note(time)
      case .body: bodies.note(time)
      case .write: writes.note(time)
      }
    }

    /// Takes the waiters whose wait has ended with the operations on one key, or all waiters for `nil`.
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

  let cache: any FallibleDataCaching
  let limits: TieredDataCache.RemoteLimits
  let clock: any TimeSource
  let stepper: (any TaskExecutor)?
  let state: Lock<State>

  init(
    _ cache: any DataCaching,
    name: String,
    _ limits: TieredDataCache.RemoteLimits,
    _ clock: any TimeSource,
    _ stepper: (any TaskExecutor)?,
  ) {
    self.cache = cache as? any FallibleDataCaching ?? UnfailingDataCache(cache: cache)
    (self.limits, self.clock, self.stepper) = (limits, clock, stepper)
    state = Lock(State(limits, name: name))
  }

  /// The cache, if it grants leases.
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

  private func deadline(_ kind: Kind) -> Duration {
    switch kind {
    case .head: limits.headDeadline
    case .body: limits.bodyDeadline
    case .write: limits.writeDeadline
    }
  }

  // MARK: Calling

  /// Calls the cache.
  ///
  /// Returns `nil` if the breaker does not allow that, the call fails, or it takes longer than a caller waits.
  func attempt<Value: Sendable>(
    _ kind: Kind,
    hedges: Bool = false,
    _ body: @escaping @Sendable () async throws -> Value,
  ) async -> Value? {
    switch await call(kind, hedges: hedges, body) {
    case .value(let value): value
    case .none, .later: nil
    }
  }

  /// Calls the cache, and returns when the call has ended, or when the caller's wait is over.
  ///
  /// A call without a waiting caller continues until its deadline, since its time shows the state of the tier. If
  /// `hedges` is `true`, a slow read is made a second time, and the first answer counts: if few answers are slow, two
  /// of them seldom are.
  ///
  /// `late` is called with the result if, and only if, this returns ``RemoteCall/Reply/later``.
  func call<Value: Sendable>(
    _ kind: Kind,
    hedges: Bool = false,
    _ body: @escaping @Sendable () async throws -> Value,
    late: (@Sendable (Value?) async -> Void)? = nil,
  ) async -> RemoteCall<Value>.Reply {
    let (now, limit) = (clock.uptime, deadline(kind))
    let leave = state.withLock { state -> Leave? in
      state.earnHedge()
      guard let ticket = state.breaker.admit(at: now) else {
        state.counts.skipped += 1
        return nil
      }
      return state.begin(kind, ticket, limits, now)
    }
    guard let leave else { return .none }
    let call = RemoteCall<Value>(leave)
    let end = { @Sendable [self] (outcome: Outcome<Value>) in
      guard call.end() else { return }
      settle(outcome, leave)
      let value: Value? = if case .value(let value) = outcome { value } else { nil }
      guard !call.reply.resolve(value.map { .value($0) } ?? .none), let late else { return }
      Task(executorPreference: stepper) { await late(value) }
    }
    call.add(clock.schedule(after: limit) { end(.timedOut) })
    if kind != .write, leave.patience < limit {
      call.add(clock.schedule(after: leave.patience) { [self] in if call.reply.resolve(.later) { tarry(leave) } })
    }
    call.add(
      Task(executorPreference: stepper) {
        do {
          end(.value(try await body()))
        } catch {
          end(.failed(error))
        }
      }
    )
    if hedges {
      call.add(
        clock.schedule(after: leave.patience / 2) { [state, stepper] in
          guard state.withLock({ $0.takeHedge() }) else { return }
          // A failure of the second call is ignored, as the first may still succeed.
          call.add(Task(executorPreference: stepper) { if let value = try? await body() { end(.value(value)) } })
        }
      )
    }
    return await withTaskCancellationHandler {
      await call.reply.value()
    } onCancel: {
      end(.cancelled)
    }
  }

  // MARK: Outcomes

  /// Records that the caller has stopped waiting for a late call.
  func tarry(_ leave: Leave) {
    guard leave.tell() else { return }
    let now = clock.uptime
    // An alarm that is itself late indicates a busy machine, and not a slow tier.
    let isOnTime = now - leave.began <= leave.patience + leave.patience / 4
    tell(leave) { state in
      if leave.depart() { state.callCount -= 1 }
      state.counts.slowCalls += 1
      return state.breaker.tarry(leave.ticket, costing: isOnTime ? leave.patience : .zero, at: now)
    }
  }

  /// Counts the outcome of a call, and reports it to the breaker, unless the call was already reported as late.
  ///
  /// Each 64 KB of a body allow a millisecond more.
  func settle<Value>(_ outcome: Outcome<Value>, _ leave: Leave, byteCount: Int = 0, isBounded: Bool = true) {
    let now = clock.uptime
    let time = now - leave.began - .milliseconds(byteCount >> 16)
    let isLate = isBounded && time > leave.patience
    let isNews = leave.tell()
    let description = if case .failed(let error) = outcome { "\(error)" } else { "no answer in time" }
    let isRefusal = if case .failed(let error) = outcome { Self.isRefusal(error) } else { false }
    tell(leave) { state in
      if leave.depart() { state.callCount -= 1 }
      switch outcome {
      case .value:
        if isBounded { state.note(time, leave) }
        guard isNews, isLate else {
          if isNews { state.breaker.succeed(leave.ticket) }
          return false
        }
        state.counts.slowCalls += 1
        // No caller waits for a change. For other calls the alarm should have come first, so the alarm itself is late.
        let cost = leave.kind == .write ? CircuitBreaker.failureTime / 4 : .zero
        return state.breaker.tarry(leave.ticket, costing: cost, at: now)
      case .cancelled:
        if isNews { state.breaker.forget(leave.ticket, at: now) }
        return false
      case .failed where isRefusal:
        state.counts.lastFailure = description
        state.counts.refusals += 1
        if isNews { state.breaker.succeed(leave.ticket) }
        return false
      case .failed:
        state.counts.lastFailure = description
        state.counts.errors += 1
      case .timedOut:
        state.counts.lastFailure = description
        state.counts.timeOuts += 1
        state.note(time, leave)
      }
      return isNews && state.breaker.fail(leave.ticket, at: now)
    }
  }

  /// Changes the state by a call.
  ///
  /// `body` returns `true` if that has opened the breaker.
  private func tell(_ leave: Leave, _ body: (inout State) -> Bool) {
    var loose = TierQueue.Loose()
    let idle = state.withLock { state -> [Deferred<Void>] in
      guard body(&state) else { return [] }
      state.counts.openings += 1
      state.queue.takeWaiters(&loose)
      return state.takeWaiters(nil)
    }
    loose.resolve()
    for waiter in idle { waiter.resolve(()) }
    // Writes may have waited for the end of a trial.
    if leave.ticket.isTrial { pump() }
  }

  static func isRefusal(_ error: any Error) -> Bool { (error as? any DataCacheFailure)?.isRefusal ?? false }
}
