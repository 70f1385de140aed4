import VitrineRuntime

/// Starts threads, and returns when all have ended their work.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let ended = Record<Int>()
  for number in 0..<count {
    let isStarted = startThread(named: "test") {
      body(number)
      ended.add(number)
    }
    precondition(isStarted)
  }
  ended.wait(for: count)
}

/// Runs `body`, which may block, on a thread of its own.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  let value = Deferred<Value>()
  let isStarted = startThread(named: "test") { value.resolve(body()) }
  precondition(isStarted)
  return await value.value()
}

/// Calls a closure when it is released.
package final class ReleaseCallback: Sendable {
  private let body: @Sendable () -> Void

  package init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  deinit { body() }
}
