package import VitrineRuntime

/// The handle of a wrapped loader's load, in the locked state of the load that wraps it.
///
/// The caller may use its load before the wrapped one has a handle, which then learns of it. Calls to the handle are
/// decided under the wrapping load's lock, and made by ``Lock/change(_:)`` after it, in that order.
package struct WrappedHandle {
  private var handle: (any LoadHandle)?
  package private(set) var priority: Priority
  package private(set) var isCancelled = false
  /// Set if the load must be resumed, or cancelled, once its handle is known.
  private var owesResume = false
  private var owesCancel = false
  /// The pending calls to handles, created with the first call.
  fileprivate var calls: SerialCalls?

  package init(_ priority: Priority) { self.priority = priority }

  package mutating func reprioritize(_ new: Priority) {
    priority = new
    tell { $0.priority = new }
  }

  package mutating func cancel() {
    isCancelled = true
    breakOff()
  }

  /// Cancels the wrapped load only.
  mutating func breakOff() {
    owesCancel = true
    tell { $0.cancel() }
  }

  mutating func resume() {
    if handle == nil { owesResume = true }
    tell { $0.resume() }
  }

  /// Stores the handle of a load that was started with a priority, and makes up for earlier calls.
  package mutating func attach(_ new: any LoadHandle, startedWith old: Priority) {
    handle = new
    let priority = priority
    if priority != old { tell { $0.priority = priority } }
    if owesCancel { breakOff() }
    if owesResume { tell { $0.resume() } }
  }

  /// Moves the handle of an ended load out, so that it is released without the lock.
  package mutating func detach() -> (any LoadHandle)? { handle.take() }

  /// Prepares for another load.
  mutating func reset() -> (any LoadHandle)? {
    (owesResume, owesCancel) = (false, isCancelled)
    return detach()
  }

  private mutating func tell(_ call: @escaping @Sendable (any LoadHandle) -> Void) {
    guard let handle else { return }
    let calls = calls ?? SerialCalls()
    self.calls = calls
    calls.add { call(handle) }
  }
}

/// The locked state of a load that wraps another.
package protocol WrappingState: Sendable {
  /// The handle of the wrapped load.
  var wrapped: WrappedHandle { get }
}

extension Lock where State: WrappingState {
  /// Changes the state, and then makes the calls that were decided.
  package func change<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer {
    let (answer, calls) = withLock { state in (body(&state), state.wrapped.calls) }
    calls?.run()
    return answer
  }
}
