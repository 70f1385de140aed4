import Synchronization

/// A value that a delegate gives from any thread.
final class Answer<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let waker: Waker

  init(_ waker: Waker) { self.waker = waker }

  /// Takes the first value, and ignores later ones.
  func give(_ given: Value) {
    value.withLock { $0 = $0 ?? given }
    waker.wake()
  }

  /// Waits for the value.
  func wait() -> Value {
    while true {
      if let value = value.withLock({ $0 }) { return value }
      _ = waker.wait()
    }
  }

  /// Waits for the value as long as the task is not cancelled.
  func wait(for task: URLSessionTask) throws(Failure) -> Value {
    while true {
      if task.control.isCancelled { throw Failure(.cancelled) }
      if let value = value.withLock({ $0 }) { return value }
      _ = waker.wait()
    }
  }
}
