import Foundation

extension Publishers {
  /// A publisher that delivers on a scheduler.
  public struct ReceiveOn<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream
    /// Where they are delivered.
    public let scheduler: Context
    /// The scheduler's options.
    public let options: Context.SchedulerOptions?

    /// Makes the operator.
    public init(upstream: Upstream, scheduler: Context, options: Context.SchedulerOptions?) {
      self.upstream = upstream
      self.scheduler = scheduler
      self.options = options
    }

    /// Attaches a subscriber.
    public func receive<S>(subscriber: S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let (scheduler, options) = (scheduler, options)
      upstream.subscribe(
        Hop(AnySubscriber<Output, Failure>(subscriber)) { scheduler.schedule(options: options, $0) }
      )
    }
  }

  /// A publisher that subscribes, requests and cancels on a scheduler.
  public struct SubscribeOn<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// The kind of values.
    public typealias Output = Upstream.Output
    /// The kind of errors.
    public typealias Failure = Upstream.Failure
    /// Where the values come from.
    public let upstream: Upstream
    /// Where the subscription is made.
    public let scheduler: Context
    /// The scheduler's options.
    public let options: Context.SchedulerOptions?

    /// Makes the operator.
    public init(upstream: Upstream, scheduler: Context, options: Context.SchedulerOptions?) {
      self.upstream = upstream
      self.scheduler = scheduler
      self.options = options
    }

    /// Attaches a subscriber, later.
    public func receive<S>(subscriber: S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let (upstream, scheduler, options) = (upstream, scheduler, options)
      let relay = AnySubscriber<Output, Failure>(
        receiveSubscription: { subscription in
          subscriber.receive(
            subscription: HoppingSubscription(subscription) { scheduler.schedule(options: options, $0) }
          )
        },
        receiveValue: { value in
          let more = subscriber.receive(value)
          return more
        },
        receiveCompletion: { subscriber.receive(completion: $0) },
      )
      scheduler.schedule(options: options) {
        upstream.subscribe(Pipe(relay) { .emit($0) })
      }
    }
  }
}

/// Delivers values and the end by way of a scheduler, and nothing after `cancel()`.
final class Hop<Input, Failure: Error>: Subscriber, Subscription {
  private let lock = NSLock()
  private let delivery = NSRecursiveLock()
  private let schedule: (@escaping () -> Void) -> Void
  private var downstream: AnySubscriber<Input, Failure>?
  private var upstream: (any Subscription)?
  private var isEnding = false

  init(_ downstream: AnySubscriber<Input, Failure>, schedule: @escaping (@escaping () -> Void) -> Void) {
    self.downstream = downstream
    self.schedule = schedule
  }

  func receive(subscription: any Subscription) {
    let target = lock.withLock { () -> AnySubscriber<Input, Failure>? in
      guard upstream == nil else { return nil }
      upstream = subscription
      return downstream
    }
    if let target { target.receive(subscription: self) } else { subscription.cancel() }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    guard lock.withLock({ downstream != nil && !isEnding }) else { return .none }
    schedule { [self] in
      let more = delivery.withLock { lock.withLock { downstream }?.receive(input) ?? .none }
      if more > 0 { lock.withLock { upstream }?.request(more) }
    }
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    let first = lock.withLock {
      defer { isEnding = true }
      return downstream != nil && !isEnding
    }
    guard first else { return }
    schedule { [self] in
      delivery.withLock { end().0?.receive(completion: completion) }
    }
  }

  func request(_ demand: Subscribers.Demand) {
    lock.withLock { upstream }?.request(demand)
  }

  func cancel() {
    end().1?.cancel()
  }

  private func end() -> (AnySubscriber<Input, Failure>?, (any Subscription)?) {
    lock.withLock {
      defer {
        downstream = nil
        upstream = nil
      }
      return (downstream, upstream)
    }
  }
}

/// Requests and cancels by way of a scheduler.
final class HoppingSubscription: Subscription {
  private let base: any Subscription
  private let schedule: (@escaping () -> Void) -> Void

  init(_ base: any Subscription, schedule: @escaping (@escaping () -> Void) -> Void) {
    self.base = base
    self.schedule = schedule
  }

  func request(_ demand: Subscribers.Demand) {
    schedule { [base] in base.request(demand) }
  }

  func cancel() {
    schedule { [base] in base.cancel() }
  }
}

extension Publisher {
  /// Delivers values and the end on a scheduler.
  public func receive<S>(on scheduler: S, options: S.SchedulerOptions? = nil) -> Publishers.ReceiveOn<Self, S>
  where S: Scheduler {
    Publishers.ReceiveOn(upstream: self, scheduler: scheduler, options: options)
  }

  /// Subscribes, requests and cancels on a scheduler.
  public func subscribe<S>(on scheduler: S, options: S.SchedulerOptions? = nil) -> Publishers.SubscribeOn<Self, S>
  where S: Scheduler {
    Publishers.SubscribeOn(upstream: self, scheduler: scheduler, options: options)
  }
}
