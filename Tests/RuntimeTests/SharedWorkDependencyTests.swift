import Testing
import VitrineRuntime
import VitrineTestSupport

/// Work that waits for a callback without a task, and the object that it depends on.
struct SharedWorkDependencyTests {
  private typealias Work = SharedWork<String, Int, SharedWorkFailure>

  private final class Dependency: WorkDependency {
    private let demands = Lock<[String]>([])
    let progress: WorkProgress? = WorkProgress(3, of: 7)

    var heard: [String] { demands.withLock { $0 } }

    func setDemand(_ demand: WorkDemand?) {
      demands.withLock { $0.append(demand.map { "\($0.priority)" } ?? "no more") }
    }
  }

  private let work = Work(executor: .inline)
  private let dependency = Dependency()
  private let handle = Lock<Work.Handle?>(nil)
  private let results = Lock<[Result<Int, SharedWorkFailure>]>([])

  @discardableResult
  private func join(_ demand: WorkDemand, limit: WorkDemand.Interest? = nil) -> Work.Subscription {
    let receive = { @Sendable [results] (event: Work.Event) in
      if case .finished(let result) = event { results.withLock { $0.append(result) } }
    }
    return work.subscribe(to: "a", demand, limit: limit, receive: receive) { [handle, dependency] own in
      handle.withLock { $0 = own }
      own.depend(on: dependency)
    }
  }

  private var own: Work.Handle { get throws { try #require(handle.withLock { $0 }) } }

  @Test
  func theWorkRunsUntilItIsEndedThoughItsFunctionHasReturned() throws {
    join(WorkDemand(.low))
    #expect(work.isRunning("a"))
    try own.end(.success(1))
    #expect(results.withLock { $0 } == [.success(1)])
    #expect(!work.isRunning("a"))
    // The second end has no receiver.
    try own.end(.success(2))
    #expect(results.withLock { $0 } == [.success(1)])
    #expect(dependency.heard == ["low"])
  }

  @Test
  func theObjectHearsOfEachDemandAndThatThereIsNoneAnyMore() {
    let first = join(WorkDemand(.low))
    let second = join(WorkDemand(.high))
    #expect(first.progress == WorkProgress(3, of: 7))
    second.cancel()
    first.cancel()
    #expect(dependency.heard == ["low", "high", "low", "no more"])
    #expect(first.progress == nil)
  }

  @Test
  func anObjectThatIsNamedTooLateIsGivenUpAtOnce() throws {
    join(WorkDemand(.low)).cancel()
    let late = Dependency()
    try own.depend(on: late)
    #expect(late.heard == ["no more"])
    let other = Dependency()
    try own.depend(on: other)
    #expect(dependency.heard == ["low", "no more"])
  }

  @Test
  func anObjectThatIsReplacedHearsNothingMore() throws {
    let subscription = join(WorkDemand(.low))
    let next = Dependency()
    try own.depend(on: next)
    subscription.setPriority(.high)
    try own.depend(on: nil)
    subscription.cancel()
    #expect(dependency.heard == ["low"])
    #expect(next.heard == ["low", "high"])
  }

  @Test
  func workGoesOnInATaskUnlessItHasEnded() throws {
    let gate = Deferred<Int>()
    let subscription = join(WorkDemand(.low))
    let isBegun = try own.goOn { [handle] in
      let value = await gate.value(orCancelled: 0)
      handle.withLock { $0 }?.end(.success(value))
    }
    #expect(isBegun)
    gate.resolve(5)
    #expect(results.withLock { $0 } == [.success(5)])
    subscription.cancel()
    let isBegunAgain = try own.goOn { Issue.record("the work has ended") }
    #expect(!isBegunAgain)
  }

  @Test
  func theTaskInWhichWorkGoesOnIsCancelledWithTheWork() throws {
    let gate = Deferred<Int>()
    let subscription = join(WorkDemand(.low))
    let isCancelled = Lock(false)
    #expect(
      try own.goOn {
        _ = await gate.value(orCancelled: 0)
        isCancelled.withLock { $0 = Task.isCancelled }
      }
    )
    subscription.cancel()
    #expect(isCancelled.withLock { $0 })
    #expect(results.withLock { $0 }.isEmpty)
  }

  @Test(arguments: [
    (WorkDemand.Interest?.none, "stored"), (.progress, "progress"), (.partials, "partials"),
    (WorkDemand.Interest.none, "none"),
  ])
  func aLimitedSubscriberWantsNoMoreThanItsLimit(limit: WorkDemand.Interest?, expected: String) {
    let subscription = join(WorkDemand(.low, .partials, storesResult: true), limit: limit)
    subscription.setDemand(WorkDemand(.high, .partials, storesResult: true))
    let demand = work.demand(on: "a")
    #expect(demand?.priority == .high)
    #expect(demand.map { $0.storesResult ? "stored" : "\($0.interest)" } == expected)
    subscription.setDemand(nil)
    #expect(work.count == 0)
  }
}
