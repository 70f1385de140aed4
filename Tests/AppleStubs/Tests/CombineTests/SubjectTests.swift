import Combine
import Foundation
import Testing

/// A subscriber that asks for what a test tells it to.
final class Probe<Input, Failure: Error>: Subscriber {
  var subscription: (any Subscription)?
  var values: [Input] = []
  var completions: [Subscribers.Completion<Failure>] = []
  var answer = Subscribers.Demand.none

  func receive(subscription: any Subscription) {
    self.subscription = subscription
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    values.append(input)
    return answer
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    completions.append(completion)
  }
}

struct Oops: Error, Equatable {}

@Suite
struct SubjectTests {
  @Test
  func aPassthroughSubjectDropsWhatNobodyAskedFor() {
    let subject = PassthroughSubject<Int, Oops>()
    let probe = Probe<Int, Oops>()
    subject.subscribe(probe)
    subject.send(1)
    probe.subscription?.request(.max(1))
    subject.send(2)
    subject.send(3)
    #expect(probe.values == [2])
    subject.send(completion: .failure(Oops()))
    subject.send(completion: .finished)
    subject.send(4)
    #expect(probe.completions == [.failure(Oops())])
    let late = Probe<Int, Oops>()
    subject.subscribe(late)
    #expect(late.completions == [.failure(Oops())])
  }

  @Test
  func aCurrentValueSubjectHoldsTheLatest() {
    let subject = CurrentValueSubject<Int, Never>(1)
    let probe = Probe<Int, Never>()
    subject.subscribe(probe)
    subject.value = 2
    subject.send(3)
    #expect(probe.values.isEmpty)
    probe.subscription?.request(.max(1))
    #expect(probe.values == [3])
    subject.send(4)
    probe.subscription?.request(.unlimited)
    subject.send(5)
    #expect(probe.values == [3, 4, 5])
    #expect(subject.value == 5)
  }

  @Test
  func nothingComesAfterCancel() {
    let subject = PassthroughSubject<Int, Never>()
    var values: [Int] = []
    var ended = false
    var link: AnyCancellable?
    link = subject.sink { _ in
      ended = true
    } receiveValue: { value in
      values.append(value)
      if value == 2 { link?.cancel() }
    }
    for value in 1...3 { subject.send(value) }
    subject.send(completion: .finished)
    #expect(values == [1, 2])
    #expect(!ended)
  }

  @Test
  func aCancellableCancelsOnceAndWhenItGoesAway() {
    var count = 0
    var one: AnyCancellable? = AnyCancellable { count += 1 }
    one?.cancel()
    one?.cancel()
    one = nil
    #expect(count == 1)
    var set: Set<AnyCancellable> = []
    var array: [AnyCancellable] = []
    AnyCancellable { count += 10 }.store(in: &set)
    AnyCancellable { count += 100 }.store(in: &array)
    #expect(count == 1)
    set = []
    array = []
    #expect(count == 111)
  }

  @Test
  func aDroppedSinkIsReleased() {
    final class Token {}
    weak var weakToken: Token?
    let subject = PassthroughSubject<Int, Never>()
    do {
      let token = Token()
      weakToken = token
      let link = subject.map { $0 + 1 }.sink { _ in _ = token }
      subject.send(1)
      withExtendedLifetime(link) {}
    }
    #expect(weakToken == nil)
  }

  @Test
  func manyThreadsMaySend() {
    let subject = CurrentValueSubject<Int, Never>(0)
    var count = 0
    let link = subject.sink { _ in count += 1 }
    // Unsafe: the subject is made for this; the test shows it.
    nonisolated(unsafe) let shared = subject
    DispatchQueue.concurrentPerform(iterations: 1000) { shared.send($0) }
    #expect(count == 1001)
    withExtendedLifetime(link) {}
  }
}
