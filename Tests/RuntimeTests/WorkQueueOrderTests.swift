import Testing
import VitrineRuntime
import VitrineTestSupport

@Suite(.patient)
struct WorkQueueOrderTests {
  /// Enqueues items named by their priorities and places, and returns their handles.
  private func enqueue(
    _ items: [(name: String, priority: Priority)],
    on queue: WorkQueue,
    into record: Record<String>,
  ) throws -> [WorkItem] {
    try items.map { name, priority in
      try queue.enqueue(priority: priority) { _ in record.add(name) }
    }
  }

  @Test(arguments: Priority.allCases)
  func withinAPriorityTheFirstToComeIsTheFirstToStart(priority: Priority) throws {
    let blocked = try BlockedQueue()
    let record = Record<Int>()
    for number in 0..<10 {
      try blocked.queue.enqueue(priority: priority) { _ in record.add(number) }
    }
    blocked.gate.open()
    #expect(record.wait(for: 10) == Array(0..<10))
  }

  @Test
  func higherPrioritiesStartFirst() throws {
    let blocked = try BlockedQueue()
    let record = Record<Priority>()
    let order: [Priority] = [.normal, .veryHigh, .low, .veryLow, .high, .normal, .veryHigh]
    for priority in order {
      try blocked.queue.enqueue(priority: priority) { _ in record.add(priority) }
    }
    blocked.gate.open()
    #expect(record.wait(for: 7) == order.sorted(by: >))
  }

  @Test
  func aPromotedItemGoesBehindTheOthers() throws {
    let blocked = try BlockedQueue()
    let record = Record<String>()
    let items = try enqueue(
      [("a", .low), ("b", .low), ("c", .high), ("d", .high)],
      on: blocked.queue,
      into: record,
    )
    items[0].priority = .high
    #expect(items[0].priority == .high)
    blocked.gate.open()
    #expect(record.wait(for: 4) == ["c", "d", "a", "b"])
  }

  @Test
  func aDemotedItemGoesBeforeTheOthers() throws {
    let blocked = try BlockedQueue()
    let record = Record<String>()
    let items = try enqueue(
      [("a", .low), ("b", .low), ("c", .high), ("d", .high)],
      on: blocked.queue,
      into: record,
    )
    items[3].priority = .low
    blocked.gate.open()
    #expect(record.wait(for: 4) == ["c", "d", "a", "b"])
  }

  @Test
  func aDemotedItemGoesBeforeOneThatWasDemotedEarlier() throws {
    let blocked = try BlockedQueue()
    let record = Record<String>()
    let items = try enqueue(
      [("a", .low), ("b", .high), ("c", .high)],
      on: blocked.queue,
      into: record,
    )
    items[1].priority = .low
    items[2].priority = .low
    blocked.gate.open()
    #expect(record.wait(for: 3) == ["c", "b", "a"])
  }

  @Test
  func theSamePriorityAgainMovesNothing() throws {
    let blocked = try BlockedQueue()
    let record = Record<String>()
    let items = try enqueue(
      [("a", .normal), ("b", .normal), ("c", .normal)],
      on: blocked.queue,
      into: record,
    )
    for item in items { item.priority = .normal }
    blocked.gate.open()
    #expect(record.wait(for: 3) == ["a", "b", "c"])
  }

  @Test(arguments: [0, 1, 2])
  func anItemInAnyPlaceMovesToAnEmptyPriority(place: Int) throws {
    let blocked = try BlockedQueue()
    let record = Record<String>()
    let names = ["a", "b", "c"]
    let items = try enqueue(names.map { ($0, .normal) }, on: blocked.queue, into: record)
    items[place].priority = .veryHigh
    blocked.gate.open()
    let others = names.filter { $0 != names[place] }
    #expect(record.wait(for: 3) == [names[place]] + others)
  }

  @Test
  func aPriorityMayChangeAfterTheStartAndAfterTheEnd() async throws {
    let blocked = try BlockedQueue()
    let item = try blocked.queue.enqueue { _ in }
    blocked.gate.open()
    try await blocked.queue.run(priority: .veryLow) { _ in }
    item.priority = .veryHigh
    #expect(item.priority == .veryHigh)
    #expect(blocked.queue.pendingCount == 0)
  }

  @Test
  func theWorkMayChangeItsQueue() throws {
    let queue = WorkQueue(label: "recursive", width: 1)
    let record = Record<String>()
    try queue.enqueue { item in
      item.priority = .high
      for name in ["a", "b"] {
        let enqueued = try? queue.enqueue { _ in record.add(name) }
        if name == "a" { enqueued?.priority = .low }
      }
    }
    #expect(record.wait(for: 2) == ["b", "a"])
  }
}
