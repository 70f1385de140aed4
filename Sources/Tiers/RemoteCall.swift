import Synchronization
import VitrineCaching
import VitrineRuntime

/// A call to a remote tier.
///
/// It ends once, possibly after its caller has left.
final class RemoteCall<Value: Sendable>: Sendable {
  /// The answer to the caller.
  enum Reply: Sendable {
    case value(Value)
    case none
    /// The caller no longer waits, and the call continues.
    case later
  }

  private struct State {
    var tasks: [Task<Void, Never>] = []
    var alarms: [ScheduledAction] = []
    var isEnded = false
  }

  let leave: RemoteTier.Leave
  let reply = Deferred<Reply>()
  private let state = Lock(State())

  init(_ leave: RemoteTier.Leave) { self.leave = leave }

  /// Adds a task to cancel at the end.
  func add(_ task: Task<Void, Never>) {
    let isEnded = state.withLock { state in
      if !state.isEnded { state.tasks.append(task) }
      return state.isEnded
    }
    if isEnded { task.cancel() }
  }

  /// Adds an alarm to cancel at the end.
  func add(_ alarm: ScheduledAction) {
    let isEnded = state.withLock { state in
      if !state.isEnded { state.alarms.append(alarm) }
      return state.isEnded
    }
    if isEnded { alarm.cancel() }
  }

  /// Ends the call, and cancels its tasks and alarms.
  ///
  /// - Returns: `false` if it had already ended.
  func end() -> Bool {
    let rest = state.withLock { state -> State? in
      guard !state.isEnded else { return nil }
      defer { state = State(isEnded: true) }
      return state
    }
    guard let rest else { return false }
    for alarm in rest.alarms { alarm.cancel() }
    for task in rest.tasks { task.cancel() }
    return true
  }
}

extension RemoteTier {
  /// A kind of call.
  ///
  /// Each has its own pace.
  enum Kind: Sendable {
    /// Heads and leases.
    case head
    case body
    /// Writes, for which no caller waits.
    case write
  }

  /// The end of a call.
  enum Outcome<Value: Sendable>: Sendable {
    case value(Value)
    case failed(any Error)
    case timedOut
    case cancelled
  }

  /// The permission for a call, from its beginning to its end.
  final class Leave: Sendable {
    let kind: Kind
    let ticket: CircuitBreaker.Ticket
    let began: Duration
    /// The time after which the call is late.
    let patience: Duration
    /// A Boolean value that indicates whether the breaker knows of the call.
    private let isTold = Atomic(false)
    /// A Boolean value that indicates whether the caller has stopped waiting.
    private let isLeft = Atomic(false)

    init(_ kind: Kind, _ ticket: CircuitBreaker.Ticket, _ began: Duration, _ patience: Duration) {
      (self.kind, self.ticket, self.began, self.patience) = (kind, ticket, began, patience)
    }

    /// Marks the call as known to the breaker.
    ///
    /// Returns `true` the first time.
    func tell() -> Bool { !isTold.exchange(true, ordering: .acquiringAndReleasing) }
    /// Marks the call as left by its caller.
    ///
    /// Returns `true` the first time.
    func depart() -> Bool { !isLeft.exchange(true, ordering: .acquiringAndReleasing) }
  }
}
