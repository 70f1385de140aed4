import Foundation

extension Subscribers {
  /// How a publisher came to an end.
  public enum Completion<Failure: Error> {
    /// It ended normally.
    case finished
    /// It stopped because of an error.
    case failure(Failure)
  }
}

extension Subscribers.Completion: Sendable {}

extension Subscribers.Completion: Equatable where Failure: Equatable {}

extension Subscribers.Completion: Hashable where Failure: Hashable {}

/// What a subscriber at the end of a chain knows of its subscription.
enum SubscriptionStatus {
  case waiting
  case active(any Subscription)
  case ended

  var subscription: (any Subscription)? {
    if case .active(let subscription) = self { subscription } else { nil }
  }
}

extension Subscribers {
  /// A subscriber that asks for everything and hands it to closures.
  public final class Sink<Input, Failure: Error>: Subscriber, Cancellable {
    private let lock = NSLock()
    private var status = SubscriptionStatus.waiting
    private var valueAction: (Input) -> Void
    private var completionAction: (Subscribers.Completion<Failure>) -> Void

    /// The closure that takes a value.
    public var receiveValue: (Input) -> Void {
      lock.withLock { valueAction }
    }

    /// The closure that takes the end.
    public var receiveCompletion: (Subscribers.Completion<Failure>) -> Void {
      lock.withLock { completionAction }
    }

    /// Makes a sink of two closures.
    public init(
      receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
      receiveValue: @escaping (Input) -> Void,
    ) {
      valueAction = receiveValue
      completionAction = receiveCompletion
    }

    /// Accepts the first subscription, and cancels any other.
    public func receive(subscription: any Subscription) {
      let accepted = lock.withLock {
        guard case .waiting = status else { return false }
        status = .active(subscription)
        return true
      }
      if accepted { subscription.request(.unlimited) } else { subscription.cancel() }
    }

    /// Hands a value to the closure.
    public func receive(_ value: Input) -> Subscribers.Demand {
      let action = lock.withLock { status.subscription == nil ? nil : valueAction }
      action?(value)
      return .none
    }

    /// Hands the end to the closure.
    public func receive(completion: Subscribers.Completion<Failure>) {
      finish { $0(completion) }
    }

    /// Cancels the subscription, and lets the closures go.
    public func cancel() {
      let subscription = lock.withLock { status.subscription }
      finish { _ in }
      subscription?.cancel()
    }

    // Ends the sink once. The old closures are released outside the lock.
    private func finish(_ body: ((Subscribers.Completion<Failure>) -> Void) -> Void) {
      let old = lock.withLock { () -> (Any, (Subscribers.Completion<Failure>) -> Void)? in
        if case .ended = status { return nil }
        status = .ended
        defer {
          valueAction = { _ in }
          completionAction = { _ in }
        }
        return (valueAction, completionAction)
      }
      if let old { body(old.1) }
    }
  }

  /// A subscriber that writes values to a property.
  public final class Assign<Root, Input>: Subscriber, Cancellable {
    /// The kind of errors: none.
    public typealias Failure = Never

    private let lock = NSLock()
    private var status = SubscriptionStatus.waiting
    private var target: Root?

    /// The object whose property is written, or nil after the end.
    public var object: Root? {
      lock.withLock { target }
    }

    /// The property that is written.
    public let keyPath: ReferenceWritableKeyPath<Root, Input>

    /// Makes a subscriber for a property of an object.
    public init(object: Root, keyPath: ReferenceWritableKeyPath<Root, Input>) {
      target = object
      self.keyPath = keyPath
    }

    /// Accepts the first subscription, and cancels any other.
    public func receive(subscription: any Subscription) {
      let accepted = lock.withLock {
        guard case .waiting = status else { return false }
        status = .active(subscription)
        return true
      }
      if accepted { subscription.request(.unlimited) } else { subscription.cancel() }
    }

    /// Writes a value to the property.
    public func receive(_ value: Input) -> Subscribers.Demand {
      let object = lock.withLock { status.subscription == nil ? nil : target }
      object?[keyPath: keyPath] = value
      return .none
    }

    /// Lets the object go.
    public func receive(completion: Subscribers.Completion<Never>) {
      _ = end()
    }

    /// Cancels the subscription, and lets the object go.
    public func cancel() {
      end().0?.cancel()
    }

    // The object is returned, so that it is released outside the lock.
    private func end() -> ((any Subscription)?, Root?) {
      lock.withLock {
        defer {
          status = .ended
          target = nil
        }
        return (status.subscription, target)
      }
    }
  }
}

extension Publisher {
  /// Attaches closures for the values and for the end.
  public func sink(
    receiveCompletion: @escaping ((Subscribers.Completion<Failure>) -> Void),
    receiveValue: @escaping ((Output) -> Void),
  ) -> AnyCancellable {
    let sink = Subscribers.Sink<Output, Failure>(
      receiveCompletion: receiveCompletion,
      receiveValue: receiveValue,
    )
    subscribe(sink)
    return AnyCancellable(sink)
  }
}

extension Publisher where Failure == Never {
  /// Attaches a closure for the values.
  public func sink(receiveValue: @escaping ((Output) -> Void)) -> AnyCancellable {
    sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
  }

  /// Writes each value to a property of an object, which is kept until the end.
  public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable {
    let assign = Subscribers.Assign(object: object, keyPath: keyPath)
    subscribe(assign)
    return AnyCancellable(assign)
  }
}
