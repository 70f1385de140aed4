internal import Synchronization

/// A piece of work in a ``WorkQueue``.
///
/// It is the caller's handle, and the work checks it for cancellation.
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
  /// The action to run once the slot is free.
  var completion: (@Sendable () -> Void)?

  // The neighbours in the backlog. Both references are strong, so that a broken link can never dangle. The cycle that
  // two neighbours form ends when one leaves, and every item leaves.
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
  /// It costs one relaxed atomic read, so a decoder may read it after every row.
  package var isCancelled: Bool {
    cancelled.load(ordering: .relaxed)
  }

  /// The urgency of the item.
  ///
  /// Raising it moves a pending item after all others of the new priority, which reached it first. Lowering it moves it
  /// before all others, because it has waited longest. Setting the same priority, or the priority of a started item,
  /// moves nothing.
  ///
  /// - Complexity: O(1). Waits only for the queue's lock.
  package var priority: Priority {
    get { scheduler.priority(of: self) }
    set { scheduler.setPriority(newValue, of: self) }
  }

  /// Cancels the work: if it has not started, it never will; if it has, ``isCancelled`` becomes `true`.
  ///
  /// Does not wait for running work. Does nothing after the end.
  ///
  /// - Complexity: O(1). Waits only for the queue's lock.
  /// - Returns: `true` if the work had not started, and now never will.
  @discardableResult
  package func cancel() -> Bool {
    scheduler.cancel(self)
  }

  /// Abandons running work that does not return: its slot becomes free, and another thread replaces its own.
  ///
  /// Does nothing if the work has ended, or if the queue has abandoned as many items as it may. The work is cancelled.
  /// Its thread ends when it returns.
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
