import Foundation

/// The subscription of one subscriber to a subject.
///
/// Values are delivered one at a time (`delivery` is held meanwhile, and may be
/// taken again by the same thread), and none after `cancel()`.
final class Conduit<Output, Failure: Error>: Subscription {
  private let lock = NSLock()
  private let delivery = NSRecursiveLock()
  private var downstream: AnySubscriber<Output, Failure>?
  private var demand = Subscribers.Demand.none
  private var held: Output?
  private var onEnd: ((Conduit) -> Void)?
  private let holdsLatest: Bool

  init(
    _ downstream: AnySubscriber<Output, Failure>,
    holdsLatest: Bool,
    first: Output?,
    onEnd: @escaping (Conduit) -> Void,
  ) {
    self.downstream = downstream
    self.holdsLatest = holdsLatest
    held = first
    self.onEnd = onEnd
  }

  /// Delivers a value if there is demand; otherwise drops it, or holds the latest.
  func offer(_ value: Output) {
    delivery.withLock {
      let target = lock.withLock { () -> AnySubscriber<Output, Failure>? in
        guard demand > 0 else {
          if holdsLatest { held = value }
          return nil
        }
        held = nil
        demand -= 1
        return downstream
      }
      guard let target else { return }
      let more = target.receive(value)
      lock.withLock { demand += more }
    }
  }

  func finish(_ completion: Subscribers.Completion<Failure>) {
    delivery.withLock {
      end()?.receive(completion: completion)
    }
  }

  func request(_ more: Subscribers.Demand) {
    precondition(more > 0, "a request must be for at least one item")
    delivery.withLock {
      let value = lock.withLock {
        demand += more
        defer { held = nil }
        return held
      }
      if let value { offer(value) }
    }
  }

  func cancel() {
    _ = end()
  }

  private func end() -> AnySubscriber<Output, Failure>? {
    let taken = lock.withLock {
      defer {
        downstream = nil
        onEnd = nil
        held = nil
      }
      return (downstream, onEnd, held)
    }
    taken.1?(self)
    return taken.0
  }
}

/// The subscribers of a subject, its end and its current value.
final class ConduitList<Output, Failure: Error> {
  private let lock = NSLock()
  private var conduits: [Conduit<Output, Failure>] = []
  private var upstreams: [any Subscription] = []
  private var completion: Subscribers.Completion<Failure>?
  private var current: Output?
  private let holdsLatest: Bool

  init(current: Output?) {
    self.current = current
    holdsLatest = current != nil
  }

  deinit {
    for upstream in upstreams { upstream.cancel() }
  }

  var latest: Output? {
    lock.withLock { current }
  }

  func attach(_ subscriber: AnySubscriber<Output, Failure>) {
    let added = lock.withLock { () -> Conduit<Output, Failure>? in
      guard completion == nil else { return nil }
      let conduit = Conduit(subscriber, holdsLatest: holdsLatest, first: current) { [weak self] conduit in
        self?.remove(conduit)
      }
      conduits.append(conduit)
      return conduit
    }
    if let added {
      subscriber.receive(subscription: added)
    } else if let completion = lock.withLock({ completion }) {
      subscriber.receive(subscription: Subscriptions.empty)
      subscriber.receive(completion: completion)
    }
  }

  func send(_ value: Output) {
    let targets = lock.withLock { () -> [Conduit<Output, Failure>] in
      guard completion == nil else { return [] }
      if holdsLatest { current = value }
      return conduits
    }
    for target in targets { target.offer(value) }
  }

  func send(completion end: Subscribers.Completion<Failure>) {
    let targets = lock.withLock { () -> [Conduit<Output, Failure>] in
      guard completion == nil else { return [] }
      completion = end
      defer { conduits = [] }
      return conduits
    }
    for target in targets { target.finish(end) }
  }

  func send(subscription: any Subscription) {
    lock.withLock { upstreams.append(subscription) }
    subscription.request(.unlimited)
  }

  private func remove(_ conduit: Conduit<Output, Failure>) {
    lock.withLock { conduits.removeAll { $0 === conduit } }
  }
}
