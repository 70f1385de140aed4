import Combine
import Testing

/// Sends a number as often as it is asked for one.
private struct Numbers: Publisher {
  typealias Output = Int
  typealias Failure = Never

  final class Link: Subscription {
    var demands: [Subscribers.Demand] = []
    var isCancelled = false

    func request(_ demand: Subscribers.Demand) { demands.append(demand) }
    func cancel() { isCancelled = true }
  }

  let link = Link()

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    subscriber.receive(subscription: link)
    _ = subscriber.receive(1)
  }
}

struct CombineTests {
  @Test
  func aSinkAsksForEverythingAndCancelsWhenNobodyKeepsIt() {
    let numbers = Numbers()
    var values: [Int] = []
    var kept: Set<AnyCancellable> = []
    numbers.sink(receiveCompletion: { _ in }, receiveValue: { values.append($0) }).store(in: &kept)
    #expect(values == [1])
    #expect(numbers.link.demands == [.unlimited])
    #expect(!numbers.link.isCancelled)
    kept = []
    #expect(numbers.link.isCancelled)
  }

  @Test
  func demandsAreOrdered() {
    #expect(Subscribers.Demand.none < .max(1))
    #expect(Subscribers.Demand.max(1_000_000) < .unlimited)
    #expect(Subscribers.Demand.max(0) == .none)
  }
}
