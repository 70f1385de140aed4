import Foundation

extension Publishers {
  /// A publisher that changes the error.
  public struct MapError<Upstream: Publisher, Failure: Error>: Publisher {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// Where the values come from.
    public let upstream: Upstream
    /// What changes the error.
    public let transform: (Upstream.Failure) -> Failure

    /// Makes the operator.
    public init(upstream: Upstream, transform: @escaping (Upstream.Failure) -> Failure) {
      self.upstream = upstream
      self.transform = transform
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S) where Failure == S.Failure, S: Subscriber, Upstream.Output == S.Input {
      let transform = transform
      upstream.subscribe(
        Pipe<Output, Upstream.Failure, Output, Failure>(
          subscriber,
          onEnd: { $0.mapError(transform) },
          onValue: { .emit($0) },
        )
      )
    }
  }

  /// A publisher that is said to fail with another kind of error.
  public struct SetFailureType<Upstream: Publisher, Failure: Error>: Publisher where Upstream.Failure == Never {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// Where the values come from.
    public let upstream: Upstream

    /// Makes the operator.
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S) where Failure == S.Failure, S: Subscriber, Upstream.Output == S.Input {
      upstream.subscribe(
        Pipe<Output, Never, Output, Failure>(
          subscriber,
          onEnd: { _ in .finished },
          onValue: { .emit($0) },
        )
      )
    }
  }

  /// A publisher that sends a value in the place of an error, and finishes.
  public struct ReplaceError<Upstream: Publisher>: Publisher {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// The kind of errors: none.
    public typealias Failure = Never
    /// The value.
    public let output: Upstream.Output
    /// Where the values come from.
    public let upstream: Upstream

    /// Makes the operator.
    public init(upstream: Upstream, output: Output) {
      self.upstream = upstream
      self.output = output
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S) where S: Subscriber, Upstream.Output == S.Input, S.Failure == Never {
      let output = output
      upstream.subscribe(Switchover(subscriber) { (_: Upstream.Failure) in Just(output) })
    }
  }

  /// A publisher that goes on with another publisher after an error.
  public struct Catch<Upstream: Publisher, NewPublisher: Publisher>: Publisher
  where Upstream.Output == NewPublisher.Output {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// The kind of errors.
    public typealias Failure = NewPublisher.Failure
    /// Where the values come from.
    public let upstream: Upstream
    /// What makes the other publisher.
    public let handler: (Upstream.Failure) -> NewPublisher

    /// Makes the operator.
    public init(upstream: Upstream, handler: @escaping (Upstream.Failure) -> NewPublisher) {
      self.upstream = upstream
      self.handler = handler
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S)
    where S: Subscriber, NewPublisher.Failure == S.Failure, NewPublisher.Output == S.Input {
      upstream.subscribe(Switchover(subscriber, handler))
    }
  }
}

/// Goes over to a second publisher when the first one fails.
///
/// The demand that is still open is asked of the second one.
final class Switchover<Failure: Error, Second: Publisher>: Subscriber, Subscription {
  private let lock = NSLock()
  private var upstream: (any Subscription)?
  private var demand = Subscribers.Demand.none
  private var downstream: AnySubscriber<Second.Output, Second.Failure>?
  private let handler: (Failure) -> Second

  init<S: Subscriber>(_ downstream: S, _ handler: @escaping (Failure) -> Second)
  where S.Input == Second.Output, S.Failure == Second.Failure {
    self.downstream = AnySubscriber(downstream)
    self.handler = handler
  }

  func receive(subscription: any Subscription) {
    lock.withLock { upstream = subscription }
    lock.withLock { downstream }?.receive(subscription: self)
  }

  func receive(_ input: Second.Output) -> Subscribers.Demand {
    let target = lock.withLock {
      demand -= 1
      return downstream
    }
    let more = target?.receive(input) ?? .none
    lock.withLock { demand += more }
    return more
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished:
      end().0?.receive(completion: .finished)
    case .failure(let error):
      lock.withLock { upstream = nil }
      handler(error).subscribe(
        AnySubscriber(
          receiveSubscription: { self.goOn(with: $0) },
          receiveValue: { self.receive($0) },
          receiveCompletion: { self.end().0?.receive(completion: $0) },
        )
      )
    }
  }

  private func goOn(with subscription: any Subscription) {
    let open = lock.withLock { () -> Subscribers.Demand? in
      guard downstream != nil else { return nil }
      upstream = subscription
      return demand
    }
    guard let open else { return subscription.cancel() }
    if open > 0 { subscription.request(open) }
  }

  func request(_ more: Subscribers.Demand) {
    let target = lock.withLock {
      demand += more
      return upstream
    }
    target?.request(more)
  }

  func cancel() {
    end().1?.cancel()
  }

  private func end() -> (AnySubscriber<Second.Output, Second.Failure>?, (any Subscription)?) {
    lock.withLock {
      defer {
        downstream = nil
        upstream = nil
      }
      return (downstream, upstream)
    }
  }
}

extension Publisher {
  /// Changes the error.
  public func mapError<E>(_ transform: @escaping (Failure) -> E) -> Publishers.MapError<Self, E> where E: Error {
    Publishers.MapError(upstream: self, transform: transform)
  }

  /// Sends a value in the place of an error, and finishes.
  public func replaceError(with output: Output) -> Publishers.ReplaceError<Self> {
    Publishers.ReplaceError(upstream: self, output: output)
  }

  /// Goes on with another publisher after an error.
  public func `catch`<P>(_ handler: @escaping (Failure) -> P) -> Publishers.Catch<Self, P>
  where P: Publisher, Output == P.Output {
    Publishers.Catch(upstream: self, handler: handler)
  }
}

extension Publisher where Failure == Never {
  /// Says that the publisher fails with a kind of error, to match another one.
  public func setFailureType<E>(to failureType: E.Type) -> Publishers.SetFailureType<Self, E> where E: Error {
    Publishers.SetFailureType(upstream: self)
  }
}
