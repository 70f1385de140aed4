import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct WorkQueueCancellationTests {
  @Test(arguments: [0, 1, 2])
  func aCancelledPendingItemNeverRuns(place: Int) throws {
    let blocked = try BlockedQueue()
    let record = Record<Int>()
    let items = try (0..<3).map { number in
      try blocked.queue.enqueue { _ in record.add(number) }
    }
    #expect(items[place].cancel())
    #expect(items[place].isCancelled)
    #expect(blocked.queue.pendingCount == 2)
    try blocked.queue.enqueue { _ in record.add(3) }
    blocked.gate.open()
    #expect(record.wait(for: 3) == [0, 1, 2, 3].filter { $0 != place })
  }

  @Test
  func aSecondCancelDoesNothing() throws {
    let blocked = try BlockedQueue()
    let item = try blocked.queue.enqueue { _ in }
    #expect(item.cancel())
    #expect(!item.cancel())
    item.priority = .veryHigh
    #expect(blocked.queue.pendingCount == 0)
    blocked.gate.open()
  }

  @Test
  func runningWorkObservesItsCancellation() throws {
    let queue = WorkQueue(label: "cancel", width: 1)
    let (gate, started, seen) = (Gate(), Record<Bool>(), Record<Bool>())
    let item = try queue.enqueue { item in
      started.add(item.isCancelled)
      gate.wait()
      seen.add(item.isCancelled)
    }
    #expect(started.wait(for: 1) == [false])
    #expect(!item.cancel())
    gate.open()
    #expect(seen.wait(for: 1) == [true])
  }

  @Test
  func cancellingAfterTheEndChangesNothing() async throws {
    let queue = WorkQueue(label: "cancel", width: 1)
    let item = try queue.enqueue { _ in }
    try await queue.run { _ in }
    #expect(!item.cancel())
    #expect(!item.isCancelled)
  }

  @Test
  func whatACancelledItemRefersToMayUseTheQueueWhenItGoes() throws {
    final class Farewell: Sendable {
      let queue: WorkQueue
      let counts: Record<Int>

      init(queue: WorkQueue, counts: Record<Int>) {
        self.queue = queue
        self.counts = counts
      }

      deinit { counts.add(queue.pendingCount) }
    }

    let blocked = try BlockedQueue()
    let counts = Record<Int>()
    let farewell = Farewell(queue: blocked.queue, counts: counts)
    let item = try blocked.queue.enqueue { [farewell] _ in _ = farewell }
    _ = consume farewell
    item.cancel()
    blocked.gate.open()
    #expect(counts.wait(for: 1) == [0])
  }
}

@Suite(.patient)
struct WorkQueueRunTests {
  @Test
  func itReturnsTheValue() async throws {
    let queue = WorkQueue(label: "run", width: 1)
    #expect(try await queue.run { _ in 42 } == 42)
    #expect(queue.runningCount == 0)
  }

  @Test
  func workThatThrowsFreesItsSlot() async throws {
    let queue = WorkQueue(label: "run", width: 1)
    for _ in 0..<3 {
      await #expect(throws: Failure()) {
        try await queue.run { _ in throw Failure() }
      }
      #expect(queue.runningCount == 0)
    }
    #expect(try await queue.run { _ in 1 } == 1)
  }

  @Test
  func aTaskCancelledBeforehandStartsNothing() async throws {
    let queue = WorkQueue(label: "run", width: 1)
    let started = Record<Int>()
    let (ready, task) = (Deferred<Void>(), Deferred<Void>())
    let outcome = Task {
      await ready.value()
      task.resolve(())
      return try await queue.run { _ in started.add(1) }
    }
    outcome.cancel()
    ready.resolve(())
    await task.value()
    await #expect(throws: CancellationError.self) { try await outcome.value }
    #expect(started.events.isEmpty)
    #expect(queue.pendingCount == 0)
  }

  @Test
  func aTaskCancelledWhilePendingEndsAtOnce() async throws {
    let blocked = try BlockedQueue()
    let started = Record<Int>()
    let task = Task { try await blocked.queue.run { _ in started.add(1) } }
    try await until { blocked.queue.pendingCount == 1 }
    task.cancel()
    // The slot is still taken: this can only return because nothing is waited for.
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(blocked.queue.pendingCount == 0)
    #expect(blocked.queue.runningCount == 1)
    blocked.gate.open()
    try await blocked.queue.run { _ in }
    #expect(started.events.isEmpty)
  }

  @Test
  func aTaskCancelledWhileRunningIsObserved() async throws {
    let queue = WorkQueue(label: "run", width: 1)
    let (started, cancelled) = (Deferred<Void>(), Gate())
    let task = Task {
      try await queue.run { item in
        try item.checkCancellation()
        started.resolve(())
        cancelled.wait()
        try item.checkCancellation()
        return "late"
      }
    }
    await started.value()
    task.cancel()
    cancelled.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(queue.runningCount == 0)
  }

  @Test
  func workThatEndsInSpiteOfACancellationReturnsItsValue() async throws {
    let queue = WorkQueue(label: "run", width: 1)
    let (started, cancelled) = (Deferred<Void>(), Gate())
    let task = Task {
      try await queue.run { item in
        started.resolve(())
        cancelled.wait()
        return item.isCancelled
      }
    }
    await started.value()
    task.cancel()
    cancelled.open()
    #expect(try await task.value)
  }

  @Test
  func fiftyCancelledAtOnceAreResumedOnceEach() async throws {
    let blocked = try BlockedQueue()
    let started = Record<Int>()
    let tasks = (0..<50).map { number in
      Task { try await blocked.queue.run { _ in started.add(number) } }
    }
    try await until { blocked.queue.pendingCount == 50 }
    for task in tasks { task.cancel() }
    for task in tasks {
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(blocked.queue.pendingCount == 0)
    blocked.gate.open()
    try await blocked.queue.run { _ in }
    #expect(started.events.isEmpty)
  }

  @Test
  func cancellingInTheMiddleOfAStartLosesNothing() async {
    let queue = WorkQueue(label: "race", width: 2)
    for _ in 0..<500 {
      let started = Lock(0)
      let task = Task { try await queue.run { _ in started.withLock { $0 += 1 } } }
      task.cancel()
      switch await task.result {
      case .success: #expect(started.withLock { $0 } == 1)
      case .failure(let error):
        #expect(error is CancellationError)
        #expect(started.withLock { $0 } == 0)
      }
    }
    #expect(queue.pendingCount == 0)
    #expect(queue.runningCount == 0)
  }
}
