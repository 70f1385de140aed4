import Foundation

/// A namespace for types that act as subscribers.
public enum Subscribers {
  /// How a publisher came to an end.
  public enum Completion<Failure: Error>: Sendable {
    /// It ended normally.
    case finished
    /// It stopped because of an error.
    case failure(Failure)
  }

  /// A number of items a subscriber asks for.
  public struct Demand: Comparable, Hashable, Sendable {
    let raw: UInt

    /// A request for as many values as the publisher can make.
    public static let unlimited = Demand(raw: .max)
    /// A request for nothing.
    public static let none = Demand(raw: 0)

    /// Makes a demand of a number of items, which must not be negative.
    public static func max(_ value: Int) -> Demand {
      precondition(value >= 0, "demand cannot be negative")
      return Demand(raw: UInt(value))
    }

    /// Whether a demand is less than another.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.raw < rhs.raw }
  }
}

/// A subscriber that asks for everything and hands it to closures.
final class Sink<Input, Failure: Error>: Subscriber, Cancellable {
  private let lock = NSLock()
  private var subscription: (any Subscription)?
  private var actions: (value: (Input) -> Void, completion: (Subscribers.Completion<Failure>) -> Void)?

  init(
    receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
    receiveValue: @escaping (Input) -> Void,
  ) {
    actions = (receiveValue, receiveCompletion)
  }

  /// Accepts the first subscription, and cancels any other.
  func receive(subscription: any Subscription) {
    let isAccepted = lock.withLock {
      guard self.subscription == nil, actions != nil else { return false }
      self.subscription = subscription
      return true
    }
    if isAccepted { subscription.request(.unlimited) } else { subscription.cancel() }
  }

  func receive(_ value: Input) -> Subscribers.Demand {
    lock.withLock { actions }?.value(value)
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) { end().actions?.completion(completion) }

  func cancel() { end().subscription?.cancel() }

  /// Ends the sink once.
  ///
  /// The caller releases what it held, without the lock.
  private func end() -> (
    actions: (value: (Input) -> Void, completion: (Subscribers.Completion<Failure>) -> Void)?,
    subscription: (any Subscription)?,
  ) {
    lock.withLock {
      defer { (actions, subscription) = (nil, nil) }
      return (actions, subscription)
    }
  }
}
