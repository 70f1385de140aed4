/// The pending items of a queue: one doubly linked list for each priority, linked through the items.
///
/// - Complexity: O(1) for each operation.
struct WorkBacklog {
  private struct Bucket {
    var first: WorkItem?
    var last: WorkItem?
  }

  private var buckets = [Bucket](repeating: Bucket(), count: Priority.allCases.count)

  /// The number of items.
  private(set) var count = 0

  /// The next item: the first of the highest priority.
  var first: WorkItem? {
    buckets.last { $0.first != nil }?.first
  }

  /// Adds an item after all others of its priority.
  mutating func append(_ item: WorkItem) {
    let last = buckets[item.level.rawValue].last
    item.previous = last
    last?.next = item
    buckets[item.level.rawValue].last = item
    if last == nil { buckets[item.level.rawValue].first = item }
    count += 1
  }

  /// Adds an item before all others of its priority.
  mutating func prepend(_ item: WorkItem) {
    let first = buckets[item.level.rawValue].first
    item.next = first
    first?.previous = item
    buckets[item.level.rawValue].first = item
    if first == nil { buckets[item.level.rawValue].last = item }
    count += 1
  }

  /// Removes an item, which must be present.
  mutating func remove(_ item: WorkItem) {
    let (previous, next) = (item.previous, item.next)
    if let previous { previous.next = next } else { buckets[item.level.rawValue].first = next }
    if let next { next.previous = previous } else { buckets[item.level.rawValue].last = previous }
    item.previous = nil
    item.next = nil
    count -= 1
  }

  /// Moves an item, which must be present, to its place in another priority.
  mutating func move(_ item: WorkItem, to priority: Priority) {
    let isPromoted = item.level < priority
    guard isPromoted || priority < item.level else { return }
    remove(item)
    item.level = priority
    if isPromoted { append(item) } else { prepend(item) }
  }
}
