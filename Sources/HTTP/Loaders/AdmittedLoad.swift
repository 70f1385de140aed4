import VitrineRuntime

/// The loads that wait in an ``AdmissionQueue`` until they may be sent.
final class AdmittedLoads: Sendable {
  /// A function that sends a load; a load with a slot returns it by ``release(host:)``.
  typealias Send = @Sendable (AdmittedLoads, HTTPRequest, any LoadSink) -> any LoadHandle

  // The clock, the wrapped loader and sinks belong to callers, and are neither called nor released under the lock.
  private struct State {
    var queue: AdmissionQueue<ObjectIdentifier>
    var loads: [ObjectIdentifier: AdmittedLoad] = [:]
    /// The time of the alarm for the next load, and the alarm once the clock has it.
    var due: Duration?
    var alarm: ScheduledAction?
  }

  fileprivate let send: Send
  private let clock: any TimeSource
  private let state: Lock<State>

  init(_ queue: sending AdmissionQueue<ObjectIdentifier>, _ clock: any TimeSource, _ send: @escaping Send) {
    (self.clock, self.send) = (clock, send)
    state = Lock(State(queue: queue))
  }

  /// Starts a load if the limits allow it, or queues it, and returns at once.
  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    let load = AdmittedLoad(request, sink, of: self)
    let id = ObjectIdentifier(load)
    state.withLock { state in
      state.queue.add(id, host: request.url.host, priority: load.priority)
      state.loads[id] = load
    }
    run()
    if state.withLock({ $0.loads[id] != nil && $0.due != nil }) { sink.hooks.onRateLimited?() }
    return load
  }

  /// Returns the slot of a load, and starts the loads that may be sent now.
  func release(host: String) {
    state.withLock { $0.queue.release(host: host) }
    run()
  }

  /// Removes a load, if it is waiting.
  fileprivate func remove(_ load: AdmittedLoad) {
    let id = ObjectIdentifier(load)
    let (alarm, _) = state.withLock { state -> (ScheduledAction?, AdmittedLoad?) in
      guard state.queue.remove(id) else { return (nil, nil) }
      if state.queue.waitingCount == 0 { state.due = nil }
      return (state.due == nil ? state.alarm.take() : nil, state.loads.removeValue(forKey: id))
    }
    alarm?.cancel()
  }

  /// Reorders a load by its current priority, if it is waiting.
  fileprivate func reprioritize(_ load: AdmittedLoad) {
    state.withLock { $0.queue.reprioritize(ObjectIdentifier(load), load.priority) }
  }

  /// Starts the loads that may be sent, one by one, and sets the alarm for the next.
  private func run() {
    while true {
      let now = clock.uptime
      let (load, due, older) = state.withLock { state -> (AdmittedLoad?, Duration?, ScheduledAction?) in
        if let id = state.queue.admit(now: now) { return (state.loads.removeValue(forKey: id), nil, nil) }
        guard let due = state.queue.due(now: now), due != state.due else { return (nil, nil, nil) }
        state.due = due
        return (nil, due, state.alarm.take())
      }
      older?.cancel()
      if let due { setAlarm(due, after: max(due - now, .zero)) }
      guard let load else { return }
      if !load.start() { state.withLock { $0.queue.giveBack(host: load.request.url.host) } }
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

/// A load, queued or sent, and the handle for its caller.
private final class AdmittedLoad: LoadHandle {
  private struct State: WrappingState {
    /// The sink; `nil` once the load was sent or cancelled.
    var sink: (any LoadSink)?
    var wrapped: WrappedHandle
  }

  fileprivate let request: HTTPRequest
  private let owner: AdmittedLoads
  private let state: Lock<State>

  init(_ request: HTTPRequest, _ sink: any LoadSink, of owner: AdmittedLoads) {
    (self.request, self.owner) = (request, owner)
    state = Lock(State(sink: sink, wrapped: WrappedHandle(request.priority)))
  }

  /// Sends the load after its admission; returns `false` if it was cancelled since.
  func start() -> Bool {
    let (sink, priority) = state.withLock { ($0.sink.take(), $0.wrapped.priority) }
    guard let sink else { return false }
    var request = request
    request.priority = priority
    let handle = owner.send(owner, request, sink)
    state.change { $0.wrapped.attach(handle, startedWith: priority) }
    return true
  }

  var priority: Priority {
    get { state.withLock { $0.wrapped.priority } }
    set {
      state.change { $0.wrapped.reprioritize(newValue) }
      owner.reprioritize(self)
    }
  }

  func cancel() {
    let sink = state.change { state in
      state.wrapped.cancel()
      return state.sink.take()
    }
    guard let sink else { return }
    owner.remove(self)
    // The end does not come from within the call: the caller of `cancel()` may hold a lock that the sink needs.
    Task { [request] in sink.finish(HTTPError(.cancelled, url: request.url.string, "was cancelled")) }
  }

  func resume() { state.change { $0.wrapped.resume() } }
}
