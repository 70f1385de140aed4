import Foundation

/// A subscriber that hides the type of another one.
public struct AnySubscriber<Input, Failure: Error>: Subscriber {
  private let onSubscription: (any Subscription) -> Void
  private let onValue: (Input) -> Subscribers.Demand
  private let onCompletion: (Subscribers.Completion<Failure>) -> Void

  /// The name of the hidden subscriber.
  public let combineIdentifier: CombineIdentifier

  /// Hides the type of a subscriber.
  public init<S>(_ s: S) where Input == S.Input, Failure == S.Failure, S: Subscriber {
    combineIdentifier = s.combineIdentifier
    if let same = s as? AnySubscriber<Input, Failure> {
      onSubscription = same.onSubscription
      onValue = same.onValue
      onCompletion = same.onCompletion
    } else {
      onSubscription = { s.receive(subscription: $0) }
      onValue = { s.receive($0) }
      onCompletion = { s.receive(completion: $0) }
    }
  }

  /// Makes a subscriber that feeds a subject.
  public init<S>(_ s: S) where Input == S.Output, Failure == S.Failure, S: Subject {
    self.init(SubjectLink(s))
  }

  /// Makes a subscriber of closures.
  public init(
    receiveSubscription: ((any Subscription) -> Void)? = nil,
    receiveValue: ((Input) -> Subscribers.Demand)? = nil,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil,
  ) {
    combineIdentifier = CombineIdentifier()
    onSubscription = receiveSubscription ?? { _ in }
    onValue = receiveValue ?? { _ in .none }
    onCompletion = receiveCompletion ?? { _ in }
  }

  /// Tells that the subscription succeeded.
  public func receive(subscription: any Subscription) {
    onSubscription(subscription)
  }

  /// Hands over a value.
  public func receive(_ value: Input) -> Subscribers.Demand {
    onValue(value)
  }

  /// Tells that no more values follow.
  public func receive(completion: Subscribers.Completion<Failure>) {
    onCompletion(completion)
  }
}

/// Feeds a subject from a publisher.
final class SubjectLink<S: Subject>: Subscriber, Subscription {
  private let lock = NSLock()
  private var subject: S?
  private var upstream: (any Subscription)?

  init(_ subject: S) {
    self.subject = subject
  }

  func receive(subscription: any Subscription) {
    let target = lock.withLock { () -> S? in
      guard upstream == nil else { return nil }
      upstream = subject == nil ? nil : subscription
      return subject
    }
    if let target { target.send(subscription: self) } else { subscription.cancel() }
  }

  func receive(_ input: S.Output) -> Subscribers.Demand {
    lock.withLock { subject }?.send(input)
    return .none
  }

  func receive(completion: Subscribers.Completion<S.Failure>) {
    let target = lock.withLock {
      defer {
        subject = nil
        upstream = nil
      }
      return subject
    }
    target?.send(completion: completion)
  }

  func request(_ demand: Subscribers.Demand) {
    lock.withLock { upstream }?.request(demand)
  }

  func cancel() {
    let taken = lock.withLock {
      defer {
        subject = nil
        upstream = nil
      }
      return (subject, upstream)
    }
    taken.1?.cancel()
  }
}
