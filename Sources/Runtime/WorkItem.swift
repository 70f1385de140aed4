internal import Synchronization

/// One piece of work in a ``WorkQueue``: the caller's handle, which the work itself checks for cancellation.
///
/// It retains neither the queue nor, after the work has ended, anything that the work refers to.
package final class WorkItem: @unchecked Sendable {
  // Sendable: the scheduler's monitor guards `phase`, `level`, `work`, `next` and `previous`; only the thread that
  // runs the item accesses `completion`; the rest never changes.

  enum Phase {
    case new, pending, running, abandoned, ended
  }

  let scheduler: WorkScheduler

  var phase = Phase.new
  var level: Priority
  var work: (@Sendable (WorkItem) -> Void)?
  /// The action to take after the slot is free.
  var completion: (@Sendable () -> Void)?

  // Neighbours in the backlog. Both references are strong, so that a broken link can never dangle. The cycle that two
  // neighbours form ends when one leaves, and every item leaves.
  var next: WorkItem?
  var previous: WorkItem?

  private let cancelled = Atomic(false)

  init(
    scheduler: WorkScheduler,
    priority: Priority,
    work: @escaping @Sendable (WorkItem) -> Void,
  ) {
    self.scheduler = scheduler
    self.level = priority
    self.work = work
  }

  /// A Boolean value that indicates whether the work was cancelled before it ended.
  ///
  /// One relaxed atomic read, so a decoder may read it after every row.
  package var isCancelled: Bool {
    cancelled.load(ordering: .relaxed)
  }

  /// The urgency of the item.
  ///
  /// Raising it moves a pending item after all others of the new priority, because those came there first. Lowering
  /// it moves it before all others, because it has waited longest. Setting the same one, or that of an item that has
  /// started, moves nothing.
  ///
  /// - Complexity: O(1). Waits only for the queue's lock.
  package var priority: Priority {
    get { scheduler.priority(of: self) }
    set { scheduler.setPriority(newValue, of: self) }
  }

  /// Cancels the work: if it has not started, it never will; otherwise ``isCancelled`` tells it to stop.
  ///
  /// Does not wait for running work. Does nothing after the end.
  ///
  /// - Complexity: O(1). Waits only for the queue's lock.
  /// - Returns: `true` if the work had not started, and now never will.
  @discardableResult
  package func cancel() -> Bool {
    scheduler.cancel(self)
  }

  /// Gives up running work that does not return: its slot becomes free, and another thread takes the place of its own.
  ///
  /// Does nothing if the work has ended, or if the queue has given up as many items as it may. The work is
  /// cancelled. Its thread ends when it returns.
  ///
  /// - Returns: `true` if the slot became free.
  @discardableResult
  package func abandon() -> Bool {
    markCancelled()
    return scheduler.abandon(self)
  }

  /// Throws if ``isCancelled``.
  package func checkCancellation() throws(CancellationError) {
    guard isCancelled else { return }
    throw CancellationError()
  }

  func markCancelled() {
    cancelled.store(true, ordering: .relaxed)
  }
}
