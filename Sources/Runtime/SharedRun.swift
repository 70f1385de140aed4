/// The work of one key, and its subscribers.
// @unchecked: the lock of its `SharedWork` guards it; every method is called under it.
@usableFromInline
final class SharedRun<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: @unchecked Sendable {
  @usableFromInline
  typealias Event = SharedWork<Key, Value, Failure>.Event
  @usableFromInline
  typealias Subscription = SharedWorkSubscription<Key, Value, Failure>

  @usableFromInline
  struct News {
    @usableFromInline
    let event: Event
    /// The sole recipient, or `nil` for all subscribers whose number is at most ``last``.
    @usableFromInline
    let only: Subscription?
    @usableFromInline
    let last: Int
    @usableFromInline
    var hasBegun = false

    @inlinable
    init(_ event: Event, only: Subscription? = nil, last: Int = 0) {
      (self.event, self.only, self.last) = (event, only, last)
    }
  }

  /// A step of the delivery.
  @usableFromInline
  enum Delivery {
    case call(Subscription, Event)
    /// An event that all recipients have received, to be released.
    case drop(Event)
  }

  /// The objects of a run, which are released with no lock held once it has ended.
  @usableFromInline
  struct Remains {
    @usableFromInline
    var task: Task<Void, Never>?
    @usableFromInline
    var dependency: (any WorkDependency)?
    @usableFromInline
    var object: (any AnyObject & Sendable)?
    /// The events without a receiver.
    @usableFromInline
    var news: [News] = []

    @inlinable
    init() {}

    /// Cancels the work.
    @inlinable
    func cancel() {
      dependency?.setDemand(nil)
      task?.cancel()
    }
  }

  @usableFromInline
  var key: Key
  @usableFromInline
  var first: Subscription?
  @usableFromInline
  var last: Subscription?
  @usableFromInline
  var count = 0
  /// The number of subscribers of each priority.
  @usableFromInline
  var counts = SIMD8<UInt32>()
  @usableFromInline
  var demand = WorkDemand(.veryLow)
  @usableFromInline
  var progress: WorkProgress?
  @usableFromInline
  var remains = Remains()
  /// The number of tasks that have begun, of which the last may be running.
  @usableFromInline
  var taskCount = 0
  /// A Boolean value that indicates whether the work has ended, or was cancelled.
  @usableFromInline
  var hasEnded = false
  /// A Boolean value that indicates whether the work continues without subscribers.
  @usableFromInline
  var isKept = false

  /// The events before the end.
  @usableFromInline
  var news: [News] = []
  /// The end, until all subscribers have received it.
  @usableFromInline
  var outcome: Result<Value, Failure>?
  /// The next subscriber to receive the first event of `news`.
  @usableFromInline
  var cursor: Subscription?
  @usableFromInline
  var isDelivering = false

  @usableFromInline
  var told: WorkDemand?
  @usableFromInline
  var isTelling = false

  @inlinable
  init(_ key: Key) { self.key = key }

  // MARK: Subscribers

  @inlinable
  func append(_ subscription: Subscription) {
    count += 1
    (subscription.isActive, subscription.number) = (true, count)
    counts[subscription.demand.priority.rawValue] += 1
    subscription.previous = last
    last?.next = subscription
    last = subscription
    if first == nil { first = subscription }
    if let object = remains.object { news.append(News(.identified(object), only: subscription)) }
    raise(to: subscription)
    if subscription.demand.interest > .none { addProgress(for: subscription) }
  }

  @inlinable
  func remove(_ subscription: Subscription) {
    if cursor === subscription { cursor = subscription.next }
    subscription.isActive = false
    counts[subscription.demand.priority.rawValue] -= 1
    let (previous, next) = (subscription.previous, subscription.next)
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
    (subscription.previous, subscription.next) = (nil, nil)
    updatePriority()
  }

  /// Removes the callers and returns them.
  @inlinable
  func removeCallers() -> [Subscription] {
    let callers = first.map { Array(sequence(first: $0, next: \.next)).filter(\.isCaller) } ?? []
    for caller in callers { remove(caller) }
    return callers
  }

  @inlinable
  func set(_ new: WorkDemand, of subscription: Subscription) {
    guard subscription.isActive, subscription.demand != new else { return }
    let old = subscription.demand
    counts[old.priority.rawValue] -= 1
    counts[new.priority.rawValue] += 1
    subscription.demand = new
    raise(to: subscription)
    if old.interest == .none, new.interest > .none { addProgress(for: subscription) }
  }

  @inlinable
  func raise(to subscription: Subscription) {
    demand.interest = max(demand.interest, subscription.demand.interest)
    if subscription.demand.storesResult { demand.storesResult = true }
    updatePriority()
  }

  @inlinable
  func updatePriority() {
    demand.priority = Priority.allCases.last { counts[$0.rawValue] > 0 } ?? demand.priority
  }

  @inlinable
  func addProgress(for subscription: Subscription) {
    guard !hasEnded, let progress else { return }
    let event = Event.progress(completed: progress.completed, total: progress.total)
    news.append(News(event, only: subscription))
  }

  // MARK: Telling

  @inlinable
  func nextDemand() -> (any WorkDependency, WorkDemand)? {
    guard !isTelling, let dependency = remains.dependency, told != demand else { return nil }
    (isTelling, told) = (true, demand)
    return (dependency, demand)
  }

  /// Adds an event for the present subscribers; returns `true` if it is of use to any.
  @inlinable
  func note(_ event: Event) -> Bool {
    guard !hasEnded else { return false }
    let interest: WorkDemand.Interest
    switch event {
    case .progress(let completed, let total):
      progress = WorkProgress(completed, of: total)
      interest = .progress
    case .partial: interest = .partials
    case .identified(let object):
      remains.object = object
      interest = .none
    case .finished: interest = .none
    }
    guard demand.interest >= interest else { return false }
    add(event)
    return true
  }

  /// Adds an event for the present subscribers.
  @inlinable
  func add(_ event: Event) { news.append(News(event, last: count)) }

  @inlinable
  func takeRemains(withNews: Bool) -> Remains {
    var left = Remains()
    swap(&left, &remains)
    if withNews { swap(&left.news, &news) }
    return left
  }

  /// Takes the next delivery.
  ///
  /// Returns `nil` if there is none, or if another thread is delivering.
  @inlinable
  func nextDelivery() -> Delivery? {
    guard !isDelivering else { return nil }
    guard let item = news.first else { return nextOfEnd() }
    if !item.hasBegun {
      news[0].hasBegun = true
      cursor = item.only ?? first
    }
    while let subscription = cursor {
      cursor = item.only == nil ? subscription.next : nil
      let isMeant = item.only != nil || subscription.number <= item.last
      guard isMeant, subscription.isActive, subscription.isInterested(in: item.event) else { continue }
      isDelivering = true
      return .call(subscription, item.event)
    }
    news.removeFirst()
    return .drop(item.event)
  }

  @inlinable
  func nextOfEnd() -> Delivery? {
    guard let outcome else { return nil }
    guard let subscription = first else {
      self.outcome = nil
      return .drop(.finished(outcome))
    }
    remove(subscription)
    isDelivering = true
    return .call(subscription, .finished(outcome))
  }
}

extension SharedWorkSubscription {
  @inlinable
  func isInterested(in event: SharedWork<Key, Value, Failure>.Event) -> Bool {
    switch event {
    case .identified, .finished: true
    case .progress: demand.interest >= .progress
    case .partial: demand.interest >= .partials
    }
  }
}
