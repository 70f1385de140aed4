import Synchronization
import VitrineCaching
import VitrineRuntime

/// One call to a remote tier, which ends once, and whose caller may have left before.
final class RemoteCall<Value: Sendable>: Sendable {
  /// The answer to the caller.
  enum Reply: Sendable {
    case value(Value)
    case none
    /// The caller's patience is over, and the call goes on.
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

  /// Adds a task that is of no use after the end.
  func add(_ task: Task<Void, Never>) {
    let isEnded = state.withLock { state in
      if !state.isEnded { state.tasks.append(task) }
      return state.isEnded
    }
    if isEnded { task.cancel() }
  }

  /// Adds an alarm that must not ring after the end.
  func add(_ alarm: ScheduledAction) {
    let isEnded = state.withLock { state in
      if !state.isEnded { state.alarms.append(alarm) }
      return state.isEnded
    }
    if isEnded { alarm.cancel() }
  }

  /// Ends the call, and cancels what goes on.
  ///
  /// - Returns: False if it had ended.
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
  /// A kind of call, of which each has its own pace.
  enum Kind: Sendable {
    /// Heads and leases.
    case head
    case body
    /// Writes, for which nobody waits.
    case write
  }

  /// The end of a call.
  enum Outcome<Value: Sendable>: Sendable {
    case value(Value)
    case failed(any Error)
    case timedOut
    case cancelled
  }

  /// The leave to make a call, from its begin to its end.
  final class Leave: Sendable {
    let kind: Kind
    let ticket: CircuitBreaker.Ticket
    let began: Duration
    /// The time after which the call is late.
    let patience: Duration
    /// True once the breaker knows of the call.
    private let isTold = Atomic(false)
    /// True once nobody waits for the call.
    private let isLeft = Atomic(false)

    init(_ kind: Kind, _ ticket: CircuitBreaker.Ticket, _ began: Duration, _ patience: Duration) {
      (self.kind, self.ticket, self.began, self.patience) = (kind, ticket, began, patience)
    }

    /// Returns true the first time.
    func tell() -> Bool { !isTold.exchange(true, ordering: .acquiringAndReleasing) }
    /// Returns true the first time.
    func depart() -> Bool { !isLeft.exchange(true, ordering: .acquiringAndReleasing) }
  }
}
