public import VitrineRuntime

/// Sends no more requests than a ``RateLimit`` allows, of each host and in all; the others wait for their turn.
///
/// ```swift
/// let polite = RateLimitedLoader(CurlLoader(), RateLimit(requestsPerSecond: 50), perHost: RateLimit(requestsPerSecond: 5))
/// ```
/// The most urgent load is sent first, the first to come among equals. A load that is cancelled while it waits takes no token.
/// A redirect, or the answer to a challenge, is part of the load that led to it. Around a ``RetryingLoader`` a load with all its
/// attempts takes one token; within one, each attempt takes its own.
public final class RateLimitedLoader: DataLoader {
  private let gate: RateLimitGate

  /// Wraps a loader.
  ///
  /// - Parameters:
  ///   - loader: Does the work.
  ///   - limit: The limit for all loads. Defaults to none.
  ///   - hostLimit: The limit for the loads of each host, whatever scheme and port. Defaults to none.
  ///   - clock: Measures the waits. Defaults to the system clock.
  public init(
    _ loader: any DataLoader,
    _ limit: RateLimit? = nil,
    perHost hostLimit: RateLimit? = nil,
    clock: any TimeSource = .system,
  ) {
    gate = RateLimitGate(loader, limit, perHost: hostLimit, clock: clock)
  }

  /// Starts a load, or has it wait for its turn, and returns at once.
  @discardableResult
  public func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = RateLimitedLoad(request, sink, gate)
    gate.add(load)
    return load
  }

  /// Returns what the loader within says.
  public func obeys(_ addressGuard: AddressGuard) -> Bool { gate.loader.obeys(addressGuard) }
}

/// The loads that wait for their turn, and the clock that they wait for.
///
/// Neither the clock nor a loader is called under its lock, and nothing of theirs is released there. Whoever runs it starts one
/// load after the other; what waits keeps it, through the clock.
final class RateLimitGate: Sendable {
  private struct Alarm {
    let number: Int
    let due: Duration
    var action: ScheduledAction?
  }

  private struct State {
    var queue: RateLimitQueue<ObjectIdentifier>
    var loads: [ObjectIdentifier: RateLimitedLoad] = [:]
    var alarm: Alarm?
    var lastAlarm = 0
  }

  private enum Step {
    case start(RateLimitedLoad)
    /// Looks again after a wait, and not when an older alarm says.
    case wait(Duration, number: Int, insteadOf: ScheduledAction?)
    case none
  }

  let loader: any DataLoader
  private let clock: any TimeSource
  private let state: Lock<State>

  init(_ loader: any DataLoader, _ limit: RateLimit?, perHost hostLimit: RateLimit?, clock: any TimeSource) {
    (self.loader, self.clock) = (loader, clock)
    state = Lock(State(queue: RateLimitQueue(total: limit, perHost: hostLimit, now: clock.uptime)))
  }

  /// The number of hosts that are remembered.
  var hostCount: Int { state.withLock { $0.queue.hostCount } }

  /// Has a load wait for its turn, which may be now.
  func add(_ load: RateLimitedLoad) {
    let id = ObjectIdentifier(load)
    state.withLock { state in
      state.queue.add(id, host: load.host, priority: load.priority)
      state.loads[id] = load
    }
    run()
    if state.withLock({ $0.loads[id] != nil }) { load.noteWait() }
  }

  /// Takes a load out, if it waits.
  func remove(_ load: RateLimitedLoad) {
    let id = ObjectIdentifier(load)
    let (alarm, _) = state.withLock { state -> (Alarm?, RateLimitedLoad?) in
      guard state.queue.remove(id) else { return (nil, nil) }
      return (state.queue.waitingCount == 0 ? state.alarm.take() : nil, state.loads.removeValue(forKey: id))
    }
    alarm?.action?.cancel()
  }

  /// Takes note of the priority that a load has now, if it waits.
  func reprioritize(_ load: RateLimitedLoad) {
    state.withLock { $0.queue.reprioritize(ObjectIdentifier(load), load.priority) }
  }

  /// Gives back the tokens of a load that had its turn and is not sent.
  func giveBack(_ load: RateLimitedLoad) {
    let now = clock.uptime
    state.withLock { $0.queue.giveBack(host: load.host, now: now) }
    run()
  }

  /// Starts what may be sent, and has the clock call when the next may.
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
    // Released with the lock open.
    _ = state.withLock { state in state.alarm?.number == number ? state.alarm.take() : nil }
    run()
  }
}
