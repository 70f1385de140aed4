/// A publisher that outside callers feed by `send`.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
  /// Sends a value to the subscribers.
  func send(_ value: Output)
  /// Sends the end to the subscribers.
  func send(completion: Subscribers.Completion<Failure>)
  /// Gives the subject a subscription to ask for values.
  func send(subscription: any Subscription)
}

extension Subject where Output == Void {
  /// Sends an empty value to the subscribers.
  public func send() {
    send(())
  }
}

/// A subject that passes values on and keeps none.
///
/// A value is dropped for a subscriber that has asked for nothing.
public final class PassthroughSubject<Output, Failure: Error>: Subject {
  private let list = ConduitList<Output, Failure>(current: nil)

  /// Makes a subject.
  public init() {}

  /// Attaches a subscriber.
  public func receive<S>(subscriber: S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    list.attach(AnySubscriber(subscriber))
  }

  /// Sends a value to the subscribers.
  public func send(_ input: Output) {
    list.send(input)
  }

  /// Sends the end to the subscribers.
  public func send(completion: Subscribers.Completion<Failure>) {
    list.send(completion: completion)
  }

  /// Gives the subject a subscription, from which it asks for everything.
  public func send(subscription: any Subscription) {
    list.send(subscription: subscription)
  }
}

/// A subject that keeps the latest value and gives it to each new subscriber.
public final class CurrentValueSubject<Output, Failure: Error>: Subject {
  private let list: ConduitList<Output, Failure>
  private let first: Output

  /// Makes a subject with a first value.
  public init(_ value: Output) {
    first = value
    list = ConduitList(current: value)
  }

  /// The latest value; a new one is sent to the subscribers.
  public var value: Output {
    get { list.latest ?? first }
    set { list.send(newValue) }
  }

  /// Attaches a subscriber.
  public func receive<S>(subscriber: S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    list.attach(AnySubscriber(subscriber))
  }

  /// Sends a value to the subscribers.
  public func send(_ input: Output) {
    list.send(input)
  }

  /// Sends the end to the subscribers.
  public func send(completion: Subscribers.Completion<Failure>) {
    list.send(completion: completion)
  }

  /// Gives the subject a subscription, from which it asks for everything.
  public func send(subscription: any Subscription) {
    list.send(subscription: subscription)
  }
}
