/// The state that handles and threads of a ``WorkQueue`` share: its pending and running items, and its threads.
///
/// The threads retain it instead of the queue, so that releasing a queue can end them.
///
/// Two invariants hold whenever the monitor is unlocked. While items are pending, there is a thread, so none is
/// forgotten. While an item may start, a thread is about to look for it: just started, just signalled, or about to take
/// its next item. A thread that takes an item sends the next thread for the next item, so no change ever has to wake
/// more than one.
final class WorkScheduler: Sendable {
  private struct State {
    var backlog = WorkBacklog()
    var width: Int
    /// A Boolean value that indicates whether the queue was released, so that no more items come.
    var isClosing = false
    var running = 0
    var threads = 0
    /// The number of items whose work does not return, each with a thread that no longer counts.
    var abandoned = 0
    /// The number of threads that are starting and have not looked for work yet.
    var starting = 0
    /// The number of threads that wait for a signal.
    var idle = 0
  }

  /// The sleeping threads that a change concerns, to be woken after unlocking.
  private enum Wake {
    case none, one, all
  }

  let label: String
  let queueLimit: Int?
  private let stackSize: Int
  private let niceness: CInt
  private let idleTime: Duration
  private let abandonLimit: Int?
  private let hasThreads: Bool
  private let monitor: Monitor<State>

  init(
    label: String,
    width: Int,
    queueLimit: Int?,
    stackSize: Int,
    niceness: CInt = 0,
    idleTime: Duration,
    abandonLimit: Int? = nil,
    hasThreads: Bool,
  ) {
    self.label = label
    self.queueLimit = queueLimit
    self.stackSize = stackSize
    self.niceness = niceness
    self.idleTime = idleTime
    self.abandonLimit = abandonLimit
    self.hasThreads = hasThreads
    monitor = Monitor(State(width: max(1, width)))
  }

  // MARK: - For the handles

  var width: Int { monitor.withLock { $0.width } }
  var pendingCount: Int { monitor.withLock { $0.backlog.count } }
  var runningCount: Int { monitor.withLock { $0.running } }
  var threadCount: Int { monitor.withLock { $0.threads } }

  /// Adds a new item to the backlog, unless it was already cancelled.
  func enqueue(_ item: WorkItem) throws(WorkQueueError) {
    let wake = try monitor.withLock { state throws(WorkQueueError) -> Wake in
      guard item.phase == .new else { return .none }
      guard hasRoom(state) else { throw .overloaded }
      if hasThreads, state.threads == 0 {
        guard startWorker(&state) else { throw .threadUnavailable }
      }
      item.phase = .pending
      state.backlog.append(item)
      return dispatch(&state)
    }
    rouse(wake)
  }

  func cancel(_ item: WorkItem) -> Bool {
    // The work is returned out of the lock, because releasing it may run any code.
    let (work, wake) = monitor.withLock { state -> ((@Sendable (WorkItem) -> Void)?, Wake) in
      switch item.phase {
      case .ended:
        return (nil, .none)
      case .running, .abandoned:
        item.markCancelled()
        return (nil, .none)
      case .new, .pending:
        item.markCancelled()
        if item.phase == .pending { state.backlog.remove(item) }
        item.phase = .ended
        defer { item.work = nil }
        // Other items may have waited behind it.
        return (item.work, dispatch(&state))
      }
    }
    rouse(wake)
    return work != nil
  }

  func abandon(_ item: WorkItem) -> Bool {
    let wake = monitor.withLock { state -> Wake? in
      guard item.phase == .running, state.abandoned < abandonLimit ?? state.width else { return nil }
      item.phase = .abandoned
      state.abandoned += 1
      state.running -= 1
      if hasThreads { state.threads -= 1 }
      return dispatch(&state)
    }
    guard let wake else { return false }
    rouse(wake)
    return true
  }

  func priority(of item: WorkItem) -> Priority {
    monitor.withLock { _ in item.level }
  }

  func setPriority(_ priority: Priority, of item: WorkItem) {
    change { state in
      if item.phase == .pending {
        state.backlog.move(item, to: priority)
      } else {
        item.level = priority
      }
    }
  }

  func setWidth(_ width: Int) {
    change { $0.width = max(1, width) }
    // The surplus threads may be asleep, and a thread that ends wakes no other.
    monitor.broadcast()
  }

  func close() {
    change { $0.isClosing = true }
    monitor.broadcast()
    while !hasThreads, runNext() {}
  }

  /// Runs an item on the calling thread, if one may start.
  func runNext() -> Bool {
    let item = monitor.withLock { state -> WorkItem? in
      guard let item = startable(state) else { return nil }
      start(item, &state)
      return item
    }
    guard let item else { return false }
    perform(item)
    return true
  }

  private func change(_ body: (inout State) -> Void) {
    let wake = monitor.withLock { state in
      body(&state)
      return dispatch(&state)
    }
    rouse(wake)
  }

  // MARK: - Rules, with the monitor held

  private func hasRoom(_ state: State) -> Bool {
    guard let queueLimit else { return true }
    return state.backlog.count - max(0, state.width - state.running) < queueLimit
  }

  private func startable(_ state: State) -> WorkItem? {
    state.running < state.width ? state.backlog.first : nil
  }

  /// Sends a thread for the next item, if it may start.
  private func dispatch(_ state: inout State) -> Wake {
    if state.isClosing, state.backlog.count == 0 { return .all }
    guard hasThreads, state.starting == 0, startable(state) != nil else { return .none }
    if state.idle > 0 { return .one }
    // If the system has no more threads, the existing ones run the items one after the other.
    if state.threads < state.width { _ = startWorker(&state) }
    return .none
  }

  private func startWorker(_ state: inout State) -> Bool {
    guard startThread(named: label, stackSize: stackSize, niceness: niceness, { self.work() }) else { return false }
    state.threads += 1
    state.starting += 1
    return true
  }

  private func rouse(_ wake: Wake) {
    switch wake {
    case .none: break
    case .one: monitor.signal()
    case .all: monitor.broadcast()
    }
  }

  // MARK: - For the threads

  private func work() {
    var item = next(isStarting: true)
    while let current = item {
      guard perform(current) else { return }
      item = next(isStarting: false)
    }
  }

  /// Returns `false` if another thread has taken the place of this one.
  @discardableResult
  private func perform(_ item: WorkItem) -> Bool {
    run(item)
    let isNeeded = monitor.withLock { state in
      defer { item.phase = .ended }
      guard item.phase != .abandoned else {
        state.abandoned -= 1
        // The system may have refused the other threads.
        guard hasThreads, state.threads == 0, state.backlog.count > 0 else { return false }
        state.threads += 1
        return true
      }
      state.running -= 1
      return true
    }
    // The completion runs last, so that a caller that learns of the end finds the slot free.
    item.completion?()
    item.completion = nil
    return isNeeded
  }

  private func run(_ item: WorkItem) {
    // The work is released without the lock, because that may run any `deinit`.
    guard let work = monitor.withLock({ _ in item.work.take() }) else { return }
    work(item)
  }

  /// Waits for the thread's next item; returns `nil` to end the thread.
  private func next(isStarting: Bool) -> WorkItem? {
    var isStarting = isStarting
    var isIdle = false
    var leavesAt: Duration?
    let (item, wake) = monitor.wait { state -> MonitorStep<(WorkItem?, Wake)> in
      if isStarting { state.starting -= 1 }
      if isIdle { state.idle -= 1 }
      isStarting = false
      isIdle = false

      if let item = startable(state) {
        start(item, &state)
        return .leave((item, dispatch(&state)))
      }
      let isNeeded = state.backlog.count > 0 && state.threads == 1
      let isSurplus = state.threads > state.width || (state.isClosing && state.backlog.count == 0)
      let now = systemUptime()
      if !isNeeded, isSurplus || now >= leavesAt ?? .seconds(Int64.max) {
        state.threads -= 1
        return .leave((nil, .none))
      }
      isIdle = true
      state.idle += 1
      if isNeeded { return .wait }
      let deadline = leavesAt ?? now + idleTime
      leavesAt = deadline
      return .waitUntil(deadline)
    }
    rouse(wake)
    return item
  }

  private func start(_ item: WorkItem, _ state: inout State) {
    state.backlog.remove(item)
    item.phase = .running
    state.running += 1
  }
}
