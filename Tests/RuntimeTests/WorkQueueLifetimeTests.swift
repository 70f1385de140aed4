import Testing
import VitrineRuntime
import VitrineTestSupport

@Suite(.patient)
struct WorkQueueLifetimeTests {
  @Test
  func aReleasedQueueRunsWhatIsPendingAndEndsItsThreads() throws {
    let (ends, gate, record) = (ThreadEnds(), Gate(), Record<Int>())
    weak var released: WorkQueue?
    do {
      let queue = WorkQueue(label: "released", width: 1)
      released = queue
      try queue.enqueue { _ in
        ends.watch()
        gate.wait()
      }
      for number in 0..<3 { try queue.enqueue { _ in record.add(number) } }
    }
    #expect(released == nil)
    gate.open()
    ends.wait(for: 1)
    #expect(record.events == [0, 1, 2])
  }

  @Test
  func releasingEndsIdleThreadsAtOnce() throws {
    let (ends, gate, started) = (ThreadEnds(), Gate(), Record<Int>())
    do {
      let queue = WorkQueue(label: "released", width: 3, idleTime: .seconds(86_400))
      for number in 0..<3 {
        try queue.enqueue { _ in
          ends.watch()
          started.add(number)
          gate.wait()
        }
      }
      started.wait(for: 3)
      gate.open()
    }
    ends.wait(for: 3)
  }

  @Test
  func theWorkMayHoldTheLastReferenceToItsQueue() throws {
    let ends = ThreadEnds()
    let gate = Gate()
    do {
      let queue = WorkQueue(label: "released", width: 1)
      try queue.enqueue { _ in
        ends.watch()
        gate.wait()
        _ = queue.threadCount
      }
    }
    gate.open()
    ends.wait(for: 1)
  }

  @Test
  func anIdleThreadEndsAndTheNextItemGetsAnother() throws {
    let queue = WorkQueue(label: "idle", width: 1, idleTime: .zero)
    let record = Record<Int>()
    for number in 0..<3 {
      let ends = ThreadEnds()
      try queue.enqueue { _ in
        ends.watch()
        record.add(number)
      }
      ends.wait(for: 1)
      #expect(queue.threadCount == 0)
    }
    #expect(record.events == [0, 1, 2])
  }

  @Test
  func loweringTheWidthEndsIdleThreads() throws {
    let (ends, gate, started) = (ThreadEnds(), Gate(), Record<Int>())
    let queue = WorkQueue(label: "narrower", width: 3, idleTime: .seconds(86_400))
    for number in 0..<3 {
      try queue.enqueue { _ in
        ends.watch()
        started.add(number)
        gate.wait()
      }
    }
    started.wait(for: 3)
    gate.open()
    queue.width = 1
    ends.wait(for: 2)
    #expect(queue.threadCount == 1)
  }

  enum Ending: CaseIterable {
    case ran, cancelledPending, cancelledRunning, overloaded
  }

  @Test(arguments: Ending.allCases)
  func nothingOfAnItemIsKeptAfterItsEnd(ending: Ending) throws {
    weak var captured: Gate<Void>?
    weak var item: WorkItem?
    let ends = ThreadEnds()
    do {
      let queue = WorkQueue(label: "leak", width: 1, queueLimit: 1)
      let (gate, started) = (Gate(), Record<Int>())
      try queue.enqueue { _ in
        ends.watch()
        started.add(0)
        gate.wait()
      }
      started.wait(for: 1)
      let content = Gate()
      captured = content
      if ending == .overloaded { try queue.enqueue { _ in } }
      let enqueued = try? queue.enqueue { _ in
        started.add(1)
        content.wait()
      }
      item = enqueued
      if ending == .cancelledPending { enqueued?.cancel() }
      gate.open()
      if ending == .ran || ending == .cancelledRunning { started.wait(for: 2) }
      if ending == .cancelledRunning { enqueued?.cancel() }
      content.open()
    }
    ends.wait(for: 1)
    #expect(captured == nil)
    #expect(item == nil)
  }

  @Test
  func aHandleKeepsNeitherTheWorkNorTheQueue() throws {
    weak var captured: Gate<Void>?
    weak var released: WorkQueue?
    let ends = ThreadEnds()
    let item: WorkItem
    do {
      let queue = WorkQueue(label: "leak", width: 1)
      let content = Gate()
      (released, captured) = (queue, content)
      item = try queue.enqueue { _ in
        ends.watch()
        content.open()
      }
    }
    ends.wait(for: 1)
    #expect(captured == nil)
    #expect(released == nil)
    #expect(!item.cancel())
  }
}

@Suite(.patient)
struct WorkQueueStressTests {
  private struct Load {
    var items = 0
    var wasExceeded = false
  }

  /// What one thread did; summed up over all.
  private struct Total {
    var enqueued = 0
    var cancelled = 0
  }

  @Test
  func anyOrderOfOperationsRunsOrCancelsEachItemOnce() {
    let maxWidth = 4
    let ends = Record<Total>()
    let ran = Record<Void>()
    let load = Lock(Load())
    let queue = WorkQueue(label: "stress", width: maxWidth)

    onThreads(16) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      var total = Total()
      var items: [WorkItem] = []
      for _ in 0..<10_000 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
          let priority = Priority.allCases.randomElement(using: &random) ?? .normal
          let item = try? queue.enqueue(priority: priority) { _ in
            load.withLock { load in
              load.items += 1
              if load.items > maxWidth { load.wasExceeded = true }
            }
            load.withLock { $0.items -= 1 }
            ran.add(())
          }
          guard let item else { continue }
          total.enqueued += 1
          items.append(item)
        case 5..<7:
          if items.randomElement(using: &random)?.cancel() == true { total.cancelled += 1 }
        case 7:
          items.randomElement(using: &random)?.priority =
            Priority.allCases.randomElement(using: &random) ?? .normal
        default:
          queue.width = Int.random(in: 1...maxWidth, using: &random)
        }
      }
      ends.add(total)
    }

    let enqueued = ends.events.map(\.enqueued).reduce(0, +)
    let cancelled = ends.events.map(\.cancelled).reduce(0, +)
    #expect(ran.wait(for: enqueued - cancelled).count == enqueued - cancelled)
    #expect(queue.pendingCount == 0)
    #expect(!load.withLock { $0.wasExceeded })
    #expect(enqueued > 70_000 && cancelled > 0)
  }
}
