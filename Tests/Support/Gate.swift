import VitrineRuntime

/// A gate that holds threads and tasks until a test opens it, with a value that they want.
package final class Gate<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiting: [Deferred<Value>] = []
  }

  private let monitor = Monitor(State())

  package init(of type: Value.Type = Value.self) {}

  package var isOpen: Bool { monitor.withLock { $0.value != nil } }

  /// Opens the gate.
  ///
  /// - Returns: `false` if it was open already: the first value counts.
  @discardableResult
  package func open(_ value: Value) -> Bool {
    let waiting: [Deferred<Value>]? = monitor.withLock { state in
      guard state.value == nil else { return nil }
      state.value = value
      defer { state.waiting = [] }
      return state.waiting
    }
    guard let waiting else { return false }
    monitor.broadcast()
    for waiter in waiting { waiter.resolve(value) }
    return true
  }

  /// Suspends the task until the gate is open, even if the task is cancelled.
  @discardableResult
  package func value() async -> Value {
    let arrived = Deferred<Value>()
    let known = monitor.withLock { state -> Value? in
      if state.value == nil { state.waiting.append(arrived) }
      return state.value
    }
    if let known { return known }
    return await arrived.value()
  }

  /// Blocks the thread until the gate is open; it must not be one of Swift's.
  @discardableResult
  package func wait() -> Value {
    monitor.wait { state in state.value.map { .leave($0) } ?? .wait }
  }

  /// Blocks the thread until the gate is open, but not longer than `limit`.
  ///
  /// - Returns: `true` if the gate is open.
  package func wait(atMost limit: Duration) -> Bool {
    let deadline = systemUptime() + limit
    return monitor.wait { state in
      if state.value != nil { return .leave(true) }
      return systemUptime() < deadline ? .waitUntil(deadline) : .leave(false)
    }
  }
}

extension Gate where Value == Void {
  /// Creates a gate without a value.
  package convenience init() { self.init(of: Void.self) }

  @discardableResult
  package func open() -> Bool { open(()) }
}
