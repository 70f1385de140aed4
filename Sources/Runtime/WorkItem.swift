internal import Synchronization

/// One piece of work in a ``WorkQueue``: the handle of who waits for it, and what the work itself asks
/// whether it is still wanted.
///
/// Keeping it keeps neither the queue nor, once the work has ended, anything that the work refers to.
package final class WorkItem: @unchecked Sendable {
  // Sendable: `phase`, `level`, `work`, `next` and `previous` are guarded by the scheduler's monitor,
  // `completion` is touched by none but the thread that runs the item, the rest never changes.

  enum Phase {
    case new, pending, running, ended
  }

  let scheduler: WorkScheduler
  let bytes: Int

  var phase = Phase.new
  var level: Priority
  var work: (@Sendable (WorkItem) -> Void)?
  /// What is left to do once the slot is free.
  var completion: (@Sendable () -> Void)?

  // Neighbours in the backlog. Both refer strongly, so that a broken link could never dangle; the
  // circle that two neighbours form is opened when one leaves, and every item leaves.
  var next: WorkItem?
  var previous: WorkItem?

  private let cancelled = Atomic(false)

  init(
    scheduler: WorkScheduler,
    priority: Priority,
    bytes: Int,
    work: @escaping @Sendable (WorkItem) -> Void,
  ) {
    self.scheduler = scheduler
    self.bytes = max(0, bytes)
    self.level = priority
    self.work = work
  }

  /// Whether the work was cancelled before it ended.
  ///
  /// One relaxed atomic read: a decoder may ask after every row.
  package var isCancelled: Bool {
    cancelled.load(ordering: .relaxed)
  }

  /// How urgent the item is.
  ///
  /// Raising it puts a pending item behind all others of the new priority, since those came there first;
  /// lowering it puts it before all others, since it has waited longest. Setting the same one, or one of
  /// an item that has started, moves nothing.
  ///
  /// - Complexity: O(1). Waits for the queue's lock only.
  package var priority: Priority {
    get { scheduler.priority(of: self) }
    set { scheduler.setPriority(newValue, of: self) }
  }

  /// Makes sure that the work never starts, or tells it through ``isCancelled`` that it may stop.
  ///
  /// Work that runs is not waited for. After the end it does nothing.
  ///
  /// - Complexity: O(1). Waits for the queue's lock only.
  /// - Returns: Whether the work had not started and now never will.
  @discardableResult
  package func cancel() -> Bool {
    scheduler.cancel(self)
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
