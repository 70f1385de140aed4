import VitrineRuntime

extension WorkQueue {
  /// Creates the queue of a loader for hooks, which has no thread until there is a call.
  static func forHooks() -> WorkQueue { WorkQueue(label: "vitrine-hooks", width: 4) }

  /// Runs a call that may block, and returns at once.
  ///
  /// A loader has one thread for all loads, which must not block.
  func add(_ call: @escaping @Sendable () -> Void) {
    do throws(WorkQueueError) {
      try enqueue { _ in call() }
    } catch {
      // If the system has no thread to spare, the call runs on this one.
      call()
    }
  }
}
