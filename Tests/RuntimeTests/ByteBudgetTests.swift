import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct ByteBudgetTests {
  private let budget = ByteBudget(limit: 100)

  private func acquire(_ count: Int) -> Bool { budget.acquire(count) {} }

  /// Acquires on a thread of its own, and tells when it has.
  private func acquireElsewhere(_ count: Int) -> Watched<Bool> {
    let has = Watched(false)
    _ = startThread(named: "budget") { [budget] in
      _ = budget.acquire(count) {}
      has.change { $0 = true }
    }
    return has
  }

  private func waiting(_ count: Int) {
    while budget.waitingCount != count { sched_yield() }
  }

  @Test
  func whatFitsDoesNotWait() {
    #expect(!acquire(60))
    #expect(!acquire(40))
    #expect(budget.heldCount == 100)
  }

  @Test
  func whatIsLargerThanTheBudgetRunsAlone() async {
    #expect(!acquire(1000))
    let next = acquireElsewhere(1)
    waiting(1)

    budget.release(1000)

    await next.wait { $0 }
    #expect(budget.heldCount == 1)
  }

  @Test
  func noSmallerOneOvertakes() async {
    #expect(!acquire(60))
    let large = acquireElsewhere(50)
    waiting(1)
    let small = acquireElsewhere(10)
    waiting(2)

    budget.release(60)

    await large.wait { $0 }
    await small.wait { $0 }
    #expect(budget.heldCount == 60)
  }

  @Test
  func whoStopsWaitingHoldsNothing() {
    struct Stop: Error {}
    #expect(!acquire(100))

    #expect(throws: Stop.self) { try budget.acquire(1) { () throws(Stop) in throw Stop() } }

    #expect(budget.waitingCount == 0)
    budget.release(100)
    #expect(budget.heldCount == 0)
  }
}
