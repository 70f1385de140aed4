import VitrineRuntime

/// Holds everyone up until the test opens it.
final class Gate<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiting: [CheckedContinuation<Value, Never>] = []
  }

  private let state = Lock(State())

  func value() async -> Value {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> Value? in
        if state.value == nil { state.waiting.append(continuation) }
        return state.value
      }
      if let known { continuation.resume(returning: known) }
    }
  }

  func open(_ value: Value) {
    let waiting = state.withLock { state in
      state.value = state.value ?? value
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: value) }
  }
}
