import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct WorkQueueWidthTests {
  @Test
  func anUnusedQueueHasNoThread() {
    let queue = WorkQueue(label: "empty", width: 4)
    #expect(queue.threadCount == 0)
    #expect(queue.pendingCount == 0)
    #expect(queue.runningCount == 0)
  }

  @Test
  func withoutAnyThreadNothingIsTaken() async {
    // No address space has room for such a stack.
    let queue = WorkQueue(label: "refused", width: 1, stackSize: 1 << 60)
    #expect(throws: WorkQueueError.threadUnavailable) { try queue.enqueue { _ in } }
    await #expect(throws: WorkQueueError.threadUnavailable) { try await queue.run { _ in } }
    #expect(queue.pendingCount == 0)
    #expect(queue.threadCount == 0)
  }

  @Test(arguments: [1, 2, 5])
  func noMoreRunAtOnceThanItIsWide(width: Int) throws {
    let blocked = try BlockedQueue(width: width)
    let ended = Record<Int>()
    for number in 0..<3 { try blocked.queue.enqueue { _ in ended.add(number) } }
    #expect(blocked.queue.runningCount == width)
    #expect(blocked.queue.pendingCount == 3)
    #expect(blocked.queue.threadCount == width)
    blocked.gate.open()
    ended.wait(for: 3)
    #expect(blocked.queue.threadCount <= width)
  }

  @Test
  func raisingItStartsMoreAtOnce() throws {
    let blocked = try BlockedQueue()
    let started = Record<Int>()
    for number in 0..<4 {
      try blocked.queue.enqueue { [gate = blocked.gate] _ in
        started.add(number)
        gate.wait()
      }
    }
    blocked.queue.width = 3
    started.wait(for: 2)
    #expect(blocked.queue.runningCount == 3)
    #expect(blocked.queue.pendingCount == 2)
    blocked.gate.open()
    started.wait(for: 4)
  }

  @Test
  func loweringItLetsRunningWorkEnd() throws {
    let queue = WorkQueue(label: "narrower", width: 3)
    let (gates, started, ended) = ((0..<5).map { _ in Gate() }, Record<Int>(), Record<Int>())
    for number in 0..<3 {
      try queue.enqueue { _ in
        started.add(number)
        gates[number].wait()
        ended.add(number)
      }
    }
    started.wait(for: 3)
    queue.width = 1
    for number in 3..<5 {
      try queue.enqueue { _ in
        started.add(number)
        gates[number].wait()
      }
    }
    #expect(queue.runningCount == 3)

    gates[0].open()
    gates[1].open()
    ended.wait(for: 2)
    #expect(started.events.count == 3)

    gates[2].open()
    started.wait(for: 4)
    #expect(started.events.last == 3)
    #expect(queue.runningCount == 1)

    gates[3].open()
    gates[4].open()
    started.wait(for: 5)
  }

  @Test(arguments: [0, -1, Int.min])
  func itIsAtLeastOneWide(width: Int) {
    let queue = WorkQueue(label: "narrow", width: width)
    #expect(queue.width == 1)
    queue.width = width
    #expect(queue.width == 1)
  }
}

@Suite(.patient)
struct WorkQueuePendingLimitTests {
  @Test(arguments: [0, 1, 3])
  func beyondTheLimitItFailsAtOnce(limit: Int) throws {
    let blocked = try BlockedQueue(width: 2, queueLimit: limit)
    for _ in 0..<limit { try blocked.queue.enqueue { _ in } }
    #expect(throws: WorkQueueError.overloaded) { try blocked.queue.enqueue { _ in } }
    #expect(blocked.queue.pendingCount == limit)
    blocked.gate.open()
  }

  @Test
  func aCancelledItemMakesRoom() throws {
    let blocked = try BlockedQueue(queueLimit: 1)
    let item = try blocked.queue.enqueue { _ in }
    item.cancel()
    try blocked.queue.enqueue { _ in }
    #expect(throws: WorkQueueError.overloaded) { try blocked.queue.enqueue { _ in } }
    blocked.gate.open()
  }

  @Test
  func freeSlotsDoNotCount() throws {
    let queue = WorkQueue(label: "limited", width: 3, queueLimit: 1)
    let gate = Gate()
    for _ in 0..<4 { try queue.enqueue { _ in gate.wait() } }
    #expect(throws: WorkQueueError.overloaded) { try queue.enqueue { _ in } }
    gate.open()
  }

  @Test
  func whoAwaitsIsToldToo() async throws {
    let blocked = try BlockedQueue(queueLimit: 0)
    await #expect(throws: WorkQueueError.overloaded) { try await blocked.queue.run { _ in } }
    blocked.gate.open()
  }
}

@Suite(.patient)
struct WorkQueueAbandoningTests {
  private final class Held: Sendable {
    let begun = Counter()
    let gate = Gate()

    func work(_ item: WorkItem) {
      begun.increase()
      gate.wait()
    }
  }

  @Test
  func anotherThreadTakesThePlaceOfAStuckOne() async throws {
    let queue = WorkQueue(label: "stuck", width: 1)
    let held = Held()
    let stuck = try queue.enqueue { held.work($0) }
    await held.begun.reaches(1)

    let next = Task { try await queue.run { _ in 7 } }
    #expect(stuck.abandon())

    #expect(try await next.value == 7)
    #expect(stuck.isCancelled)
    #expect(queue.runningCount == 0)
    held.gate.open()
  }

  @Test
  func thereIsOneSubstituteForEachWorker() async throws {
    let queue = WorkQueue(label: "stuck", width: 1)
    let held = Held()
    let first = try queue.enqueue { held.work($0) }
    await held.begun.reaches(1)
    #expect(first.abandon())
    #expect(!first.abandon())
    let second = try queue.enqueue { held.work($0) }
    await held.begun.reaches(2)

    #expect(!second.abandon())
    #expect(queue.runningCount == 1)

    held.gate.open()
    #expect(try await queue.run { _ in 7 } == 7)
    #expect(queue.threadCount == 1)
  }

  @Test
  func workThatHasEndedIsNotAbandoned() async throws {
    let queue = WorkQueue(label: "ended", width: 1)
    let item = Lock<WorkItem?>(nil)
    try await queue.run { running in item.withLock { $0 = running } }

    #expect(item.withLock { $0 }?.abandon() == false)
    #expect(try await queue.run { _ in 7 } == 7)
  }
}
