/// Runs blocking work on threads of its own, the most urgent first.
///
/// Decoding and file access block, so they must not run on Swift's cooperative threads. A queue starts up to ``width``
/// threads when there is work, and ends idle ones after a while.
///
/// **Order.** Items run by priority, of which there are five, and first in, first out within one.
///
/// **End.** Releasing the queue lets all enqueued work run, and then ends the threads. Releasing does not wait for
/// that.
package final class WorkQueue: Sendable {
  private let scheduler: WorkScheduler

  /// Creates a queue without threads.
  ///
  /// - Parameters:
  ///   - label: The name of its threads in debuggers; Linux keeps the first 15 bytes.
  ///   - width: The maximum number of concurrent items, at least 1.
  ///   - queueLimit: The maximum number of waiting items, not counting those for which a slot is free. Defaults to
  ///     `nil`: no limit.
  ///   - stackSize: The stack of a thread, in bytes. Defaults to 1 MB.
  ///   - niceness: The niceness of the threads; see `startThread`. Defaults to 0.
  ///   - idleTime: The time for which a thread without work stays. Defaults to 10 seconds.
  ///   - abandonLimit: The maximum number of items that may be abandoned at once. Defaults to `nil`: `width`.
  ///   - hasThreads: A Boolean value that indicates whether the queue has threads. Without threads it runs work only
  ///     in ``runNext()``. Defaults to `true`.
  package init(
    label: String,
    width: Int,
    queueLimit: Int? = nil,
    stackSize: Int = 1 << 20,
    niceness: CInt = 0,
    idleTime: Duration = .seconds(10),
    abandonLimit: Int? = nil,
    hasThreads: Bool = true,
  ) {
    scheduler = WorkScheduler(
      label: label,
      width: width,
      queueLimit: queueLimit,
      stackSize: stackSize,
      niceness: niceness,
      idleTime: idleTime,
      abandonLimit: abandonLimit,
      hasThreads: hasThreads,
    )
  }

  deinit {
    scheduler.close()
  }

  /// The maximum number of concurrent items, at least 1.
  ///
  /// Raising it starts more at once. Lowering it interrupts nothing: fewer start until enough have ended.
  package var width: Int {
    get { scheduler.width }
    set { scheduler.setWidth(newValue) }
  }

  /// The number of items that have not started.
  package var pendingCount: Int { scheduler.pendingCount }

  /// The number of running items.
  package var runningCount: Int { scheduler.runningCount }

  /// The number of threads of the queue, busy or idle.
  package var threadCount: Int { scheduler.threadCount }

  /// Runs the next item on the calling thread, so that a test controls the order.
  ///
  /// - Returns: `true` if an item could start.
  @discardableResult
  package func runNext() -> Bool { scheduler.runNext() }

  /// Enqueues work and returns at once.
  ///
  /// - Complexity: O(1), plus about 50 microseconds if a thread has to be started.
  /// - Parameters:
  ///   - priority: The urgency. Defaults to ``Priority/normal``.
  ///   - work: Called on one of the queue's threads, with the item, which it checks for cancellation. Never called if
  ///     the item is cancelled before.
  /// - Returns: The handle to cancel the work or to change its priority; may be discarded.
  /// - Throws: ``WorkQueueError/overloaded`` if too many items wait, ``WorkQueueError/threadUnavailable`` if the
  ///   system refuses the queue its only thread.
  @discardableResult
  package func enqueue(
    priority: Priority = .normal,
    _ work: @escaping @Sendable (WorkItem) -> Void,
  ) throws(WorkQueueError) -> WorkItem {
    let item = WorkItem(scheduler: scheduler, priority: priority, work: work)
    try scheduler.enqueue(item)
    return item
  }

  /// Enqueues work and waits for its result, without blocking a thread.
  ///
  /// If the awaiting task is cancelled before the work starts, the work never does, and this throws at once. Running
  /// work sees ``WorkItem/isCancelled`` and is waited for, because it still holds its slot and its memory; its result
  /// or error is the outcome. The slot is free by then.
  ///
  /// - Complexity: O(1), plus about 50 microseconds if a thread has to be started.
  /// - Parameters:
  ///   - priority: The urgency. Defaults to ``Priority/normal``.
  ///   - work: Called on one of the queue's threads, at most once.
  /// - Returns: The result of `work`.
  /// - Throws: The error of `work`; `CancellationError` if the task was cancelled before the work started;
  ///   ``WorkQueueError`` as in ``enqueue(priority:_:)``.
  package func run<Value: Sendable>(
    priority: Priority = .normal,
    _ work: @escaping @Sendable (WorkItem) throws -> Value,
  ) async throws -> Value {
    let outcome = Deferred<Result<Value, any Error>>()
    let item = WorkItem(scheduler: scheduler, priority: priority) { item in
      let result = Result { try work(item) }
      item.completion = { outcome.resolve(result) }
    }
    return try await withTaskCancellationHandler {
      // If the handler has already cancelled the item, it stays out and has its outcome.
      try scheduler.enqueue(item)
      return try await outcome.value().get()
    } onCancel: {
      if item.cancel() { outcome.resolve(.failure(CancellationError())) }
    }
  }
}

/// The reason why a ``WorkQueue`` rejected an item.
package struct WorkQueueError: Error, Hashable, CustomStringConvertible {
  // The code is private, so that a new reason breaks no `switch` of a caller.
  private enum Code {
    case overloaded, threadUnavailable
  }

  private let code: Code

  /// The maximum number of items is waiting.
  package static let overloaded = WorkQueueError(code: .overloaded)

  /// The system refused to start the queue's only thread.
  package static let threadUnavailable = WorkQueueError(code: .threadUnavailable)

  /// A short description.
  package var description: String {
    switch code {
    case .overloaded: "the queue is full: too many items wait"
    case .threadUnavailable: "the system could not start a thread"
    }
  }
}
