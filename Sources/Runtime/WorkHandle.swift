/// The demand of a subscriber, or the highest of several.
package struct WorkDemand: Sendable, Hashable {
  /// The events that a subscriber receives before the end.
  package enum Interest: Int, Sendable, Comparable {
    case none, progress, partials

    package static func < (left: Interest, right: Interest) -> Bool { left.rawValue < right.rawValue }
  }

  /// The urgency.
  package var priority: Priority
  /// The events before the end.
  ///
  /// The interest in a run never falls.
  package var interest: Interest
  /// A Boolean value that indicates whether the result is to be stored by the work.
  ///
  /// It never becomes `false` for a run.
  package var storesResult: Bool

  package init(_ priority: Priority, _ interest: Interest = .none, storesResult: Bool = false) {
    (self.priority, self.interest, self.storesResult) = (priority, interest, storesResult)
  }

  /// Returns the demand on work that serves this work: with events up to `interest`, and without storing.
  package func limited(to interest: Interest) -> WorkDemand { WorkDemand(priority, min(self.interest, interest)) }
}

/// The completed and the total number of units of work; 0 for an unknown total.
package struct WorkProgress: Sendable, Hashable {
  package let completed: Int
  package let total: Int

  package init(_ completed: Int, of total: Int) { (self.completed, self.total) = (completed, total) }
}

/// A subscription to shared work.
///
/// Releasing it does not cancel it.
// @unchecked: the lock of its work guards all mutable state.
package final class SharedWorkSubscription<Key: Hashable & Sendable, Value: Sendable, Failure: Error>:
  @unchecked Sendable
{
  private let work: SharedWork<Key, Value, Failure>
  let run: SharedRun<Key, Value, Failure>
  let receive: @Sendable (SharedWork<Key, Value, Failure>.Event) -> Void
  var demand: WorkDemand
  let isCaller: Bool
  var isActive = false
  /// The position among all subscribers of the run.
  var number = 0
  // The neighbours in the list. The cycle of strong references ends, since every subscriber leaves or receives the end.
  var next: SharedWorkSubscription?
  var previous: SharedWorkSubscription?

  init(
    _ work: SharedWork<Key, Value, Failure>,
    _ run: SharedRun<Key, Value, Failure>,
    _ demand: WorkDemand,
    isCaller: Bool,
    _ receive: @escaping @Sendable (SharedWork<Key, Value, Failure>.Event) -> Void,
  ) {
    (self.work, self.run, self.demand) = (work, run, demand)
    (self.isCaller, self.receive) = (isCaller, receive)
  }

  /// Leaves the work, which is cancelled if it has no other subscriber; does nothing after the end.
  package func cancel() { work.leave(self) }

  /// Changes the urgency of the subscriber.
  package func setPriority(_ priority: Priority) { work.change(self) { $0.priority = priority } }

  /// Changes the demand of the subscriber.
  package func setDemand(_ demand: WorkDemand) { work.change(self) { $0 = demand } }

  /// Requests the events before the end from now on.
  package func watch(_ interest: WorkDemand.Interest = .partials) { work.change(self) { $0.interest = interest } }

  /// The progress of the work, whether or not anyone watches it; `nil` if the work does not know it.
  package var progress: WorkProgress? { work.read(run) { $0.progressReader }?() }
}

/// The handle by which the work reads the demand of its subscribers and sends them events.
package struct WorkHandle<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  private let work: SharedWork<Key, Value, Failure>
  private let run: SharedRun<Key, Value, Failure>

  init(_ work: SharedWork<Key, Value, Failure>, _ run: SharedRun<Key, Value, Failure>) {
    (self.work, self.run) = (work, run)
  }

  /// The highest demand of the subscribers.
  package var demand: WorkDemand { work.read(run) { $0.demand } }

  /// The highest priority of the subscribers.
  package var priority: Priority { demand.priority }

  /// A Boolean value that indicates whether the work has ended or lost its subscribers.
  package var hasEnded: Bool { work.read(run) { $0.hasEnded } }

  /// Calls `tell` with the demand, at once and whenever it changes.
  ///
  /// It replaces the previous closure; `nil` ends the calls.
  package func follow(_ tell: (@Sendable (WorkDemand) -> Void)?) { work.follow(run, tell) }

  /// Calls `tell` with the priority, at once and whenever the demand changes.
  package func followPriority(_ tell: @escaping @Sendable (Priority) -> Void) { follow { tell($0.priority) } }

  /// Keeps the priority of a queue's item equal to this one.
  package func followPriority(_ item: WorkItem) {
    followPriority { if item.priority != $0 { item.priority = $0 } }
  }

  /// Has `read` answer subscribers that ask for the progress; `nil` ends that.
  package func readProgress(_ read: (@Sendable () -> WorkProgress?)?) { work.readProgress(run, read) }

  /// Lets the work continue after its last subscriber has left; ``SharedWork/cancelAll(_:)`` still ends it.
  package func keepRunning() { work.read(run) { $0.isKept = true } }

  /// Passes an object of the work to all subscribers, present and later.
  package func identify(as object: some AnyObject & Sendable) { work.send(.identified(object), run) }

  /// Sends the progress to the subscribers that are interested in it.
  package func send(progress completed: Int, of total: Int) {
    work.send(.progress(completed: completed, total: total), run)
  }

  /// Sends a value before the end to the subscribers that are interested in partial values.
  package func send(partial value: Value) { work.send(.partial(value), run) }
}
