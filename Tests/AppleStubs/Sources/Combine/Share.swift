import Foundation

extension Publishers {
  /// A publisher that shares one subscription to another one.
  public final class Share<Upstream: Publisher>: Publisher, Equatable {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream

    private let lock = NSLock()
    private var subject = PassthroughSubject<Output, Failure>()
    private var connection: AnyCancellable?
    private var count = 0

    /// Makes the operator.
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber; the first one starts the upstream, the last one to cancel stops it.
    public func receive<S>(subscriber: S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let (subject, isFirst) = lock.withLock {
        count += 1
        return (self.subject, count == 1)
      }
      let relay = AnySubscriber<Output, Failure>(
        receiveSubscription: { subscription in
          subscriber.receive(
            subscription: WatchedSubscription(subscription, onRequest: nil, onCancel: { self.leave() })
          )
        },
        receiveValue: { subscriber.receive($0) },
        receiveCompletion: { subscriber.receive(completion: $0) },
      )
      subject.subscribe(relay)
      if isFirst {
        let link = upstream.subscribe(subject)
        lock.withLock { connection = link }
      }
    }

    private func leave() {
      let old = lock.withLock { () -> AnyCancellable? in
        count -= 1
        guard count == 0 else { return nil }
        subject = PassthroughSubject()
        defer { connection = nil }
        return connection
      }
      old?.cancel()
    }

    /// Whether both are the same object.
    public static func == (lhs: Share, rhs: Share) -> Bool {
      lhs === rhs
    }
  }
}

extension Publisher {
  /// Shares one subscription among several subscribers.
  public func share() -> Publishers.Share<Self> {
    Publishers.Share(upstream: self)
  }
}
