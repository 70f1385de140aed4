import Testing
import VitrineRuntime
import VitrineTestSupport

/// Subscribers and their demand, on the executor that runs work where it is resumed, so that each step is seen at once.
struct SharedWorkDemandTests {
  private typealias Work = SharedWork<String, Int, SharedWorkFailure>

  /// Work that records the demand on it, and ends when the test says so.
  private final class Task: Sendable {
    private struct State {
      var calls: [String] = []
      var handle: Work.Handle?
    }

    private let state = Lock(State())
    private let end = Deferred<Result<Int, SharedWorkFailure>>()

    var calls: [String] { state.withLock { $0.calls } }
    var handle: Work.Handle? { state.withLock { $0.handle } }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

    func run(_ handle: Work.Handle) async throws(SharedWorkFailure) -> Int {
      state.withLock { $0.handle = handle }
      let receiver = DemandReceiver { [self] demand in
        let interest = demand.interest == .none ? "" : " \(demand.interest)"
        note("\(demand.priority)\(interest)\(demand.storesResult ? " stored" : "")")
      }
      handle.depend(on: receiver)
      let result = await end.value(orCancelled: .failure(.cancelled)) { [self] in note("cancelled") }
      state.withLock { $0.handle = nil }
      return try result.get()
    }

    func finish(_ value: Int) { end.resolve(.success(value)) }
    func fail() { end.resolve(.failure(.cancelled)) }
  }

  /// Gathers events as text.
  private final class Ear: Sendable {
    private let events = Lock<[String]>([])

    var heard: [String] { events.withLock { $0 } }

    func hear(_ event: Work.Event) {
      let text =
        switch event {
        case .identified(let object): "object \(type(of: object))"
        case .progress(let completed, let total): "\(completed)/\(total)"
        case .partial(let value): "partial \(value)"
        case .finished(.success(let value)): "value \(value)"
        case .finished(.failure): "failed"
        }
      events.withLock { $0.append(text) }
    }
  }

  private let work = Work(executor: .inline)
  private let task = Task()
  private let first = Ear()
  private let second = Ear()

  @discardableResult
  private func join(
    _ ear: Ear,
    _ demand: WorkDemand = WorkDemand(.normal),
    isCaller: Bool = false,
  ) -> Work.Subscription {
    work.subscribe(to: "a", demand, isCaller: isCaller) { event in
      ear.hear(event)
    } work: { [task] handle throws(SharedWorkFailure) in
      try await task.run(handle)
    }
  }

  @Test
  func theFirstSubscriberStartsTheWorkBeforeSubscribingReturns() {
    join(first)
    #expect(task.calls == ["normal"])
    join(second)
    #expect(task.calls == ["normal"])
    #expect(work.count == 1)
    task.finish(1)
    #expect(work.count == 0)
  }

  @Test
  func aDemandThatChangesBeforeTheWorkBeginsIsItsFirst() {
    let subscribed = { (subscription: Work.Subscription) in subscription.setPriority(.high) }
    work.subscribe(to: "a", WorkDemand(.low), subscribed: subscribed) { _ in
    } work: { [task] handle throws(SharedWorkFailure) in
      try await task.run(handle)
    }
    #expect(task.calls == ["high"])
    task.finish(1)
  }

  @Test
  func workWhoseSubscriberLeavesBeforeItBeginsNeverDoes() {
    let subscribed = { (subscription: Work.Subscription) in subscription.cancel() }
    work.subscribe(to: "a", WorkDemand(.low), subscribed: subscribed) { [first] in
      first.hear($0)
    } work: { [task] handle throws(SharedWorkFailure) in
      try await task.run(handle)
    }
    #expect(task.calls.isEmpty)
    #expect(first.heard.isEmpty)
    #expect(work.count == 0)
  }

  @Test
  func eventsComeInOrderToEveryInterestedSubscriber() {
    let third = Ear()
    join(first, WorkDemand(.normal, .partials))
    join(second, WorkDemand(.normal, .progress))
    join(third)
    task.handle?.send(progress: 1, of: 2)
    task.handle?.send(partial: 7)
    task.finish(8)
    #expect(first.heard == ["1/2", "partial 7", "value 8"])
    #expect(second.heard == ["1/2", "value 8"])
    #expect(third.heard == ["value 8"])
  }

  @Test
  func aSubscriberThatHasLeftHearsNothingMore() {
    let subscription = join(first, WorkDemand(.normal, .partials))
    join(second)
    subscription.cancel()
    subscription.cancel()
    task.handle?.send(partial: 7)
    #expect(task.calls == ["normal partials"])
    task.fail()
    #expect(first.heard.isEmpty)
    #expect(second.heard == ["failed"])
  }

  @Test
  func theWorkHasTheHighestPriorityOfThoseWhoAreStillThere() {
    join(first, WorkDemand(.low))
    let high = join(second, WorkDemand(.high))
    high.setPriority(.veryHigh)
    high.setPriority(.veryHigh)
    high.cancel()
    #expect(task.calls == ["low", "high", "veryHigh", "low"])
    task.finish(1)
  }

  @Test
  func interestAndStoringNeverFall() {
    let quiet = join(first)
    let demanding = join(second, WorkDemand(.normal, .partials, storesResult: true))
    demanding.cancel()
    quiet.watch(.progress)
    #expect(task.calls == ["normal", "normal partials stored"])
    #expect(task.handle?.demand == WorkDemand(.normal, .partials, storesResult: true))
    task.finish(1)
  }

  @Test
  func aLateSubscriberReceivesTheLastProgressAndTheObjectFirst() {
    join(first)
    task.handle?.identify(as: task)
    task.handle?.send(progress: 3, of: 9)
    join(second, WorkDemand(.normal, .progress))
    #expect(first.heard == ["object Task"])
    #expect(second.heard == ["object Task", "3/9"])
    task.finish(1)
  }

  @Test
  func progressIsReadFromTheWorkWithoutBeingWatched() {
    let subscription = join(first)
    #expect(subscription.progress == nil)
    task.handle?.note(WorkProgress(4, of: 5))
    #expect(subscription.progress == WorkProgress(4, of: 5))
    task.finish(1)
    #expect(subscription.progress == nil)
  }

  @Test
  func aSubscriberThatCancelsAnotherWithinItsCallSparesItTheEvent() {
    let other = Lock<Work.Subscription?>(nil)
    work.subscribe(to: "a", WorkDemand(.normal, .partials)) { event in
      if case .partial = event { other.withLock { $0 }?.cancel() }
    } work: { [task] handle throws(SharedWorkFailure) in
      try await task.run(handle)
    }
    let subscription = join(second, WorkDemand(.normal, .partials))
    other.withLock { $0 = subscription }
    task.handle?.send(partial: 1)
    #expect(second.heard.isEmpty)
    task.finish(1)
    other.withLock { $0 = nil }
  }

  @Test
  func amongTenThousandSubscribersEachLeavesByItself() {
    var subscriptions = (0..<10_000).map { _ in join(first, WorkDemand(.low)) }
    subscriptions[7000].setPriority(.high)
    subscriptions.remove(at: 7000).cancel()
    for subscription in subscriptions { subscription.cancel() }
    #expect(task.calls == ["low", "high", "low", "cancelled"])
    #expect(first.heard.isEmpty)
  }

  @Test
  func aSubscriberThatAsksAgainWithinTheEndStartsTheWorkAnew() {
    let starts = Counter()
    let again: @Sendable () -> Void = { [work] in
      work.subscribe(to: "a", WorkDemand(.normal)) { _ in
      } work: { _ in
        starts.increase()
        return 2
      }
    }
    work.subscribe(to: "a", WorkDemand(.normal)) { event in
      if case .finished = event { again() }
    } work: { _ in
      starts.increase()
      return 1
    }
    #expect(starts.count == 2)
  }

  @Test
  func onlyRunningWorkIsJoined() {
    #expect(work.join("a", WorkDemand(.high)) { _ in } == nil)
    join(first)
    let joined = work.join("a", WorkDemand(.high)) { [second] in second.hear($0) }
    #expect(task.calls == ["normal", "high"])
    task.finish(3)
    #expect(joined != nil)
    #expect(second.heard == ["value 3"])
  }

  @Test
  func callersAreEndedAndOthersKeepWaiting() {
    join(first, isCaller: true)
    join(second)
    work.cancelCallers(.cancelled, of: "a")
    #expect(first.heard == ["failed"])
    #expect(task.calls == ["normal"])
    task.finish(1)
    #expect(second.heard == ["value 1"])
  }

  @Test
  func workWhoseOnlySubscribersAreCallersEndsWithThem() {
    let gate = Deferred<Int>()
    join(first, isCaller: true)
    work.subscribe(to: "b", WorkDemand(.normal), isCaller: true) { [second] in
      second.hear($0)
    } work: { _ in
      await gate.value()
    }
    work.cancelCallers(.cancelled) { $0 == "a" }
    #expect(first.heard == ["failed"])
    #expect(!work.isRunning("a"))
    #expect(work.isRunning("b"))
    gate.resolve(2)
    #expect(second.heard == ["value 2"])
  }

  @Test
  func detachedWorkContinuesAndIsNotJoined() {
    join(first)
    work.detach { $0 == "a" ? "old a" : nil }
    #expect(!work.isRunning("a"))
    #expect(work.isRunning("old a"))
    work.subscribe(to: "a", WorkDemand(.normal)) { [second] in
      second.hear($0)
    } work: { _ in
      5
    }
    #expect(second.heard == ["value 5"])
    task.finish(1)
    #expect(first.heard == ["value 1"])
    #expect(work.count == 0)
  }

  @Test(arguments: [(0, true), (1, false)])
  func theEndOfABurstIsToldOnce(missing: Int, isTold: Bool) {
    let ends = Counter()
    let work = SharedWork<Int, Int, SharedWorkFailure>(executor: .inline) { ends.increase() }
    let gates = (0..<SharedWork<Int, Int, SharedWorkFailure>.burst - missing).map { _ in Deferred<Int>() }
    for (key, gate) in gates.enumerated() {
      work.subscribe(to: key, WorkDemand(.normal)) { _ in
      } work: { _ in
        await gate.value()
      }
    }
    let rest = gates.count / 16
    for gate in gates[(rest + 1)...] { gate.resolve(0) }
    #expect(ends.count == 0)
    gates[0].resolve(0)
    #expect(ends.count == (isTold ? 1 : 0))
    #expect(work.count == rest)
    #expect(work.isRunning(1))
    for gate in gates[1...rest] { gate.resolve(0) }
    #expect(ends.count == (isTold ? 1 : 0))
  }
}
