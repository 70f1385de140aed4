import VitrineTesting

/// The events of a test, in order, which tasks and threads can wait for.
package final class Record<Event: Sendable>: Sendable {
  private let state = Watched<[Event]>([])

  package init(of type: Event.Type = Event.self) {}

  package var events: [Event] { state.value }

  package func add(_ event: Event) { state.change { $0.append(event) } }

  /// Suspends the task until there are `count` events; returns early if it is cancelled.
  package func reaches(_ count: Int) async { await state.wait { $0.count >= count } }

  /// Suspends the task until the events satisfy `condition`; returns early if it is cancelled.
  package func wait(until condition: @escaping @Sendable ([Event]) -> Bool) async { await state.wait(until: condition) }

  /// Blocks the thread until there are `count` events; it must not be one of Swift's.
  @discardableResult
  package func wait(for count: Int) -> [Event] { state.block { $0.count >= count } }
}
