/// Actions in the order of their due times.
///
/// Actions that are due at once keep the order in which they were added.
///
/// - Complexity: O(log n) to add and to take, amortised O(1) to remove. Removal is the common case: every request
///   schedules a time-out, and hardly any fires.
package struct Timeline {
  /// Identifies an added action.
  package struct ID: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct Entry {
    let due: Duration
    let number: UInt64

    func isBefore(_ other: Entry) -> Bool {
      (due, number) < (other.due, other.number)
    }
  }

  // The heap is binary. Removed actions stay in it as entries without an action until they reach the top, or until they
  // are the majority.
  private var heap: [Entry] = []
  private var actions: [UInt64: @Sendable () -> Void] = [:]
  private var lastNumber: UInt64 = 0

  /// Creates a timeline without actions.
  package init() {}

  /// The number of pending actions.
  package var count: Int { actions.count }

  /// The time at which the next action is due; `nil` if there is none.
  package var nextDue: Duration? {
    mutating get {
      dropRemoved()
      return heap.first?.due
    }
  }

  /// Adds an action.
  package mutating func add(at due: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
    lastNumber += 1
    actions[lastNumber] = action
    heap.append(Entry(due: due, number: lastNumber))
    siftUp()
    return ID(number: lastNumber)
  }

  /// Removes an action before it is due.
  ///
  /// - Returns: The action, for the caller to release outside any lock; `nil` if it was already taken.
  package mutating func remove(_ id: ID) -> (@Sendable () -> Void)? {
    guard let action = actions.removeValue(forKey: id.number) else { return nil }
    if heap.count > 2 * actions.count + 64 { rebuild() }
    return action
  }

  /// Removes and returns the first action, with its time, if it is due.
  package mutating func takeFirst(
    dueBy uptime: Duration
  ) -> (due: Duration, action: @Sendable () -> Void)? {
    guard let due = nextDue, due <= uptime else { return nil }
    guard let action = actions.removeValue(forKey: removeTop().number) else { return nil }
    return (due, action)
  }

  private mutating func dropRemoved() {
    while let top = heap.first, actions[top.number] == nil { _ = removeTop() }
  }

  private mutating func rebuild() {
    // A sorted array is a heap.
    heap = heap.filter { actions[$0.number] != nil }.sorted { $0.isBefore($1) }
  }

  private mutating func removeTop() -> Entry {
    heap.swapAt(0, heap.count - 1)
    let top = heap.removeLast()
    siftDown()
    return top
  }

  private mutating func siftUp() {
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < heap.count else { return }
      if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }
}
