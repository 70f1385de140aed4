import Foundation

/// What a simple operator does with one value.
enum Step<Output, Failure: Error> {
  case emit(Output)
  case skip
  case emitLast(Output)
  case end(Subscribers.Completion<Failure>)
}

/// The middle of a chain for an operator that treats each value by itself.
///
/// Nothing is delivered after `cancel()` or after the end.
final class Pipe<Input, Failure: Error, Output, NewFailure: Error>: Subscriber, Subscription {
  typealias OnValue = (Input) -> Step<Output, NewFailure>
  typealias OnEnd = (Subscribers.Completion<Failure>) -> Subscribers.Completion<NewFailure>

  private let lock = NSLock()
  private var status = SubscriptionStatus.waiting
  private var downstream: AnySubscriber<Output, NewFailure>?
  private let onValue: OnValue
  private let onEnd: OnEnd

  init<S: Subscriber>(_ downstream: S, onEnd: @escaping OnEnd, onValue: @escaping OnValue)
  where S.Input == Output, S.Failure == NewFailure {
    self.downstream = AnySubscriber(downstream)
    self.onValue = onValue
    self.onEnd = onEnd
  }

  func receive(subscription: any Subscription) {
    let target = lock.withLock { () -> AnySubscriber<Output, NewFailure>? in
      guard case .waiting = status else { return nil }
      status = .active(subscription)
      return downstream
    }
    if let target { target.receive(subscription: self) } else { subscription.cancel() }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    guard isActive else { return .none }
    switch onValue(input) {
    case .emit(let value):
      return lock.withLock { downstream }?.receive(value) ?? .none
    case .skip:
      return .max(1)
    case .emitLast(let value):
      let (target, upstream) = end()
      upstream?.cancel()
      _ = target?.receive(value)
      target?.receive(completion: .finished)
      return .none
    case .end(let completion):
      let (target, upstream) = end()
      upstream?.cancel()
      target?.receive(completion: completion)
      return .none
    }
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    let new = onEnd(completion)
    end().0?.receive(completion: new)
  }

  func request(_ demand: Subscribers.Demand) {
    lock.withLock { status.subscription }?.request(demand)
  }

  func cancel() {
    end().1?.cancel()
  }

  private var isActive: Bool {
    lock.withLock { status.subscription != nil }
  }

  // What was held is returned, so that it is released outside the lock.
  private func end() -> (AnySubscriber<Output, NewFailure>?, (any Subscription)?) {
    lock.withLock {
      defer {
        downstream = nil
        status = .ended
      }
      return (downstream, status.subscription)
    }
  }
}

extension Pipe where Failure == NewFailure {
  convenience init<S: Subscriber>(_ downstream: S, onValue: @escaping OnValue)
  where S.Input == Output, S.Failure == NewFailure {
    self.init(downstream, onEnd: { $0 }, onValue: onValue)
  }
}

extension Subscribers.Completion {
  func mapError<NewFailure: Error>(
    _ transform: (Failure) -> NewFailure
  ) -> Subscribers.Completion<NewFailure> {
    switch self {
    case .finished: .finished
    case .failure(let error): .failure(transform(error))
    }
  }
}
