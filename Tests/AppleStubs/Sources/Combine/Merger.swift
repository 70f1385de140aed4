import Foundation

/// Follows publishers, all or the latest, and sends what they send to one subscriber.
///
/// Each publisher is asked for one value at a time, or for all if the
/// subscriber has asked for all. Values go out one at a time and in order.
final class Merger<Inner: Publisher>: Subscription {
  private struct Pending {
    let id: Int
    let value: Inner.Output
  }

  private let lock = NSLock()
  private let limit: Subscribers.Demand
  private let onlyLatest: Bool
  private var downstream: AnySubscriber<Inner.Output, Inner.Failure>?
  private var demand = Subscribers.Demand.none
  private var outer: (any Subscription)?
  private var isOuterEnded = false
  /// The publishers that are followed; nil until the subscription comes.
  private var inners: [Int: (any Subscription)?] = [:]
  private var lastID = 0
  private var pending: [Pending] = []
  private var isSending = false

  init(_ downstream: AnySubscriber<Inner.Output, Inner.Failure>, limit: Subscribers.Demand, onlyLatest: Bool) {
    self.downstream = downstream
    self.limit = limit
    self.onlyLatest = onlyLatest
  }

  func start(_ subscription: any Subscription) {
    let target = lock.withLock { () -> AnySubscriber<Inner.Output, Inner.Failure>? in
      guard outer == nil else { return nil }
      outer = subscription
      return downstream
    }
    guard let target else { return subscription.cancel() }
    target.receive(subscription: self)
    if limit > 0 { subscription.request(limit) }
  }

  func follow(_ publisher: Inner) -> Subscribers.Demand {
    var dropped: [any Subscription] = []
    let id = lock.withLock { () -> Int? in
      guard downstream != nil else { return nil }
      if onlyLatest {
        dropped = inners.values.compactMap { $0 }
        inners = [:]
        pending = []
      }
      lastID += 1
      inners.updateValue(nil, forKey: lastID)
      return lastID
    }
    for inner in dropped { inner.cancel() }
    guard let id else { return .none }
    publisher.subscribe(
      AnySubscriber(
        receiveSubscription: { self.accept($0, id) },
        receiveValue: { self.take($0, id) },
        receiveCompletion: { self.innerEnded($0, id) },
      )
    )
    return .none
  }

  func outerEnded(_ completion: Subscribers.Completion<Inner.Failure>) {
    switch completion {
    case .finished:
      lock.withLock { isOuterEnded = true }
      send()
    case .failure:
      fail(completion)
    }
  }

  private func accept(_ subscription: any Subscription, _ id: Int) {
    let wanted = lock.withLock { () -> Subscribers.Demand? in
      guard inners[id] != nil else { return nil }
      inners[id] = .some(subscription)
      return demand == .unlimited ? .unlimited : .max(1)
    }
    if let wanted { subscription.request(wanted) } else { subscription.cancel() }
  }

  private func take(_ value: Inner.Output, _ id: Int) -> Subscribers.Demand {
    lock.withLock {
      if inners[id] != nil { pending.append(Pending(id: id, value: value)) }
    }
    send()
    return .none
  }

  private func innerEnded(_ completion: Subscribers.Completion<Inner.Failure>, _ id: Int) {
    if case .failure = completion {
      if lock.withLock({ inners[id] != nil }) { fail(completion) }
      return
    }
    let next = lock.withLock { () -> (any Subscription)? in
      guard inners.removeValue(forKey: id) != nil, !isOuterEnded, limit != .unlimited else { return nil }
      return outer
    }
    next?.request(.max(1))
    send()
  }

  private func fail(_ completion: Subscribers.Completion<Inner.Failure>) {
    let taken = end()
    for subscription in taken.1 { subscription.cancel() }
    taken.0?.receive(completion: completion)
  }

  // What is to be done next, decided under the lock.
  private enum Action {
    case deliver(AnySubscriber<Inner.Output, Inner.Failure>, Pending)
    case finish
    case stop
  }

  private func next() -> Action {
    lock.withLock {
      if let downstream {
        if demand > 0, !pending.isEmpty {
          demand -= 1
          return .deliver(downstream, pending.removeFirst())
        }
        if isOuterEnded, inners.isEmpty, pending.isEmpty { return .finish }
      }
      isSending = false
      return .stop
    }
  }

  private func send() {
    let starts = lock.withLock {
      defer { isSending = true }
      return !isSending
    }
    guard starts else { return }
    while true {
      switch next() {
      case .deliver(let target, let item):
        let more = target.receive(item.value)
        let inner = lock.withLock { () -> (any Subscription)? in
          demand += more
          return demand == .unlimited ? nil : inners[item.id] ?? nil
        }
        inner?.request(.max(1))
      case .finish:
        end().0?.receive(completion: .finished)
      case .stop:
        return
      }
    }
  }

  func request(_ more: Subscribers.Demand) {
    let waiting = lock.withLock { () -> [any Subscription] in
      let becomesUnlimited = more == .unlimited && demand != .unlimited
      demand += more
      return becomesUnlimited ? inners.values.compactMap { $0 } : []
    }
    for inner in waiting { inner.request(.unlimited) }
    send()
  }

  func cancel() {
    for subscription in end().1 { subscription.cancel() }
  }

  private func end() -> (AnySubscriber<Inner.Output, Inner.Failure>?, [any Subscription]) {
    lock.withLock {
      defer {
        downstream = nil
        outer = nil
        inners = [:]
        pending = []
      }
      return (downstream, inners.values.compactMap { $0 } + [outer].compactMap { $0 })
    }
  }
}
