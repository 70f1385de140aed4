import Testing
import VitrineRuntime
import VitrineTestSupport

struct SharedWorkTests {
  private typealias Work = SharedWork<String, Int, SharedWorkFailure>

  @Test
  func equalKeysShareTheWork() async throws {
    let (work, gate) = (Work(), Deferred<Int>())
    let calls = Counter()
    let (first, firstEnd) = subscribe(work, "a") { _ in
      calls.increase()
      return await gate.value()
    }
    let (second, secondEnd) = subscribe(work, "a") { _ in 0 }
    gate.resolve(7)
    #expect(try await firstEnd.value().get() == 7)
    #expect(try await secondEnd.value().get() == 7)
    #expect(calls.count == 1)
    #expect(work.count == 0)
    withExtendedLifetime((first, second)) {}
  }

  @Test
  func theLastToLeaveCancelsTheWork() async {
    let (work, cancelled, begun) = (Work(), Deferred<Void>(), Deferred<Void>())
    let (first, _) = subscribe(work, "a") { _ in
      let gate = Deferred<Int>()
      return await withTaskCancellationHandler {
        begun.resolve(())
        return await gate.value()
      } onCancel: {
        cancelled.resolve(())
        gate.resolve(0)
      }
    }
    let (second, secondEnd) = subscribe(work, "a") { _ in 0 }
    await begun.value()
    first.cancel()
    first.cancel()
    #expect(work.isRunning("a"))
    second.cancel()
    await cancelled.value()
    #expect(!work.isRunning("a"))
    #expect(secondEnd.resolve(.success(-1)), "who leaves is told nothing more")
  }

  @Test
  func whoAsksAgainAfterTheEndStartsAnew() async throws {
    let work = Work()
    let again = Deferred<Int>()
    work.subscribe(to: "a", WorkDemand(.normal)) { _ in
      work.subscribe(to: "a", WorkDemand(.normal)) { event in
        if case .finished(.success(let value)) = event { again.resolve(value) }
      } work: { _ in
        2
      }
    } work: { _ in
      1
    }
    #expect(await again.value() == 2)
  }

  @Test
  func whatASubscriberOwnsIsReleasedWithNoLockHeld() async throws {
    final class Owned: Sendable {
      let work: Work
      init(_ work: Work) { self.work = work }
      // It would wait for ever under the lock.
      deinit {
        work.subscribe(to: "b", WorkDemand(.low)) { _ in
        } work: { _ in
          0
        }
      }
    }
    let (work, gate) = (Work(), Deferred<Int>())
    do {
      let owned = Owned(work)
      let subscription = work.subscribe(to: "a", WorkDemand(.normal)) { _ in
        withExtendedLifetime(owned) {}
      } work: { _ in
        await gate.value()
      }
      subscription.cancel()
    }
    let end = Deferred<Void>()
    do {
      let owned = Owned(work)
      work.subscribe(to: "c", WorkDemand(.normal)) { event in
        withExtendedLifetime(owned) {}
        if case .finished = event { end.resolve(()) }
      } work: { _ in
        3
      }
    }
    await end.value()
    gate.resolve(0)
  }

  @Test
  func aCancelledTaskLeavesAtOnce() async {
    let (work, gate, begun) = (Work(), Deferred<Int>(), Deferred<Void>())
    let task = Task {
      try await work.value(of: "a", WorkDemand(.normal), cancelled: .cancelled) { _ in
        begun.resolve(())
        return await gate.value()
      }
    }
    await begun.value()
    task.cancel()
    await #expect(throws: SharedWorkFailure.cancelled) { try await task.value }
    #expect(!work.isRunning("a"))
    gate.resolve(1)
  }

  /// The work is as urgent as the most urgent subscriber, also what it has in a queue.
  @Test
  func whoJoinsMakesTheWorkMoreUrgent() async throws {
    let (work, gate, begun, hold) = (Work(), Deferred<Int>(), Deferred<Void>(), Gate<Void>())
    let queue = WorkQueue(label: "held", width: 1)
    try queue.enqueue(priority: .veryHigh) { _ in hold.wait() }
    let item = try queue.enqueue(priority: .low) { _ in }
    let first = work.subscribe(to: "a", WorkDemand(.low)) { _ in
    } work: { handle in
      handle.depend(on: item)
      begun.resolve(())
      return await gate.value()
    }
    await begun.value()
    #expect(item.priority == .low)
    let second = work.subscribe(to: "a", WorkDemand(.high)) { _ in
    } work: { _ in
      0
    }
    #expect(item.priority == .high)
    second.setPriority(.normal)
    #expect(item.priority == .normal)
    second.cancel()
    #expect(item.priority == .low)
    first.cancel()
    gate.resolve(0)
    hold.open(())
  }

  @Test
  func keptWorkGoesOnForNobodyUntilAllIsCancelled() async throws {
    let (work, gate, begun, cancelled) = (Work(), Deferred<Int>(), Deferred<Void>(), Deferred<Void>())
    let (first, _) = subscribe(work, "a") { handle in
      handle.keepRunning()
      begun.resolve(())
      return await withTaskCancellationHandler {
        await gate.value()
      } onCancel: {
        cancelled.resolve(())
        gate.resolve(0)
      }
    }
    await begun.value()
    first.cancel()
    #expect(work.isRunning("a"))
    let (second, end) = subscribe(work, "a") { _ in 0 }
    work.cancelAll(.cancelled)
    #expect(await end.value() == .failure(.cancelled))
    await cancelled.value()
    #expect(!work.isRunning("a"))
    withExtendedLifetime(second) {}
  }

  @Test
  func everyThreadIsToldOfOneEnd() async {
    let work = SharedWork<Int, Int, SharedWorkFailure>()
    let (ends, left) = (Counter(), Counter())
    await withTaskGroup { group in
      for thread in 0..<4 as Range<UInt64> {
        group.addTask {
          var random = SplitMix64(seed: thread)
          for round in 0..<2000 {
            let end = Deferred<Bool>()
            let subscription = work.subscribe(
              to: Int.random(in: 0..<4, using: &random),
              WorkDemand(.low, .partials),
            ) {
              if case .finished = $0 { end.resolve(true) }
            } work: { handle in
              for step in 0..<3 {
                handle.send(progress: step, of: 3)
                await Task.yield()
              }
              return round
            }
            subscription.setPriority(Priority.allCases.randomElement(using: &random) ?? .low)
            if Bool.random(using: &random) {
              subscription.cancel()
              end.resolve(false)
            }
            (await end.value() ? ends : left).increase()
          }
        }
      }
    }
    #expect(ends.count + left.count == 8000)
    #expect(work.count == 0)
  }

  private func subscribe(
    _ work: Work,
    _ key: String,
    _ body: @escaping @Sendable (WorkHandle<String, Int, SharedWorkFailure>) async throws(SharedWorkFailure) -> Int,
  ) -> (SharedWorkSubscription<String, Int, SharedWorkFailure>, Deferred<Work.Outcome>) {
    let end = Deferred<Work.Outcome>()
    let subscription = work.subscribe(to: key, WorkDemand(.normal)) { event in
      if case .finished(let outcome) = event { end.resolve(outcome) }
    } work: { handle throws(SharedWorkFailure) in
      try await body(handle)
    }
    return (subscription, end)
  }
}

enum SharedWorkFailure: Error { case cancelled }
