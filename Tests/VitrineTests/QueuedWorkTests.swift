import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// Work of a load on a queue, and the demand that it hears of.
@Suite(.patient)
struct QueuedWorkTests {
  private typealias Work = SharedWork<LoadKey, Int, LoadError>

  private let work = Work(executor: .inline)
  /// One item may run, and one may wait.
  private let queue = WorkQueue(label: "test", width: 1, queueLimit: 1)
  private let results = Record<Result<Int, LoadError>>()

  private var key: LoadKey {
    ImagePipeline.testing().context.bytesKey(of: ImageRequest(url: "https://example.org/a.png"))
  }

  private func enqueue(_ handle: Work.Handle) {
    let place = { [queue] (priority, work) throws(WorkQueueError) in try queue.enqueue(priority: priority, work) }
    handle.enqueue(nil, on: place) {
      LoadError(.overloaded, .decode, "a", "full")
    } _: { (item, _) throws(LoadError) in
      item.isCancelled ? -1 : 1
    } onEnd: {
      handle.end($0)
    }
  }

  private func join(_ start: @escaping Work.Start) -> Work.Subscription {
    work.subscribe(to: key, WorkDemand(.low)) { [results] event in
      if case .finished(let result) = event { results.add(result) }
    } start: {
      start($0)
    }
  }

  /// A demand that is told late is no cancellation.
  @Test
  func workThatIsEnqueuedWhileAnotherObjectHearsOfTheDemandIsDone() async throws {
    let gate = try queue.hold()
    let calls = Record<Int>()
    _ = join { handle in
      handle.depend(
        on: DemandReceiver { [self] _ in
          calls.add(1)
          if calls.events.count == 1 { enqueue(handle) }
        }
      )
    }
    gate.open()
    await results.reaches(1)
    #expect(results.events.map { try? $0.get() } == [1])
  }

  @Test
  func workThatLosesItsLastSubscriberIsNotWaitedForAndNeverRuns() async throws {
    let gate = try queue.hold()
    let subscription = join { enqueue($0) }
    let ends = Record<Int>()
    subscription.cancel()
    #expect(!work.isRunning(key))
    try queue.enqueue(priority: .veryLow) { _ in ends.add(1) }
    gate.open()
    await ends.reaches(1)
    #expect(results.events.isEmpty)
  }

  @Test
  func workThatFindsNoPlaceEndsWithItsError() async throws {
    let gate = try queue.hold()
    defer { gate.open() }
    try queue.enqueue(priority: .low) { _ in }
    _ = join { enqueue($0) }
    await results.reaches(1)
    let codes = results.events.map { result -> LoadError.Code? in
      if case .failure(let error) = result { error.code } else { nil }
    }
    #expect(codes == [.overloaded])
  }
}
