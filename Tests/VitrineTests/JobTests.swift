import Testing
import VitrineRuntime

@testable import Vitrine

private struct Broken: Error, Equatable {}

/// A job that writes down what is asked of it and ends when the test says so.
private final class Recorder: Job<Int, Broken>, @unchecked Sendable {
  // Guarded by the engine's lock, like the job itself.
  var calls: [String] = []

  override func start(_ turn: inout Turn) { calls.append("start \(priority)") }
  override func stop(_ turn: inout Turn) { calls.append("stop") }
  override func priorityChanged(_ turn: inout Turn) { calls.append("priority \(priority)") }
  override func watchingBegan(_ turn: inout Turn) { calls.append("watch") }
}

/// Waits for what is known, and then for what never comes.
private final class TwoSteps: StageJob, @unchecked Sendable {
  // Guarded by the engine's lock, like the job itself.
  final class Endless: Job<CachedImage, LoadError>, @unchecked Sendable {
    var calls: [String] = []

    override func stop(_ turn: inout Turn) { calls.append("stop") }
    override func priorityChanged(_ turn: inout Turn) { calls.append("priority \(priority)") }
  }

  let second = Endless()

  override func start(_ turn: inout Turn) {
    wait(for: KnownJob(1), &turn) { [self] _, turn in wait(for: second, &turn) { _, _ in } }
  }
}

/// Gathers events as text.
private final class Ear: @unchecked Sendable {
  // Guarded by the engine's lock: events come within its turns.
  var heard: [String] = []

  func hear(_ event: JobEvent<Int, Broken>, _ turn: inout Turn) {
    switch event {
    case .progress(let completed, let total): heard.append("\(completed)/\(total)")
    case .partial(let value): heard.append("partial \(value)")
    case .finished(.success(let value)): heard.append("value \(value)")
    case .finished(.failure): heard.append("broken")
    }
  }
}

struct JobTests {
  private let engine = Engine()
  private let job = Recorder()
  private let first = Ear()
  private let second = Ear()

  @Test
  func nothingStartsBeforeSomeoneSubscribes() {
    #expect(job.calls.isEmpty)
  }

  @Test
  func theFirstSubscriberStartsItAndLaterOnesDoNot() {
    engine.turn { turn in
      _ = job.subscribe(priority: .normal, &turn, first.hear)
      _ = job.subscribe(priority: .normal, &turn, second.hear)
    }
    #expect(job.calls == ["start normal"])
  }

  @Test
  func eventsComeInOrderToEverySubscriber() {
    engine.turn { turn in
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
    engine.turn { turn in
      let subscription = job.subscribe(priority: .normal, &turn, first.hear)
      _ = job.subscribe(priority: .normal, &turn, second.hear)
      subscription.unsubscribe(&turn)
      job.finish(.failure(Broken()), &turn)
    }
    #expect(first.heard.isEmpty)
    #expect(second.heard == ["broken"])
  }

  @Test
  func oneOfTwoLeavingStopsNothingAndTheLastOneStopsItOnce() {
    engine.turn { turn in
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
    engine.turn { turn in
      job.subscribe(priority: .normal, isWatching: true, &turn, first.hear).unsubscribe(&turn)
      job.send(progress: 1, of: 1, &turn)
      job.finish(.success(1), &turn)
    }
    #expect(first.heard.isEmpty)
  }

  @Test
  func itRunsAtTheHighestPriorityOfThoseWhoAreStillThere() {
    engine.turn { turn in
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
    engine.turn { turn in
      _ = job.subscribe(priority: .normal, &turn, first.hear)
      job.send(progress: 3, of: 9, &turn)
      _ = job.subscribe(priority: .normal, isWatching: true, &turn, second.hear)
    }
    #expect(second.heard == ["3/9"])
  }

  @Test
  func progressIsAskedForOnceSomeoneWatchesAndToldOnlyToThem() {
    engine.turn { turn in
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
    engine.turn { turn in
      _ = job.subscribe(priority: .normal, &turn, first.hear)
      job.finish(.success(5), &turn)
      _ = job.subscribe(priority: .normal, &turn, second.hear)
    }
    #expect(second.heard == ["value 5"])
    #expect(job.calls == ["start normal"])
  }

  @Test
  func aSubscriberThatLeavesAnotherWhileItIsToldSparesItTheEvent() {
    engine.turn { turn in
      var other: Subscription<Int, Broken>?
      _ = job.subscribe(priority: .normal, isWatching: true, &turn) { _, turn in other?.unsubscribe(&turn) }
      other = job.subscribe(priority: .normal, isWatching: true, &turn, second.hear)
      job.send(partial: 1, &turn)
    }
    #expect(second.heard.isEmpty)
  }

  @Test
  func aStageThatLeavesStopsWhatItWaitsForAlsoAfterOneThatEndedAtOnce() {
    let stage = TwoSteps()
    engine.turn { turn in
      let hold = stage.subscribe(priority: .normal, &turn) { _, _ in }
      hold.setPriority(.high, &turn)
      hold.unsubscribe(&turn)
    }
    #expect(stage.second.calls == ["priority high", "stop"])
  }

  @Test
  func aPoolGivesOneJobForAKeyUntilItEnds() {
    let pool = JobPool<String, Int, Broken>()
    engine.turn { turn in
      let make: (@escaping (inout Turn) -> Void) -> Job<Int, Broken> = { Job(onEnd: $0) }
      let one = pool.job(for: "a", &turn, make: make)
      #expect(pool.job(for: "a", &turn, make: make) === one)
      #expect(pool.job(for: "b", &turn, make: make) !== one)

      _ = one.subscribe(priority: .normal, &turn, first.hear)
      one.finish(.success(1), &turn)
      #expect(pool.job(for: "a", &turn, make: make) !== one)

      let other = pool.job(for: "b", &turn, make: make)
      other.subscribe(priority: .normal, &turn, first.hear).unsubscribe(&turn)
      #expect(pool.job(for: "b", &turn, make: make) !== other)
    }
  }

  @Test
  func whoIsToldOfTheEndAndAsksAgainGetsAnotherJob() {
    let pool = JobPool<String, Int, Broken>()
    engine.turn { turn in
      let job = pool.job(for: "a", &turn) { Job(onEnd: $0) }
      var isToldOnce = false
      _ = job.subscribe(priority: .normal, &turn) { _, turn in
        isToldOnce = !isToldOnce
        #expect(!pool.contains("a", &turn))
        #expect(pool.job(for: "a", &turn) { Job(onEnd: $0) } !== job)
      }
      job.finish(.failure(Broken()), &turn)
      #expect(isToldOnce)
    }
  }

  @Test
  func aPoolThatDoesNotCoalesceGivesEveryoneAJob() {
    let pool = JobPool<String, Int, Broken>(isCoalescing: false)
    engine.turn { turn in
      let one = pool.job(for: "a", &turn) { Job(onEnd: $0) }
      #expect(pool.job(for: "a", &turn) { Job(onEnd: $0) } !== one)
      #expect(pool.count(&turn) == 0)
    }
  }

  @Test
  func whatIsPutOffRunsWithTheLockOpen() {
    let engine = engine
    let order = Ear()
    engine.turn { turn in
      turn.afterwards { engine.turn { _ in order.heard.append("afterwards") } }
      order.heard.append("turn")
    }
    #expect(order.heard == ["turn", "afterwards"])
  }
}
