/// A value that is set once, from any thread, before or after it is awaited.
///
/// The first value wins and later ones are dropped, so a
/// result and a cancellation may race without a continuation being lost or resumed twice.
package final class Deferred<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case awaited(CheckedContinuation<Value, Never>)
    case resolved(Value)
    case taken
  }

  private let state = Lock(State.empty)

  /// Creates a deferred value that is not set.
  package init() {}

  /// Sets the value, unless there is one already.
  ///
  /// Does not block.
  ///
  /// - Returns: `true` if this value was the first.
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

  /// Waits for the value.
  ///
  /// Call it only once.
  ///
  /// It ignores cancellation; ``value(orCancelled:)`` does not.
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
  /// Waits for the value, or for the cancellation of the awaiting task, which sets the value at once.
  ///
  /// Call it only once.
  package func value(orCancelled value: Value, onCancel: @Sendable () -> Void = {}) async -> Value {
    await withTaskCancellationHandler {
      await self.value()
    } onCancel: {
      onCancel()
      resolve(value)
    }
  }
}
