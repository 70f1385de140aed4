/// The work of one key, and its subscribers.
// @unchecked: the lock of its `SharedWork` guards it; every method is called under it.
final class SharedRun<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: @unchecked Sendable {
  typealias Event = SharedWork<Key, Value, Failure>.Event
  typealias Subscription = SharedWorkSubscription<Key, Value, Failure>

  struct News {
    let event: Event
    /// The sole recipient, or `nil` for all subscribers whose number is at most ``last``.
    var only: Subscription?
    var last = 0
    var hasBegun = false
  }

  /// A step of the delivery.
  enum Delivery {
    case call(Subscription, Event)
    /// An event that all recipients have received, to be released.
    case drop(Event)
  }

  /// The objects of an ended run, to be released with no lock held.
  struct Remains {
    let task: Task<Void, Never>?
    let follower: (@Sendable (WorkDemand) -> Void)?
    let progressReader: (@Sendable () -> WorkProgress?)?
    let object: (any AnyObject & Sendable)?
    let news: [News]
  }

  var key: Key
  private(set) var first: Subscription?
  private var last: Subscription?
  private var count = 0
  /// The number of subscribers of each priority.
  private var counts = SIMD8<UInt32>()
  private(set) var demand = WorkDemand(.veryLow)
  private var progress: WorkProgress?
  private var object: (any AnyObject & Sendable)?
  /// A Boolean value that indicates whether the work has ended, or was cancelled.
  var hasEnded = false
  /// A Boolean value that indicates whether the work continues without subscribers.
  var isKept = false
  var task: Task<Void, Never>?

  private var news: [News] = []
  /// The next subscriber to receive the first event of `news`.
  private var cursor: Subscription?
  var isDelivering = false

  var follower: (@Sendable (WorkDemand) -> Void)?
  var told: WorkDemand?
  var isTelling = false
  var progressReader: (@Sendable () -> WorkProgress?)?

  init(_ key: Key) { self.key = key }

  // MARK: Subscribers

  func append(_ subscription: Subscription) {
    count += 1
    (subscription.isActive, subscription.number) = (true, count)
    counts[subscription.demand.priority.rawValue] += 1
    subscription.previous = last
    last?.next = subscription
    last = subscription
    if first == nil { first = subscription }
    if let object { news.append(News(event: .identified(object), only: subscription)) }
    raise(to: subscription)
    if subscription.demand.interest > .none { addProgress(for: subscription) }
  }

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
  func removeCallers() -> [Subscription] {
    let callers = first.map { Array(sequence(first: $0, next: \.next)).filter(\.isCaller) } ?? []
    for caller in callers { remove(caller) }
    return callers
  }

  func set(_ new: WorkDemand, of subscription: Subscription) {
    guard subscription.isActive, subscription.demand != new else { return }
    let old = subscription.demand
    counts[old.priority.rawValue] -= 1
    counts[new.priority.rawValue] += 1
    subscription.demand = new
    raise(to: subscription)
    if old.interest == .none, new.interest > .none { addProgress(for: subscription) }
  }

  private func raise(to subscription: Subscription) {
    demand.interest = max(demand.interest, subscription.demand.interest)
    if subscription.demand.storesResult { demand.storesResult = true }
    updatePriority()
  }

  private func updatePriority() {
    demand.priority = Priority.allCases.last { counts[$0.rawValue] > 0 } ?? demand.priority
  }

  private func addProgress(for subscription: Subscription) {
    guard !hasEnded, let progress else { return }
    let event = Event.progress(completed: progress.completed, total: progress.total)
    news.append(News(event: event, only: subscription))
  }

  // MARK: Telling

  func nextDemand() -> ((@Sendable (WorkDemand) -> Void), WorkDemand)? {
    guard !isTelling, let follower, told != demand else { return nil }
    (isTelling, told) = (true, demand)
    return (follower, demand)
  }

  /// Adds an event for the present subscribers; returns `true` if it is of use to any.
  func note(_ event: Event) -> Bool {
    guard !hasEnded else { return false }
    let interest: WorkDemand.Interest
    switch event {
    case .progress(let completed, let total):
      progress = WorkProgress(completed, of: total)
      interest = .progress
    case .partial: interest = .partials
    case .identified(let object):
      self.object = object
      interest = .none
    case .finished: interest = .none
    }
    guard demand.interest >= interest else { return false }
    add(event)
    return true
  }

  /// Adds an event for the present subscribers.
  func add(_ event: Event) { news.append(News(event: event, last: count)) }

  func takeRemains(withNews: Bool) -> Remains {
    defer {
      (task, follower, progressReader, object) = (nil, nil, nil, nil)
      if withNews { news = [] }
    }
    return Remains(
      task: task,
      follower: follower,
      progressReader: progressReader,
      object: object,
      news: withNews ? news : [],
    )
  }

  /// Takes the next delivery.
  ///
  /// Returns `nil` if there is none, or if another thread is delivering.
  func nextDelivery() -> Delivery? {
    guard !isDelivering, let item = news.first else { return nil }
    if !item.hasBegun {
      news[0].hasBegun = true
      cursor = item.only ?? first
    }
    while let subscription = cursor {
      cursor = item.only == nil ? subscription.next : nil
      if case .finished = item.event {
        remove(subscription)
      } else {
        let isMeant = item.only != nil || subscription.number <= item.last
        guard isMeant, subscription.isActive, subscription.isInterested(in: item.event) else { continue }
      }
      isDelivering = true
      return .call(subscription, item.event)
    }
    news.removeFirst()
    return .drop(item.event)
  }
}

extension SharedWorkSubscription {
  func isInterested(in event: SharedWork<Key, Value, Failure>.Event) -> Bool {
    switch event {
    case .identified, .finished: true
    case .progress: demand.interest >= .progress
    case .partial: demand.interest >= .partials
    }
  }
}
