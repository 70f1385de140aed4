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
  private let gate: RateLimitGate

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
    gate = RateLimitGate(loader, limit, perHost: hostLimit, clock: clock)
  }

  /// Starts a load, or queues it, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = RateLimitedLoad(request, sink, gate)
    gate.add(load)
    return load
  }

  /// Returns whether the wrapped loader obeys the guard.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { gate.loader.obeys(addressGuard) }
}

/// The loads that wait for a token, and the alarm for the next one.
///
/// Clock, loader and sinks belong to callers, and are neither called nor released under the lock. While loads wait, the
/// clock's action retains the gate.
final class RateLimitGate: Sendable {
  private struct Alarm {
    let number: Int
    let due: Duration
    var action: ScheduledAction?
  }

  private struct State {
    var queue: AdmissionQueue<ObjectIdentifier>
    var loads: [ObjectIdentifier: RateLimitedLoad] = [:]
    var alarm: Alarm?
    var lastAlarm = 0
  }

  private enum Step {
    case start(RateLimitedLoad)
    /// A wait for a delay, in place of an older alarm.
    case wait(Duration, number: Int, insteadOf: ScheduledAction?)
    case none
  }

  let loader: any DataLoader
  private let clock: any TimeSource
  private let state: Lock<State>

  init(_ loader: any DataLoader, _ limit: RateLimit?, perHost hostLimit: RateLimit?, clock: any TimeSource) {
    (self.loader, self.clock) = (CheckedLoader.checking(loader), clock)
    state = Lock(State(queue: AdmissionQueue(rate: limit, hostRate: hostLimit, order: .oldestFirst)))
  }

  /// The number of hosts with state.
  var hostCount: Int { state.withLock { $0.queue.hostCount } }

  /// Queues a load, and starts it if there are tokens.
  func add(_ load: RateLimitedLoad) {
    let id = ObjectIdentifier(load)
    state.withLock { state in
      state.queue.add(id, host: load.host, priority: load.priority)
      state.loads[id] = load
    }
    run()
    if state.withLock({ $0.loads[id] != nil }) { load.noteWait() }
  }

  /// Removes a load, if it is waiting.
  func remove(_ load: RateLimitedLoad) {
    let id = ObjectIdentifier(load)
    let (alarm, _) = state.withLock { state -> (Alarm?, RateLimitedLoad?) in
      guard state.queue.remove(id) else { return (nil, nil) }
      return (state.queue.waitingCount == 0 ? state.alarm.take() : nil, state.loads.removeValue(forKey: id))
    }
    alarm?.action?.cancel()
  }

  /// Reorders a load by its current priority, if it is waiting.
  func reprioritize(_ load: RateLimitedLoad) {
    state.withLock { $0.queue.reprioritize(ObjectIdentifier(load), load.priority) }
  }

  /// Returns the tokens of a load that was admitted and not sent.
  func giveBack(_ load: RateLimitedLoad) {
    state.withLock { $0.queue.giveBack(host: load.host) }
    run()
  }

  /// Starts the loads that may be sent, one by one, and sets the alarm for the next.
  private func run() {
    while true {
      let now = clock.uptime
      switch state.withLock({ next(&$0, now) }) {
      case .start(let load): load.start()
      case .wait(let delay, let number, let older):
        older?.cancel()
        setAlarm(number, after: delay)
        return
      case .none: return
      }
    }
  }

  private func next(_ state: inout State, _ now: Duration) -> Step {
    if let id = state.queue.admit(now: now), let load = state.loads.removeValue(forKey: id) { return .start(load) }
    guard let due = state.queue.due(now: now), due != state.alarm?.due else { return .none }
    let older = state.alarm.take()
    state.lastAlarm += 1
    state.alarm = Alarm(number: state.lastAlarm, due: due)
    return .wait(max(due - now, .zero), number: state.lastAlarm, insteadOf: older?.action)
  }

  private func setAlarm(_ number: Int, after delay: Duration) {
    let action = clock.schedule(after: delay) { self.ring(number) }
    let isLate = state.withLock { state in
      guard state.alarm?.number == number else { return true }
      state.alarm?.action = action
      return false
    }
    if isLate { action.cancel() }
  }

  private func ring(_ number: Int) {
    // The alarm is released without the lock.
    _ = state.withLock { state in state.alarm?.number == number ? state.alarm.take() : nil }
    run()
  }
}
