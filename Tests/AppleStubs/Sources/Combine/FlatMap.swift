import Foundation

extension Publishers {
  /// A publisher that makes a publisher of each value, and sends what those send.
  public struct FlatMap<NewPublisher: Publisher, Upstream: Publisher>: Publisher
  where NewPublisher.Failure == Upstream.Failure {
    /// The kind of values.
    public typealias Output = NewPublisher.Output
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream
    /// How many publishers are followed at one time.
    public let maxPublishers: Subscribers.Demand
    /// What makes a publisher.
    public let transform: (Upstream.Output) -> NewPublisher

    /// Makes the operator.
    public init(
      upstream: Upstream,
      maxPublishers: Subscribers.Demand,
      transform: @escaping (Upstream.Output) -> NewPublisher,
    ) {
      self.upstream = upstream
      self.maxPublishers = maxPublishers
      self.transform = transform
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S)
    where S: Subscriber, NewPublisher.Output == S.Input, Upstream.Failure == S.Failure {
      let merger = Merger<NewPublisher>(AnySubscriber(subscriber), limit: maxPublishers, onlyLatest: false)
      let transform = transform
      upstream.subscribe(
        AnySubscriber(
          receiveSubscription: { merger.start($0) },
          receiveValue: { merger.follow(transform($0)) },
          receiveCompletion: { merger.outerEnded($0) },
        )
      )
    }
  }

  /// A publisher that follows the latest publisher it was sent, and drops the one before.
  public struct SwitchToLatest<P: Publisher, Upstream: Publisher>: Publisher
  where P == Upstream.Output, P.Failure == Upstream.Failure {
    /// The kind of values.
    public typealias Output = P.Output
    /// The kind of errors.
    public typealias Failure = P.Failure
    /// Where the publishers come from.
    public let upstream: Upstream

    /// Makes the operator.
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S) where S: Subscriber, P.Output == S.Input, Upstream.Failure == S.Failure {
      let merger = Merger<P>(AnySubscriber(subscriber), limit: .unlimited, onlyLatest: true)
      upstream.subscribe(
        AnySubscriber(
          receiveSubscription: { merger.start($0) },
          receiveValue: { merger.follow($0) },
          receiveCompletion: { merger.outerEnded($0) },
        )
      )
    }
  }
}

extension Publisher {
  /// Makes a publisher of each value, and sends what those send.
  public func flatMap<T, P>(
    maxPublishers: Subscribers.Demand = .unlimited,
    _ transform: @escaping (Output) -> P,
  ) -> Publishers.FlatMap<P, Self> where T == P.Output, P: Publisher, Failure == P.Failure {
    Publishers.FlatMap(upstream: self, maxPublishers: maxPublishers, transform: transform)
  }

  /// Makes a publisher that cannot fail of each value, and sends what those send.
  public func flatMap<P>(
    maxPublishers: Subscribers.Demand = .unlimited,
    _ transform: @escaping (Output) -> P,
  ) -> Publishers.FlatMap<Publishers.SetFailureType<P, Failure>, Self> where P: Publisher, P.Failure == Never {
    Publishers.FlatMap(upstream: self, maxPublishers: maxPublishers) {
      transform($0).setFailureType(to: Failure.self)
    }
  }
}

extension Publisher where Failure == Never {
  /// Makes a publisher of each value, and sends what those send.
  public func flatMap<P>(
    maxPublishers: Subscribers.Demand = .unlimited,
    _ transform: @escaping (Output) -> P,
  ) -> Publishers.FlatMap<P, Publishers.SetFailureType<Self, P.Failure>> where P: Publisher {
    Publishers.FlatMap(
      upstream: setFailureType(to: P.Failure.self),
      maxPublishers: maxPublishers,
      transform: transform,
    )
  }

  /// Makes a publisher of each value, where nothing can fail.
  public func flatMap<P>(
    maxPublishers: Subscribers.Demand = .unlimited,
    _ transform: @escaping (Output) -> P,
  ) -> Publishers.FlatMap<P, Self> where P: Publisher, P.Failure == Never {
    Publishers.FlatMap(upstream: self, maxPublishers: maxPublishers, transform: transform)
  }
}

extension Publisher where Output: Publisher, Failure == Output.Failure {
  /// Follows the latest publisher this one sent.
  public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> {
    Publishers.SwitchToLatest(upstream: self)
  }
}

extension Publisher where Output: Publisher, Failure == Never {
  /// Follows the latest publisher this one sent, which may fail.
  public func switchToLatest()
    -> Publishers.SwitchToLatest<Output, Publishers.SetFailureType<Self, Output.Failure>>
  {
    Publishers.SwitchToLatest(upstream: setFailureType(to: Output.Failure.self))
  }
}

extension Publisher where Output: Publisher, Failure == Never, Output.Failure == Never {
  /// Follows the latest publisher this one sent, where nothing can fail.
  public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> {
    Publishers.SwitchToLatest(upstream: self)
  }
}
