import Combine
import Testing

private struct Outcome<Value, Failure: Error> {
  var values: [Value] = []
  var end: Subscribers.Completion<Failure>?

  static func == (lhs: Self, rhs: ([Value], Subscribers.Completion<Failure>?)) -> Bool
  where Value: Equatable, Failure: Equatable {
    lhs.values == rhs.0 && lhs.end == rhs.1
  }
}

@Suite
struct OperatorTests {
  /// What a publisher sends to one who wants all.
  private func all<P: Publisher>(_ publisher: P) -> Outcome<P.Output, P.Failure> {
    var outcome = Outcome<P.Output, P.Failure>()
    let link = publisher.sink(receiveCompletion: { outcome.end = $0 }, receiveValue: { outcome.values.append($0) })
    withExtendedLifetime(link) {}
    return outcome
  }

  @Test
  func sources() {
    #expect(all(Just(1)).values == [1])
    #expect(all([1, 2, 3].publisher) == ([1, 2, 3], .finished))
    #expect(all(Empty<Int, Never>()) == ([], .finished))
    #expect(all(Empty<Int, Never>(completeImmediately: false)).end == nil)
    #expect(all(Fail<Int, Oops>(error: Oops())) == ([], .failure(Oops())))
    var made = 0
    let deferred = Deferred {
      made += 1
      return Just(made)
    }
    #expect(made == 0)
    #expect(all(deferred).values == [1])
    #expect(all(deferred).values == [2])
  }

  @Test
  func aSequenceSendsWhatIsAskedFor() {
    let probe = Probe<Int, Never>()
    (1...4).publisher.filter { $0 != 2 }.subscribe(probe)
    probe.subscription?.request(.max(2))
    #expect(probe.values == [1, 3])
    #expect(probe.completions.isEmpty)
    probe.subscription?.request(.max(1))
    #expect(probe.values == [1, 3, 4])
    #expect(probe.completions == [.finished])
  }

  @Test
  func changes() {
    let numbers = (1...6).publisher
    #expect(all(numbers.map { $0 * 2 }.filter { $0 > 6 }.compactMap { $0 == 8 ? nil : $0 }).values == [10, 12])
    #expect(all(numbers.prefix(2)) == ([1, 2], .finished))
    #expect(all(numbers.prefix(0)) == ([], .finished))
    #expect(all(numbers.first()).values == [1])
    #expect(all(numbers.eraseToAnyPublisher()).values.count == 6)
    let failing = numbers.tryMap { number -> Int in
      if number == 3 { throw Oops() }
      return number
    }
    let outcome = all(failing.mapError { ($0 as? Oops) ?? Oops() })
    #expect(outcome.values == [1, 2])
    #expect(outcome.end == .failure(Oops()))
    #expect(all(failing.replaceError(with: 9)) == ([1, 2, 9], .finished))
    #expect(all(failing.catch { _ in [7, 8].publisher }) == ([1, 2, 7, 8], .finished))
    #expect(all(Just(1).setFailureType(to: Oops.self)) == ([1], .finished))
  }

  @Test
  func prefixCancelsTheUpstream() {
    let subject = PassthroughSubject<Int, Never>()
    var cancelled = false
    let outcome = Probe<Int, Never>()
    subject.handleEvents(receiveCancel: { cancelled = true }).prefix(1).subscribe(outcome)
    outcome.subscription?.request(.unlimited)
    subject.send(1)
    subject.send(2)
    #expect(cancelled)
    #expect(outcome.values == [1])
    #expect(outcome.completions == [.finished])
  }

  @Test
  func replacedErrorsWaitForDemand() {
    let probe = Probe<Int, Never>()
    Fail<Int, Oops>(error: Oops()).replaceError(with: 5).subscribe(probe)
    #expect(probe.values.isEmpty && probe.completions.isEmpty)
    probe.subscription?.request(.max(1))
    #expect(probe.values == [5])
    #expect(probe.completions == [.finished])
  }

  @Test
  func flatMapFollowsSeveralOrOne() {
    let outer = PassthroughSubject<Int, Never>()
    let inners = (0..<3).map { _ in PassthroughSubject<String, Never>() }
    var requests: [Subscribers.Demand] = []
    var values: [String] = []
    var ended = false
    let link = outer.handleEvents(receiveRequest: { requests.append($0) })
      .flatMap(maxPublishers: .max(1)) { inners[$0] }
      .sink(receiveCompletion: { _ in ended = true }, receiveValue: { values.append($0) })
    #expect(requests == [.max(1)])
    outer.send(0)
    outer.send(1)
    inners[0].send("a")
    inners[1].send("dropped")
    inners[0].send(completion: .finished)
    #expect(requests == [.max(1), .max(1)])
    outer.send(2)
    inners[2].send("c")
    outer.send(completion: .finished)
    #expect(!ended)
    inners[2].send(completion: .finished)
    #expect(ended)
    #expect(values == ["a", "c"])
    #expect(all([1, 2].publisher.flatMap { [$0, $0 * 10].publisher }).values == [1, 10, 2, 20])
    withExtendedLifetime(link) {}
  }

  @Test
  func flatMapRespectsDemandAndFailure() {
    let probe = Probe<Int, Oops>()
    [1, 2].publisher.setFailureType(to: Oops.self)
      .flatMap { number in [number, number * 10].publisher }
      .subscribe(probe)
    probe.subscription?.request(.max(3))
    #expect(probe.values.count == 3)
    #expect(probe.completions.isEmpty)
    probe.subscription?.request(.max(5))
    #expect(probe.values.sorted() == [1, 2, 10, 20])
    #expect(probe.completions == [.finished])
    #expect(all([1].publisher.flatMap { _ in Fail<Int, Oops>(error: Oops()) }) == ([], .failure(Oops())))
  }

  @Test
  func switchToLatestDropsTheOneBefore() {
    let outer = PassthroughSubject<PassthroughSubject<Int, Never>, Never>()
    let (first, second) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
    var values: [Int] = []
    var ended = false
    let link = outer.switchToLatest().sink { _ in
      ended = true
    } receiveValue: {
      values.append($0)
    }
    outer.send(first)
    first.send(1)
    outer.send(second)
    first.send(2)
    second.send(3)
    outer.send(completion: .finished)
    #expect(!ended)
    second.send(completion: .finished)
    #expect(ended)
    #expect(values == [1, 3])
    withExtendedLifetime(link) {}
  }

  @Test
  func handleEventsTellsEverything() {
    var events: [String] = []
    let subject = PassthroughSubject<Int, Never>()
    let watched = subject.handleEvents(
      receiveSubscription: { _ in events.append("subscription") },
      receiveOutput: { events.append("output \($0)") },
      receiveCompletion: { _ in events.append("completion") },
      receiveCancel: { events.append("cancel") },
      receiveRequest: { events.append("request \($0)") },
    )
    let link = watched.sink { _ in }
    subject.send(1)
    link.cancel()
    link.cancel()
    #expect(events == ["subscription", "request unlimited", "output 1", "cancel"])
    events = []
    let other = watched.sink { _ in }
    subject.send(completion: .finished)
    other.cancel()
    #expect(events == ["subscription", "request unlimited", "completion"])
  }

  @Test
  func shareSubscribesOnce() {
    let subject = PassthroughSubject<Int, Never>()
    var starts = 0
    var cancels = 0
    let shared = subject.handleEvents(
      receiveSubscription: { _ in starts += 1 },
      receiveCancel: { cancels += 1 },
    ).share()
    var values: [Int] = []
    let one = shared.sink { values.append($0) }
    let two = shared.sink { values.append($0 * 10) }
    subject.send(1)
    #expect(starts == 1)
    #expect(values.sorted() == [1, 10])
    one.cancel()
    #expect(cancels == 0)
    two.cancel()
    #expect(cancels == 1)
    let three = shared.sink { values.append($0) }
    #expect(starts == 2)
    withExtendedLifetime(three) {}
  }

  @Test
  func aFutureKeepsItsResult() {
    var promise: Future<Int, Oops>.Promise?
    var starts = 0
    let future = Future<Int, Oops> {
      starts += 1
      promise = $0
    }
    #expect(starts == 1)
    let probe = Probe<Int, Oops>()
    future.subscribe(probe)
    promise?(.success(4))
    promise?(.success(5))
    #expect(probe.values.isEmpty)
    probe.subscription?.request(.max(1))
    #expect(probe.values == [4])
    #expect(probe.completions == [.finished])
    #expect(all(future) == ([4], .finished))
    let cancelled = Probe<Int, Oops>()
    future.subscribe(cancelled)
    cancelled.subscription?.cancel()
    #expect(cancelled.values.isEmpty && cancelled.completions.isEmpty)
    #expect(all(Future<Int, Oops> { $0(.failure(Oops())) }) == ([], .failure(Oops())))
  }
}
