/// Marks the current thread as one for which others wait, such as a loader's: a program's closures run elsewhere then.
package enum BorrowedThread {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    // The key lives as long as the process.
    unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// A Boolean value that indicates whether others wait for this thread.
  package static var isCurrent: Bool { unsafe pthread_getspecific(key) != nil }

  /// Runs `body` on this thread, for which others wait.
  package static func run<Value>(_ body: () -> Value) -> Value {
    let previous = unsafe pthread_getspecific(key)
    // Only whether the value is null counts; it is never followed.
    unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
    defer { unsafe pthread_setspecific(key, previous) }
    return body()
  }

  /// Runs `body` on a queue if others wait for this thread, and else at once, as it does where the queue is full.
  package static func spare(on queue: WorkQueue?, _ body: @escaping @Sendable () -> Void) {
    guard isCurrent, let queue, (try? queue.enqueue { _ in body() }) != nil else { return body() }
  }
}
