/// A value that is set once, from any thread, before or after it is awaited.
///
/// The first value wins and later ones are dropped, so a result and a cancellation may race without a continuation being
/// lost or resumed twice. Copies are the same value.
@usableFromInline
package struct Deferred<Value: Sendable>: Sendable {
  @usableFromInline
  enum State {
    case empty
    case awaited(Waiter<Value>)
    case resolved(Value)
    case taken
  }

  @usableFromInline
  let state = Lock(State.empty)

  /// Creates a deferred value that is not set.
  @inlinable
  package init() {}

  /// Sets the value, unless there is one already.
  ///
  /// Does not block.
  ///
  /// - Returns: `true` if this value was the first.
  @discardableResult
  @inlinable
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
    case .awaited(let waiter):
      waiter.resume(returning: value)
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
  @inlinable
  package func value() async -> Value {
    await Waiter.wait { waiter in
      let value: Value? = state.withLock { state in
        switch state {
        case .empty:
          state = .awaited(waiter)
          return nil
        case .resolved(let value):
          state = .taken
          return value
        case .awaited, .taken:
          preconditionFailure("awaited twice")
        }
      }
      if let value { waiter.resume(returning: value) }
    }
  }

  /// Waits for the value, or for the cancellation of the awaiting task, which sets the value at once.
  ///
  /// Call it only once.
  @inlinable
  package func value(orCancelled value: Value, onCancel: @Sendable () -> Void = {}) async -> Value {
    await withTaskCancellationHandler {
      await self.value()
    } onCancel: {
      onCancel()
      resolve(value)
    }
  }
}

/// A suspended caller, which must be resumed once.
///
/// It has no check of that, which would cost an allocation each time.
@safe
@usableFromInline
package struct Waiter<Value: Sendable>: Sendable {
  // Safe as far as the users of the type resume it once.
  @usableFromInline
  let continuation: UnsafeContinuation<Value, Never>

  @inlinable
  init(_ continuation: UnsafeContinuation<Value, Never>) { unsafe self.continuation = continuation }

  /// Suspends the caller until the waiter is resumed, within `begin` or later.
  @inlinable
  package static func wait(_ begin: (Waiter) -> Void) async -> Value {
    await unsafe withUnsafeContinuation { begin(unsafe Waiter($0)) }
  }

  @inlinable
  package func resume(returning value: Value) { unsafe continuation.resume(returning: value) }
}
