/// The demand of a subscriber, or the highest of several.
@usableFromInline
package struct WorkDemand: Sendable, Hashable {
  /// The events that a subscriber receives before the end.
  @usableFromInline
  package enum Interest: Int, Sendable, Comparable {
    case none, progress, partials

    @inlinable
    package static func < (left: Interest, right: Interest) -> Bool { left.rawValue < right.rawValue }
  }

  /// The urgency.
  @usableFromInline
  package var priority: Priority
  /// The events before the end.
  ///
  /// The interest in a run never falls.
  @usableFromInline
  package var interest: Interest
  /// A Boolean value that indicates whether the result is to be stored by the work.
  ///
  /// It never becomes `false` for a run.
  @usableFromInline
  package var storesResult: Bool

  @inlinable
  package init(_ priority: Priority, _ interest: Interest = .none, storesResult: Bool = false) {
    (self.priority, self.interest, self.storesResult) = (priority, interest, storesResult)
  }

  /// Returns the demand on work that serves this work: with events up to `interest`, and without storing.
  ///
  /// `nil` limits nothing.
  @inlinable
  package func limited(to interest: Interest?) -> WorkDemand {
    guard let interest else { return self }
    return WorkDemand(priority, min(self.interest, interest))
  }
}

/// The completed and the total number of units of work; 0 for an unknown total.
@usableFromInline
package struct WorkProgress: Sendable, Hashable {
  @usableFromInline
  package let completed: Int
  @usableFromInline
  package let total: Int

  @inlinable
  package init(_ completed: Int, of total: Int) { (self.completed, self.total) = (completed, total) }
}

/// An object on which work depends, such as other work, an item of a queue or a transfer.
@usableFromInline
package protocol WorkDependency: AnyObject, Sendable {
  /// The progress; `nil` if it is unknown.
  var progress: WorkProgress? { get }

  /// Receives the demand on the work, in calls that do not overlap; or `nil`, at any time, once the work is wanted no more.
  func setDemand(_ demand: WorkDemand?)
}

/// A subscription to shared work.
///
/// Releasing it does not cancel it.
@usableFromInline
// @unchecked: the lock of its work guards all mutable state.
package final class SharedWorkSubscription<Key: Hashable & Sendable, Value: Sendable, Failure: Error>:
  WorkDependency, @unchecked Sendable
{
  @usableFromInline
  let work: SharedWork<Key, Value, Failure>
  @usableFromInline
  let run: SharedRun<Key, Value, Failure>
  @usableFromInline
  let receive: @Sendable (SharedWork<Key, Value, Failure>.Event) -> Void
  @usableFromInline
  var demand: WorkDemand
  /// The most interest that the subscriber has whatever its demand; with it, it never wants the result stored.
  @usableFromInline
  let limit: WorkDemand.Interest?
  @usableFromInline
  let isCaller: Bool
  @usableFromInline
  var isActive = false
  /// The position among all subscribers of the run.
  @usableFromInline
  var number = 0
  // The neighbours in the list. The cycle of strong references ends, since every subscriber leaves or receives the end.
  @usableFromInline
  var next: SharedWorkSubscription?
  @usableFromInline
  var previous: SharedWorkSubscription?

  @inlinable
  init(
    _ work: SharedWork<Key, Value, Failure>,
    _ run: SharedRun<Key, Value, Failure>,
    _ demand: WorkDemand,
    limit: WorkDemand.Interest?,
    isCaller: Bool,
    _ receive: @escaping @Sendable (SharedWork<Key, Value, Failure>.Event) -> Void,
  ) {
    (self.work, self.run, self.limit) = (work, run, limit)
    (self.isCaller, self.receive) = (isCaller, receive)
    self.demand = demand.limited(to: limit)
  }

  /// Leaves the work, which is cancelled if it has no other subscriber; does nothing after the end.
  @inlinable
  package func cancel() { work.leave(self) }

  /// Changes the urgency of the subscriber.
  @inlinable
  package func setPriority(_ priority: Priority) { work.change(self) { $0.priority = priority } }

  /// Changes the demand of the subscriber; `nil` cancels the subscription.
  @inlinable
  package func setDemand(_ demand: WorkDemand?) {
    guard let demand else { return cancel() }
    work.change(self) { [limit] in $0 = demand.limited(to: limit) }
  }

  /// Requests the events before the end from now on.
  @inlinable
  package func watch(_ interest: WorkDemand.Interest = .partials) { work.change(self) { $0.interest = interest } }

  /// The progress of the work, whether or not anyone watches it; `nil` if the work does not know it.
  @inlinable
  package var progress: WorkProgress? {
    let (dependency, sent) = work.read(run) { ($0.remains.dependency, $0.progress) }
    return dependency?.progress ?? sent
  }
}

/// The handle by which the work reads the demand of its subscribers and sends them events.
@usableFromInline
package struct WorkHandle<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline
  let work: SharedWork<Key, Value, Failure>
  @usableFromInline
  let run: SharedRun<Key, Value, Failure>

  @inlinable
  init(_ work: SharedWork<Key, Value, Failure>, _ run: SharedRun<Key, Value, Failure>) {
    (self.work, self.run) = (work, run)
  }

  /// The highest demand of the subscribers.
  @inlinable
  package var demand: WorkDemand { work.read(run) { $0.demand } }

  /// The highest priority of the subscribers.
  @inlinable
  package var priority: Priority { demand.priority }

  /// A Boolean value that indicates whether the work has ended or lost its subscribers.
  @inlinable
  package var hasEnded: Bool { work.read(run) { $0.hasEnded } }

  /// Passes the demand to an object on which the work depends, at once and whenever it changes.
  ///
  /// It replaces the previous one; `nil` ends the calls. The object is cancelled with the work, whose progress is the
  /// object's.
  @inlinable
  package func depend(on dependency: (any WorkDependency)?) { work.depend(run, on: dependency) }

  /// Records the progress for subscribers that ask for it, without an event.
  @inlinable
  package func note(_ progress: WorkProgress) { work.read(run) { $0.progress = progress } }

  /// Continues the work in a task; returns `false` if it has ended.
  @inlinable
  package func goOn(_ body: sending @escaping @isolated(any) () async -> Void) -> Bool {
    work.goOn(run, on: work.executor, body)
  }

  /// Continues the work in a task on another executor, `nil` for Swift's own, where it may block; returns `false` if it
  /// has ended.
  @inlinable
  package func goOn(
    on executor: (any TaskExecutor)?,
    _ body: sending @escaping @isolated(any) () async -> Void,
  ) -> Bool {
    work.goOn(run, on: executor, body)
  }

  /// Continues the work in a task, with an `async` function that ends it.
  @inlinable
  package func goOn(with body: @escaping SharedWork<Key, Value, Failure>.Work) {
    _ = goOn {
      do throws(Failure) {
        end(.success(try await body(self)))
      } catch {
        end(.failure(error))
      }
    }
  }

  /// Ends the work; does nothing if it has ended.
  @inlinable
  package func end(_ outcome: Result<Value, Failure>) { work.end(run, outcome) }

  /// Lets the work continue after its last subscriber has left; ``SharedWork/cancelAll(_:)`` still ends it.
  @inlinable
  package func keepRunning() { work.read(run) { $0.isKept = true } }

  /// Passes an object of the work to all subscribers, present and later.
  @inlinable
  package func identify(as object: some AnyObject & Sendable) { work.send(.identified(object), run) }

  /// Sends the progress to the subscribers that are interested in it.
  @inlinable
  package func send(progress completed: Int, of total: Int) {
    work.send(.progress(completed: completed, total: total), run)
  }

  /// Sends a value before the end to the subscribers that are interested in partial values.
  @inlinable
  package func send(partial value: Value) { work.send(.partial(value), run) }
}

/// A dependency that passes the demand to a closure.
package final class DemandReceiver: WorkDependency {
  private let receive: @Sendable (WorkDemand) -> Void

  package init(_ receive: @escaping @Sendable (WorkDemand) -> Void) { self.receive = receive }

  package var progress: WorkProgress? { nil }

  package func setDemand(_ demand: WorkDemand?) {
    if let demand { receive(demand) }
  }
}

extension WorkItem: WorkDependency {
  package var progress: WorkProgress? { nil }

  package func setDemand(_ demand: WorkDemand?) {
    guard let demand else { return _ = cancel() }
    if priority != demand.priority { priority = demand.priority }
  }
}
