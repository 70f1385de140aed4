/// Holds a value that comes once, from any thread, before or after someone awaits it.
///
/// It is the one place where a callback becomes an `await`: the first value wins, later ones are
/// dropped, and so a result and a cancellation may race without a continuation being lost or resumed
/// twice.
package final class Deferred<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case awaited(CheckedContinuation<Value, Never>)
    case resolved(Value)
    case taken
  }

  private let state = Lock(State.empty)

  /// Creates one without a value.
  package init() {}

  /// Hands over the value, unless one has come already.
  ///
  /// Does not block.
  ///
  /// - Returns: Whether this value was the first.
  @discardableResult
  package func resolve(_ value: Value) -> Bool {
    let previous = state.withLock { state in
      let previous = state
      switch state {
      case .empty: state = .resolved(value)
      case .awaited: state = .taken
      case .resolved, .taken: break
      }
      return previous
    }
    switch previous {
    case .empty:
      return true
    case .awaited(let continuation):
      continuation.resume(returning: value)
      return true
    case .resolved, .taken:
      return false
    }
  }

  /// Waits for the value; to be called once.
  ///
  /// Knows nothing of cancellation: whoever cancels resolves with an error.
  package func value() async -> Value {
    await withCheckedContinuation { continuation in
      let value: Value? = state.withLock { state in
        switch state {
        case .empty:
          state = .awaited(continuation)
          return nil
        case .resolved(let value):
          state = .taken
          return value
        case .awaited, .taken:
          preconditionFailure("awaited twice")
        }
      }
      if let value { continuation.resume(returning: value) }
    }
  }
}
