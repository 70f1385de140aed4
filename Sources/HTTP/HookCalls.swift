import VitrineRuntime

/// Calls to what takes part in one load, in order, on threads that serve no transfer.
///
/// A loader's own thread serves all of its loads, so nothing runs there that may block: a hook of a user's that does holds
/// back what is to be called behind it, of the same load, and nothing else.
final class HookCalls: Sendable {
  private let calls = SerialCalls()
  private let queue: WorkQueue

  /// The queue is that of all loads of a loader.
  init(on queue: WorkQueue) {
    self.queue = queue
  }

  /// Creates the queue of a loader; it has no thread until there is something to call.
  static func makeQueue() -> WorkQueue { WorkQueue(label: "vitrine-hooks", width: 4) }

  /// Has something called behind all that was added before, and returns at once.
  func add(_ call: @escaping @Sendable () -> Void) {
    calls.add(call)
    do throws(WorkQueueError) {
      try queue.enqueue { [calls] _ in calls.run() }
    } catch {
      // Without a thread to be had late is still better than never.
      calls.run()
    }
  }
}
