/// Runs blocking work on threads of its own, the most urgent first.
///
/// Decoding and file access block, so they have no place on Swift's cooperative threads. A queue starts
/// up to ``width`` threads when there is work for them, and ends those that have been idle for a while.
///
/// **Order.** The highest of five priorities first, and the first to come first within one. The item
/// whose turn it is starts next or nothing does: where a byte budget makes it wait, no smaller one behind
/// it slips through, as a large one would else wait for ever.
///
/// **End.** Releasing the queue lets everything run that was enqueued, even if it was suspended, and
/// then ends the threads. Nothing waits for that.
package final class WorkQueue: Sendable {
  private let scheduler: WorkScheduler

  /// Creates a queue without any thread yet.
  ///
  /// - Parameters:
  ///   - label: The name of its threads in debuggers; Linux keeps the first 15 bytes.
  ///   - width: How many items run at once; at least 1.
  ///   - byteBudget: How many bytes the running items may hold together, by what they declared. One that
  ///     is larger than the whole budget runs alone. Nil, the default, is without limit.
  ///   - queueLimit: How many items may wait, not counting those for which a slot is free. Nil, the
  ///     default, is without limit.
  ///   - stackSize: The stack of a thread, in bytes; 1 MB by default.
  ///   - idleTime: How long a thread without work stays; 10 seconds by default.
  ///   - hasThreads: Whether it has threads, as it has by default; one that has none does nothing but in ``runNext()``.
  package init(
    label: String,
    width: Int,
    byteBudget: Int? = nil,
    queueLimit: Int? = nil,
    stackSize: Int = 1 << 20,
    idleTime: Duration = .seconds(10),
    hasThreads: Bool = true,
  ) {
    scheduler = WorkScheduler(
      label: label,
      width: width,
      byteBudget: byteBudget,
      queueLimit: queueLimit,
      stackSize: stackSize,
      idleTime: idleTime,
      hasThreads: hasThreads,
    )
  }

  deinit {
    scheduler.close()
  }

  /// How many items run at once; at least 1.
  ///
  /// Raising it starts more at once. Lowering it interrupts nothing: fewer start until enough have ended.
  package var width: Int {
    get { scheduler.width }
    set { scheduler.setWidth(newValue) }
  }

  /// Whether the queue starts nothing at present.
  package var isSuspended: Bool { scheduler.isSuspended }

  /// How many items have not started yet.
  package var pendingCount: Int { scheduler.pendingCount }

  /// How many items run.
  package var runningCount: Int { scheduler.runningCount }

  /// How many threads the queue has, busy or idle.
  package var threadCount: Int { scheduler.threadCount }

  /// Lets no item start until ``resume()``; what runs goes on.
  package func suspend() {
    scheduler.setSuspended(true)
  }

  /// Lets items start again, however often the queue was suspended.
  package func resume() {
    scheduler.setSuspended(false)
  }

  /// Runs the item whose turn it is on the calling thread, which is how a test decides what happens when.
  ///
  /// - Returns: Whether one could start.
  @discardableResult
  package func runNext() -> Bool { scheduler.runNext() }

  /// Enqueues work and returns at once.
  ///
  /// - Complexity: O(1), plus some 50 microseconds when a thread has to be started.
  /// - Parameters:
  ///   - priority: How urgent it is; ``Priority/normal`` by default.
  ///   - bytes: How much memory it will hold while it runs; 0 by default, and anything below is 0.
  ///   - work: Called on one of the queue's threads, with the item, to ask whether it was cancelled.
  ///     Never called if the item is cancelled before.
  /// - Returns: The handle to cancel the work or to change its priority; it may be dropped.
  /// - Throws: ``WorkQueueError/overloaded`` if too many items wait, ``WorkQueueError/threadUnavailable``
  ///   if the system refuses the queue its only thread.
  @discardableResult
  package func enqueue(
    priority: Priority = .normal,
    bytes: Int = 0,
    _ work: @escaping @Sendable (WorkItem) -> Void,
  ) throws(WorkQueueError) -> WorkItem {
    let item = WorkItem(scheduler: scheduler, priority: priority, bytes: bytes, work: work)
    try scheduler.enqueue(item)
    return item
  }

  /// Enqueues work and waits for its result, without blocking a thread.
  ///
  /// When the awaiting task is cancelled, work that has not started never does, and this throws at once.
  /// Work that runs learns of it through ``WorkItem/isCancelled`` and is waited for, since it still holds
  /// its slot and its memory; what it then returns or throws is the result. By then its slot is free.
  ///
  /// - Complexity: O(1), plus some 50 microseconds when a thread has to be started.
  /// - Parameters:
  ///   - priority: How urgent it is; ``Priority/normal`` by default.
  ///   - bytes: How much memory it will hold while it runs; 0 by default, and anything below is 0.
  ///   - work: Called on one of the queue's threads, at most once.
  /// - Returns: What `work` returns.
  /// - Throws: What `work` throws; `CancellationError` if the task was cancelled before the work started;
  ///   ``WorkQueueError`` as in ``enqueue(priority:bytes:_:)``.
  package func run<Value: Sendable>(
    priority: Priority = .normal,
    bytes: Int = 0,
    _ work: @escaping @Sendable (WorkItem) throws -> Value,
  ) async throws -> Value {
    let outcome = Deferred<Result<Value, any Error>>()
    let item = WorkItem(scheduler: scheduler, priority: priority, bytes: bytes) { item in
      let result = Result { try work(item) }
      item.completion = { outcome.resolve(result) }
    }
    return try await withTaskCancellationHandler {
      // An item that the handler has cancelled by now stays out, and its outcome is there already.
      try scheduler.enqueue(item)
      return try await outcome.value().get()
    } onCancel: {
      if item.cancel() { outcome.resolve(.failure(CancellationError())) }
    }
  }
}

/// Why a ``WorkQueue`` did not take an item.
package struct WorkQueueError: Error, Hashable, CustomStringConvertible {
  // Behind a struct, so that a further reason breaks no one's `switch`.
  private enum Code {
    case overloaded, threadUnavailable
  }

  private let code: Code

  /// As many items wait as may.
  package static let overloaded = WorkQueueError(code: .overloaded)

  /// The system refused to start the queue's only thread.
  package static let threadUnavailable = WorkQueueError(code: .threadUnavailable)

  /// Says in a few words what happened.
  package var description: String {
    switch code {
    case .overloaded: "too many items wait"
    case .threadUnavailable: "the system has no thread to give"
    }
  }
}
