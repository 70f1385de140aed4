import VitrineTesting

/// A count that tasks can wait for.
package final class Counter: Sendable {
  private let state = Watched(0)

  package init() {}

  package var count: Int { state.value }

  /// Adds one.
  ///
  /// - Returns: The new count.
  @discardableResult
  package func increase() -> Int {
    state.change { count in
      count += 1
      return count
    }
  }

  /// Suspends the task until the count is at least `count`; returns early if the task is cancelled.
  package func reaches(_ count: Int) async { await state.wait { $0 >= count } }
}
