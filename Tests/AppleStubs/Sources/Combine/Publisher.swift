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
  public func subscribe<S>(_ subscriber: S) where S: Subscriber, Failure == S.Failure, Output == S.Input {
    receive(subscriber: subscriber)
  }

  /// Attaches closures for the values and for the end.
  public func sink(
    receiveCompletion: @escaping ((Subscribers.Completion<Failure>) -> Void),
    receiveValue: @escaping ((Output) -> Void),
  ) -> AnyCancellable {
    let sink = Sink<Output, Failure>(receiveCompletion: receiveCompletion, receiveValue: receiveValue)
    subscribe(sink)
    return AnyCancellable(sink)
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

/// The connection of a subscriber to a publisher.
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  /// Says that the publisher may send more values.
  func request(_ demand: Subscribers.Demand)
}

/// A unique name for one publisher stream.
public struct CombineIdentifier: Hashable, Sendable {
  private let object: ObjectIdentifier

  /// Makes the name of an object.
  public init(_ obj: AnyObject) { object = ObjectIdentifier(obj) }
}

/// A type that has a name for tracking it in a publisher stream.
public protocol CustomCombineIdentifierConvertible {
  /// The unique name.
  var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
  /// The name made from the object's identity.
  public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}
