public import VitrineRuntime

/// A loader that sends requests within a ``RateLimit``, per host and in total.
///
/// Further requests wait.
///
/// ```swift
/// let perHost = RateLimit(requestsPerSecond: 5)
/// let polite = RateLimitedLoader(CurlLoader(), RateLimit(requestsPerSecond: 50), perHost: perHost)
/// ```
/// The most urgent load is sent first, the oldest among equals. A load that is cancelled while it waits takes no token.
/// Redirects and answers to challenges are part of their load. Inside a ``RetryingLoader`` each attempt takes a token;
/// around one, a load takes one token for all attempts.
public final class RateLimitedLoader: DataLoader {
  // The clock, the wrapped loader and sinks belong to callers, and are neither called nor released under the lock.
  private struct State {
    var queue: AdmissionQueue<ObjectIdentifier>
    var loads: [ObjectIdentifier: RateLimitedLoad] = [:]
    /// The time of the alarm for the next load, and the alarm once the clock has it.
    var due: Duration?
    var alarm: ScheduledAction?
  }

  let loader: any DataLoader
  private let clock: any TimeSource
  private let state: Lock<State>

  /// Wraps a loader.
  ///
  /// - Parameters:
  ///   - loader: The wrapped loader.
  ///   - limit: The limit for all loads together. Defaults to none.
  ///   - hostLimit: The limit for the loads of one host, across schemes and ports. Defaults to none.
  ///   - clock: The clock for waits. Defaults to the system clock.
  public init(
    _ loader: any DataLoader,
    _ limit: RateLimit? = nil,
    perHost hostLimit: RateLimit? = nil,
    clock: any TimeSource = .system,
  ) {
    (self.loader, self.clock) = (CheckedLoader.checking(loader), clock)
    state = Lock(State(queue: AdmissionQueue(rate: limit, hostRate: hostLimit, hostsTakeTurns: false)))
  }

  /// Starts a load if there are tokens, or queues it, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = RateLimitedLoad(request, sink, of: self)
    let id = ObjectIdentifier(load)
    state.withLock { state in
      state.queue.add(id, host: request.url.host, priority: load.priority)
      state.loads[id] = load
    }
    run()
    if state.withLock({ $0.loads[id] != nil }) { load.noteWait() }
    return load
  }

  /// Returns whether the wrapped loader obeys the guard.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { loader.obeys(addressGuard) }

  /// Removes a load, if it is waiting.
  func remove(_ load: RateLimitedLoad) {
    let id = ObjectIdentifier(load)
    let (alarm, _) = state.withLock { state -> (ScheduledAction?, RateLimitedLoad?) in
      guard state.queue.remove(id) else { return (nil, nil) }
      if state.queue.waitingCount == 0 { state.due = nil }
      return (state.due == nil ? state.alarm.take() : nil, state.loads.removeValue(forKey: id))
    }
    alarm?.cancel()
  }

  /// Reorders a load by its current priority, if it is waiting.
  func reprioritize(_ load: RateLimitedLoad) {
    state.withLock { $0.queue.reprioritize(ObjectIdentifier(load), load.priority) }
  }

  /// Returns the tokens of a load that was admitted and not sent.
  func giveBack(_ load: RateLimitedLoad) {
    state.withLock { $0.queue.giveBack(host: load.request.url.host) }
    run()
  }

  /// Starts the loads that may be sent, one by one, and sets the alarm for the next.
  private func run() {
    while true {
      let now = clock.uptime
      let (load, due, older) = state.withLock { state -> (RateLimitedLoad?, Duration?, ScheduledAction?) in
        if let id = state.queue.admit(now: now) { return (state.loads.removeValue(forKey: id), nil, nil) }
        guard let due = state.queue.due(now: now), due != state.due else { return (nil, nil, nil) }
        state.due = due
        return (nil, due, state.alarm.take())
      }
      older?.cancel()
      if let due { setAlarm(due, after: max(due - now, .zero)) }
      guard let load else { return }
      load.start()
    }
  }

  private func setAlarm(_ due: Duration, after delay: Duration) {
    let action = clock.schedule(after: delay) { self.ring(due) }
    let isLate = state.withLock { state in
      if state.due == due { state.alarm = action }
      return state.due != due
    }
    if isLate { action.cancel() }
  }

  private func ring(_ due: Duration) {
    // The alarm is released without the lock.
    _ = state.withLock { state -> ScheduledAction? in
      guard state.due == due else { return nil }
      state.due = nil
      return state.alarm.take()
    }
    run()
  }
}
