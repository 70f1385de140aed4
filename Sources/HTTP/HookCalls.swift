import VitrineRuntime

/// The calls to the hooks of one load, in order, on threads that serve no transfer.
///
/// A loader has one thread for all loads, which must not block. A hook that blocks delays only the following calls of
/// its own load.
final class HookCalls: Sendable {
  private let calls = SerialCalls()
  private let queue: WorkQueue

  /// Creates the calls of a load on the queue of its loader.
  init(on queue: WorkQueue) {
    self.queue = queue
  }

  /// Creates the queue of a loader, which has no thread until there is a call.
  static func makeQueue() -> WorkQueue { WorkQueue(label: "vitrine-hooks", width: 4) }

  /// Adds a call behind all earlier ones, and returns at once.
  func add(_ call: @escaping @Sendable () -> Void) {
    calls.add(call)
    do throws(WorkQueueError) {
      try queue.enqueue { [calls] _ in calls.run() }
    } catch {
      // If the system has no thread to spare, the calls run on this one.
      calls.run()
    }
  }
}
