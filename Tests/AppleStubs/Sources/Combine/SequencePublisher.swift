import Foundation

extension Publishers {
  /// A publisher of the elements of a sequence.
  public struct Sequence<Elements: Swift.Sequence, Failure: Error>: Publisher {
    /// The kind of values.
    public typealias Output = Elements.Element

    /// The elements.
    public let sequence: Elements

    /// Makes a publisher of a sequence.
    public init(sequence: Elements) {
      self.sequence = sequence
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S)
    where Failure == S.Failure, S: Subscriber, Elements.Element == S.Input {
      IteratorSubscription.start(sequence.makeIterator(), AnySubscriber(subscriber))
    }
  }
}

extension Sequence {
  /// A publisher of the elements of this sequence.
  public var publisher: Publishers.Sequence<Self, Never> {
    Publishers.Sequence(sequence: self)
  }
}

/// Sends the elements of an iterator as they are asked for.
final class IteratorSubscription<Iterator: IteratorProtocol, Failure: Error>: Subscription {
  private let lock = NSLock()
  private var iterator: Iterator
  private var next: Iterator.Element?
  private var downstream: AnySubscriber<Iterator.Element, Failure>?
  private var demand = Subscribers.Demand.none
  private var isSending = false

  private init(_ iterator: Iterator, _ downstream: AnySubscriber<Iterator.Element, Failure>) {
    self.iterator = iterator
    self.downstream = downstream
    next = self.iterator.next()
  }

  /// Attaches a subscriber, which ends at once if there is no element.
  static func start(_ iterator: Iterator, _ downstream: AnySubscriber<Iterator.Element, Failure>) {
    let made = IteratorSubscription(iterator, downstream)
    if made.next == nil {
      downstream.receive(subscription: Subscriptions.empty)
      downstream.receive(completion: .finished)
    } else {
      downstream.receive(subscription: made)
    }
  }

  func request(_ more: Subscribers.Demand) {
    precondition(more > 0, "a request must be for at least one item")
    let starts = lock.withLock {
      demand += more
      defer { isSending = true }
      return !isSending
    }
    if starts { send() }
  }

  private func send() {
    while let (target, value) = take() {
      let more = target.receive(value)
      let finished = lock.withLock {
        demand += more
        guard next == nil else { return false }
        defer { downstream = nil }
        return downstream != nil
      }
      if finished { target.receive(completion: .finished) }
    }
  }

  private func take() -> (AnySubscriber<Iterator.Element, Failure>, Iterator.Element)? {
    lock.withLock {
      guard demand > 0, let downstream, let value = next else {
        isSending = false
        return nil
      }
      demand -= 1
      next = iterator.next()
      return (downstream, value)
    }
  }

  func cancel() {
    _ = lock.withLock {
      defer { downstream = nil }
      return downstream
    }
  }
}
