import Testing
import VitrineCaching
import VitrineRuntime

@testable import Vitrine

private let broken = LoadError(.unreadable, .fetch, "a", "broken")

/// A job that writes down what is asked of it and ends when the test says so.
private final class Recorder: Job<Int>, @unchecked Sendable {
  // Guarded by the jobs' lock, like the job itself.
  var calls: [String] = []

  override func start(_ turn: inout Turn) { calls.append("start \(priority)") }
  override func stop(_ turn: inout Turn) { calls.append("stop") }
  override func priorityChanged(_ turn: inout Turn) { calls.append("priority \(priority)") }
  override func watchingBegan(_ turn: inout Turn) { calls.append("watch") }
}

/// Gathers events as text.
private final class Ear: @unchecked Sendable {
  // Guarded by the jobs' lock: events come within its turns.
  var heard: [String] = []

  func hear(_ event: JobEvent<Int>, _ turn: inout Turn) {
    switch event {
    case .progress(let completed, let total): heard.append("\(completed)/\(total)")
    case .partial(let value): heard.append("partial \(value)")
    case .finished(.success(let value)): heard.append("value \(value)")
    case .finished(.failure): heard.append("broken")
    }
  }
}

struct JobTests {
  private let lock = JobLock()
  private let job = Recorder()
  private let first = Ear()
  private let second = Ear()

  @Test
  func nothingStartsBeforeSomeoneSubscribes() {
    #expect(job.calls.isEmpty)
  }

  @Test
  func theFirstSubscriberStartsItAndLaterOnesDoNot() {
    lock.turn { turn in
      _ = job.subscribe(priority: .normal, &turn, first.hear)
      _ = job.subscribe(priority: .normal, &turn, second.hear)
    }
    #expect(job.calls == ["start normal"])
  }

  @Test
  func eventsComeInOrderToEverySubscriber() {
    lock.turn { turn in
      _ = job.subscribe(priority: .normal, isWatching: true, &turn, first.hear)
      _ = job.subscribe(priority: .normal, isWatching: true, &turn, second.hear)
      job.send(progress: 1, of: 2, &turn)
      job.send(partial: 7, &turn)
      job.finish(.success(8), &turn)
    }
    #expect(first.heard == ["1/2", "partial 7", "value 8"])
    #expect(second.heard == first.heard)
  }

  @Test
  func afterUnsubscribingNothingIsHeard() {
    lock.turn { turn in
      let subscription = job.subscribe(priority: .normal, &turn, first.hear)
      _ = job.subscribe(priority: .normal, &turn, second.hear)
      subscription.unsubscribe(&turn)
      job.finish(.failure(broken), &turn)
    }
    #expect(first.heard.isEmpty)
    #expect(second.heard == ["broken"])
  }

  @Test
  func oneOfTwoLeavingStopsNothingAndTheLastOneStopsItOnce() {
    lock.turn { turn in
      let one = job.subscribe(priority: .normal, &turn, first.hear)
      let other = job.subscribe(priority: .normal, &turn, second.hear)
      one.unsubscribe(&turn)
      one.unsubscribe(&turn)
      #expect(job.calls == ["start normal"])
      other.unsubscribe(&turn)
      other.unsubscribe(&turn)
    }
    #expect(job.calls == ["start normal", "stop"])
  }

  @Test
  func afterTheLastHasLeftTheWorkTellsNobody() {
    lock.turn { turn in
      job.subscribe(priority: .normal, isWatching: true, &turn, first.hear).unsubscribe(&turn)
      job.send(progress: 1, of: 1, &turn)
      job.finish(.success(1), &turn)
    }
    #expect(first.heard.isEmpty)
  }

  @Test
  func itRunsAtTheHighestPriorityOfThoseWhoAreStillThere() {
    lock.turn { turn in
      _ = job.subscribe(priority: .low, &turn, first.hear)
      let high = job.subscribe(priority: .high, &turn, second.hear)
      high.setPriority(.veryHigh, &turn)
      high.setPriority(.veryHigh, &turn)
      high.unsubscribe(&turn)
    }
    #expect(job.calls == ["start low", "priority high", "priority veryHigh", "priority low"])
  }

  @Test
  func whoComesLateGetsTheProgressFirst() {
    lock.turn { turn in
      _ = job.subscribe(priority: .normal, &turn, first.hear)
      job.send(progress: 3, of: 9, &turn)
      _ = job.subscribe(priority: .normal, isWatching: true, &turn, second.hear)
    }
    #expect(second.heard == ["3/9"])
  }

  @Test
  func progressIsAskedForOnceSomeoneWatchesAndToldOnlyToThem() {
    lock.turn { turn in
      let quiet = job.subscribe(priority: .normal, &turn, first.hear)
      #expect(job.calls == ["start normal"])
      let watcher = job.subscribe(priority: .normal, &turn, second.hear)
      watcher.watch(&turn)
      watcher.watch(&turn)
      #expect(job.calls == ["start normal", "watch"])
      job.send(progress: 1, of: 2, &turn)
      job.send(partial: 7, &turn)
      #expect(first.heard.isEmpty)
      #expect(second.heard == ["1/2", "partial 7"])
      quiet.watch(&turn)
      #expect(job.calls == ["start normal", "watch"])
      job.finish(.success(8), &turn)
    }
    #expect(first.heard == ["value 8"])
  }

  @Test
  func whoComesAfterTheEndGetsTheEnd() {
    lock.turn { turn in
      _ = job.subscribe(priority: .normal, &turn, first.hear)
      job.finish(.success(5), &turn)
      _ = job.subscribe(priority: .normal, &turn, second.hear)
    }
    #expect(second.heard == ["value 5"])
    #expect(job.calls == ["start normal"])
  }

  @Test
  func aSubscriberThatLeavesAnotherWhileItIsToldSparesItTheEvent() {
    lock.turn { turn in
      var other: Subscription<Int>?
      _ = job.subscribe(priority: .normal, isWatching: true, &turn) { _, turn in other?.unsubscribe(&turn) }
      other = job.subscribe(priority: .normal, isWatching: true, &turn, second.hear)
      job.send(partial: 1, &turn)
    }
    #expect(second.heard.isEmpty)
  }

  @Test
  func amongTenThousandSubscribersEachLeavesAndChangesItsPriorityByItself() {
    lock.turn { turn in
      var holds = (0..<10_000).map { _ in job.subscribe(priority: .low, &turn) { _, _ in } }
      holds[7000].setPriority(.high, &turn)
      holds[7000].unsubscribe(&turn)
      holds.remove(at: 7000)
      for hold in holds { hold.unsubscribe(&turn) }
    }
    #expect(job.calls == ["start low", "priority high", "priority low", "stop"])
  }

  private func key(_ name: String) -> JobKey {
    JobKey(CacheKey { $0.append(name) }, .bytes, of: ImageRequest(url: "https://example.org/"), .all)
  }

  @Test
  func aPoolGivesOneJobForAKeyUntilItEnds() {
    let pool = JobPool()
    lock.turn { turn in
      let make: (inout Turn) -> Job<Int> = { _ in Job() }
      let one = pool.job(for: key("a"), &turn, make: make)
      #expect(pool.job(for: key("a"), &turn, make: make) === one)
      #expect(pool.job(for: key("b"), &turn, make: make) !== one)

      _ = one.subscribe(priority: .normal, &turn, first.hear)
      one.finish(.success(1), &turn)
      #expect(pool.job(for: key("a"), &turn, make: make) !== one)

      let other = pool.job(for: key("b"), &turn, make: make)
      other.subscribe(priority: .normal, &turn, first.hear).unsubscribe(&turn)
      #expect(pool.job(for: key("b"), &turn, make: make) !== other)
    }
  }

  @Test
  func whoIsToldOfTheEndAndAsksAgainGetsAnotherJob() {
    let pool = JobPool()
    lock.turn { turn in
      let job = pool.job(for: key("a"), &turn) { _ in Job<Int>() }
      var isToldOnce = false
      _ = job.subscribe(priority: .normal, &turn) { _, turn in
        isToldOnce = !isToldOnce
        #expect(!pool.contains(key("a"), &turn))
        #expect(pool.job(for: key("a"), &turn) { _ in Job<Int>() } !== job)
      }
      job.finish(.failure(broken), &turn)
      #expect(isToldOnce)
    }
  }

  @Test
  func aPoolThatDoesNotCoalesceGivesEveryoneAJob() {
    let pool = JobPool(isCoalescing: false)
    lock.turn { turn in
      let one = pool.job(for: key("a"), &turn) { _ in Job<Int>() }
      #expect(pool.job(for: key("a"), &turn) { _ in Job<Int>() } !== one)
      #expect(!pool.contains(key("a"), &turn))
      #expect(pool.count(&turn) == 2)
      one.subscribe(priority: .normal, &turn) { _, _ in }
      one.finish(.failure(broken), &turn)
      #expect(pool.count(&turn) == 1)
    }
  }

  @Test
  func whatIsPutOffRunsWithTheLockOpen() {
    let lock = lock
    let order = Ear()
    lock.turn { turn in
      turn.afterwards { lock.turn { _ in order.heard.append("afterwards") } }
      order.heard.append("turn")
    }
    #expect(order.heard == ["turn", "afterwards"])
  }
}
