import Foundation

extension Publishers {
  /// A publisher that calls closures at events.
  public struct HandleEvents<Upstream: Publisher>: Publisher {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream
    /// Called with the subscription.
    public var receiveSubscription: ((any Subscription) -> Void)?
    /// Called with each value.
    public var receiveOutput: ((Output) -> Void)?
    /// Called with the end.
    public var receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)?
    /// Called when the subscriber cancels.
    public var receiveCancel: (() -> Void)?
    /// Called with each request.
    public var receiveRequest: ((Subscribers.Demand) -> Void)?

    /// Makes the operator.
    public init(
      upstream: Upstream,
      receiveSubscription: ((any Subscription) -> Void)? = nil,
      receiveOutput: ((Output) -> Void)? = nil,
      receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil,
      receiveCancel: (() -> Void)? = nil,
      receiveRequest: ((Subscribers.Demand) -> Void)?,
    ) {
      self.upstream = upstream
      self.receiveSubscription = receiveSubscription
      self.receiveOutput = receiveOutput
      self.receiveCompletion = receiveCompletion
      self.receiveCancel = receiveCancel
      self.receiveRequest = receiveRequest
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let events = self
      let watched = AnySubscriber<Output, Failure>(
        receiveSubscription: { subscription in
          events.receiveSubscription?(subscription)
          subscriber.receive(
            subscription: WatchedSubscription(
              subscription,
              onRequest: events.receiveRequest,
              onCancel: events.receiveCancel,
            )
          )
        },
        receiveValue: { value in
          let more = subscriber.receive(value)
          if more > 0 { events.receiveRequest?(more) }
          return more
        },
        receiveCompletion: { subscriber.receive(completion: $0) },
      )
      upstream.subscribe(
        Pipe(
          watched,
          onEnd: { completion in
            events.receiveCompletion?(completion)
            return completion
          },
          onValue: { value in
            events.receiveOutput?(value)
            return .emit(value)
          },
        )
      )
    }
  }
}

/// Tells of requests and of the cancellation of a subscription.
final class WatchedSubscription: Subscription {
  private let lock = NSLock()
  private let base: any Subscription
  private let onRequest: ((Subscribers.Demand) -> Void)?
  private var onCancel: (() -> Void)?

  init(
    _ base: any Subscription,
    onRequest: ((Subscribers.Demand) -> Void)?,
    onCancel: (() -> Void)?,
  ) {
    self.base = base
    self.onRequest = onRequest
    self.onCancel = onCancel
  }

  func request(_ demand: Subscribers.Demand) {
    onRequest?(demand)
    base.request(demand)
  }

  func cancel() {
    let action = lock.withLock {
      defer { onCancel = nil }
      return onCancel
    }
    action?()
    base.cancel()
  }
}

extension Publisher {
  /// Calls closures at events.
  public func handleEvents(
    receiveSubscription: ((any Subscription) -> Void)? = nil,
    receiveOutput: ((Output) -> Void)? = nil,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil,
    receiveCancel: (() -> Void)? = nil,
    receiveRequest: ((Subscribers.Demand) -> Void)? = nil,
  ) -> Publishers.HandleEvents<Self> {
    Publishers.HandleEvents(
      upstream: self,
      receiveSubscription: receiveSubscription,
      receiveOutput: receiveOutput,
      receiveCompletion: receiveCompletion,
      receiveCancel: receiveCancel,
      receiveRequest: receiveRequest,
    )
  }
}
