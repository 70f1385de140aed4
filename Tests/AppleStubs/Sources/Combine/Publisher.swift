/// A type that delivers a sequence of values over time.
public protocol Publisher<Output, Failure> {
  /// The kind of values.
  associatedtype Output
  /// The kind of errors, or `Never`.
  associatedtype Failure: Error

  /// Attaches a subscriber; call `subscribe(_:)` instead.
  func receive<S>(subscriber: S) where S: Subscriber, Failure == S.Failure, Output == S.Input
}

extension Publisher {
  /// Attaches a subscriber.
  public func subscribe<S>(_ subscriber: S)
  where S: Subscriber, Failure == S.Failure, Output == S.Input {
    receive(subscriber: subscriber)
  }

  /// Attaches a subject, and returns what ends the link.
  public func subscribe<S>(_ subject: S) -> AnyCancellable
  where S: Subject, Failure == S.Failure, Output == S.Output {
    let link = SubjectLink(subject)
    receive(subscriber: link)
    return AnyCancellable(link)
  }

  /// Hides the type of this publisher.
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> {
    AnyPublisher(self)
  }
}

/// A type that receives input from a publisher.
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  /// The kind of values.
  associatedtype Input
  /// The kind of errors, or `Never`.
  associatedtype Failure: Error

  /// Tells that the subscription succeeded and items may be requested.
  func receive(subscription: any Subscription)
  /// Hands over a value, and returns how many more are wanted.
  func receive(_ input: Input) -> Subscribers.Demand
  /// Tells that no more values follow.
  func receive(completion: Subscribers.Completion<Failure>)
}

extension Subscriber where Input == Void {
  /// Hands over an empty value.
  public func receive() -> Subscribers.Demand {
    receive(())
  }
}

/// The connection of a subscriber to a publisher.
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  /// Says that the publisher may send more values.
  func request(_ demand: Subscribers.Demand)
}

/// A namespace for symbols related to subscriptions.
public enum Subscriptions {
  /// A subscription that does nothing.
  public static var empty: any Subscription {
    EmptySubscription.shared
  }
}

final class EmptySubscription: Subscription, Sendable {
  static let shared = EmptySubscription()

  func request(_ demand: Subscribers.Demand) {}

  func cancel() {}
}

/// A namespace for types that act as publishers.
public enum Publishers {}

/// A publisher that hides the type of another one.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
  private let base: any Publisher<Output, Failure>

  /// Wraps a publisher.
  public init<P>(_ publisher: P) where Output == P.Output, Failure == P.Failure, P: Publisher {
    base = (publisher as? AnyPublisher<Output, Failure>)?.base ?? publisher
  }

  /// Attaches a subscriber.
  public func receive<S>(subscriber: S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    base.receive(subscriber: subscriber)
  }
}
