import Combine
import Foundation
import Testing

@Suite
struct SchedulerTests {
  @Test
  func receiveOnDeliversWhenTheSchedulerRuns() {
    let scheduler = _ManualScheduler()
    let subject = PassthroughSubject<Int, Never>()
    var values: [Int] = []
    var ended = false
    let link = subject.receive(on: scheduler).sink { _ in
      ended = true
    } receiveValue: {
      values.append($0)
    }
    subject.send(1)
    subject.send(2)
    subject.send(completion: .finished)
    #expect(values.isEmpty && !ended)
    scheduler._run()
    #expect(values == [1, 2])
    #expect(ended)
    withExtendedLifetime(link) {}
  }

  @Test
  func aScheduledValueDoesNotComeAfterCancel() {
    let scheduler = _ManualScheduler()
    let subject = PassthroughSubject<Int, Never>()
    var values: [Int] = []
    let link = subject.receive(on: scheduler).sink { values.append($0) }
    subject.send(1)
    link.cancel()
    scheduler._run()
    #expect(values.isEmpty)
  }

  @Test
  func subscribeOnSubscribesWhenTheSchedulerRuns() {
    let scheduler = _ManualScheduler()
    var subscribed = false
    var values: [Int] = []
    let link = Just(1).handleEvents(receiveSubscription: { _ in subscribed = true })
      .subscribe(on: scheduler)
      .sink { values.append($0) }
    #expect(!subscribed)
    scheduler._run()
    #expect(subscribed)
    #expect(values == [1])
    withExtendedLifetime(link) {}
  }

  @Test
  func theManualClock() {
    let scheduler = _ManualScheduler()
    var events: [String] = []
    scheduler.schedule(after: scheduler.now.advanced(by: .seconds(2))) { events.append("later") }
    let timer = scheduler.schedule(
      after: scheduler.now.advanced(by: .seconds(1)),
      interval: .seconds(1),
      tolerance: .zero,
      options: nil,
    ) { events.append("tick") }
    scheduler._advance(by: .milliseconds(2500))
    #expect(events == ["tick", "later", "tick"])
    timer.cancel()
    scheduler._advance(by: .seconds(5))
    #expect(events.count == 3)
    #expect(scheduler._pending == 0)
  }

  @Test
  func immediateAndQueue() async {
    var ran = false
    ImmediateScheduler.shared.schedule { ran = true }
    #expect(ran)
    let queue = DispatchQueue(label: "test")
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 7)
    let seen = await Just(1).receive(on: queue).map { _ in DispatchQueue.getSpecific(key: key) }
      .values.first { _ in true }
    #expect(seen == 7)
  }
}

@Suite
struct AsyncTests {
  @Test
  func valuesOfAPublisher() async throws {
    var values: [Int] = []
    for await value in (1...3).publisher.values { values.append(value) }
    #expect(values == [1, 2, 3])
    let failing = [1].publisher.tryMap { _ -> Int in throw Oops() }
    await #expect(throws: Oops.self) {
      for try await _ in failing.values {}
    }
  }

  @Test
  func cancellingTheTaskEndsTheValues() async {
    let (stream, continuation) = AsyncStream<String>.makeStream()
    let task = Task {
      let subject = PassthroughSubject<Int, Never>()
      let watched = subject.handleEvents(
        receiveCancel: { continuation.yield("cancel") },
        receiveRequest: { continuation.yield("request \($0)") },
      )
      for await _ in watched.values {}
      continuation.finish()
    }
    var events: [String] = []
    for await event in stream {
      events.append(event)
      task.cancel()
    }
    #expect(events == ["request max(1)", "cancel"])
  }
}
