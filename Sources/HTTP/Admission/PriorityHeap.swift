/// A binary heap with the smallest entry on top.
///
/// - Complexity: O(log n) to add and to take.
struct PriorityHeap<Entry: Comparable> {
  private var entries: [Entry]

  /// Creates a heap.
  ///
  /// - Complexity: O(n log n).
  init(_ entries: [Entry] = []) {
    // A sorted array is a heap.
    self.entries = entries.sorted()
  }

  var count: Int { entries.count }
  var first: Entry? { entries.first }

  mutating func add(_ entry: Entry) {
    entries.append(entry)
    var child = entries.count - 1
    while child > 0, entries[child] < entries[(child - 1) / 2] {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  @discardableResult
  mutating func takeFirst() -> Entry? {
    guard !entries.isEmpty else { return nil }
    entries.swapAt(0, entries.count - 1)
    let first = entries.removeLast()
    var parent = 0
    while 2 * parent + 1 < entries.count {
      var child = 2 * parent + 1
      if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
      guard entries[child] < entries[parent] else { break }
      entries.swapAt(child, parent)
      parent = child
    }
    return first
  }

  /// Removes the entries for which `isKept` returns `false`.
  mutating func keepOnly(_ isKept: (Entry) -> Bool) {
    self = PriorityHeap(entries.filter(isKept))
  }
}
