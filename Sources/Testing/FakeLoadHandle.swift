import VitrineHTTP
import VitrineRuntime

/// The handle that a ``FakeLoader`` returns to its caller: first for a hook before sending, then for one load, or
/// several if challenges are answered.
final class FakeLoadHandle: LoadHandle {
  private struct State {
    var priority: Priority
    var isCancelled = false
    /// The hook before sending.
    var preparation: Task<Void, Never>?
    var onCancel: (@Sendable () -> Void)?
    var load: FakeLoad?
  }

  private let state: Lock<State>

  init(_ priority: Priority) {
    state = Lock(State(priority: priority))
  }

  var priority: Priority {
    get { state.withLock { $0.priority } }
    set {
      let load = state.withLock { state in
        state.priority = newValue
        return state.load
      }
      load?.setPriority(newValue)
    }
  }

  func cancel() {
    let (load, preparation, onCancel) = state.withLock { state in
      state.isCancelled = true
      defer { (state.preparation, state.onCancel) = (nil, nil) }
      return (state.load, state.preparation, state.onCancel)
    }
    preparation?.cancel()
    onCancel?()
    load?.cancel()
  }

  func resume() { state.withLock { $0.load }?.resume() }

  /// Waits for a hook; `onCancel` is called if the load is cancelled before ``take(_:)`` or ``endPreparation()``.
  func prepare(onCancel: @escaping @Sendable () -> Void) {
    state.withLock { $0.onCancel = onCancel }
  }

  func attach(_ preparation: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      if state.onCancel != nil { state.preparation = preparation }
      return state.isCancelled
    }
    if isCancelled { preparation.cancel() }
  }

  /// Ends the wait for the hook.
  ///
  /// - Returns: `true` unless the load was cancelled.
  func endPreparation() -> Bool {
    state.withLock { state in
      (state.preparation, state.onCancel) = (nil, nil)
      return !state.isCancelled
    }
  }

  /// Makes the handle that of a load from now on.
  func take(_ load: FakeLoad) {
    let (isCancelled, priority) = state.withLock { state in
      state.load = load
      return (state.isCancelled, state.priority)
    }
    load.setPriority(priority)
    if isCancelled { load.cancel() }
  }
}
