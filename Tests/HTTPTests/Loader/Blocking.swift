import VitrineRuntime
import VitrineTesting

/// Stops threads of our own until the test opens it.
final class Gate: Sendable {
  private let monitor = Monitor(false)

  func open() {
    monitor.withLock { $0 = true }
    monitor.broadcast()
  }

  func wait() {
    monitor.wait { $0 ? .leave(()) : .wait }
  }
}

/// Keeps what happened, in order; to be awaited, or waited for by threads of our own.
final class Record<Event: Sendable>: Sendable {
  private let monitor = Monitor([Event]())

  var events: [Event] { monitor.withLock { $0 } }

  func add(_ event: Event) {
    monitor.withLock { $0.append(event) }
    monitor.broadcast()
  }

  func wait(for count: Int) {
    monitor.wait { $0.count >= count ? .leave(()) : .wait }
  }

  /// Waits without blocking one of Swift's threads.
  func reaches(_ count: Int) async throws {
    try await until { monitor.withLock({ $0.count }) >= count }
  }
}

/// Calls back when it is released.
final class Last: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  deinit { body() }
}

/// Runs what blocks on a thread of our own.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  let value = Deferred<Value>()
  let isStarted = startThread(named: "test") { value.resolve(body()) }
  precondition(isStarted)
  return await value.value()
}
