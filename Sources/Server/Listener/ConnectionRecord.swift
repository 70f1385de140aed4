import Synchronization
import VitrineRuntime

/// The state of a connection that libmicrohttpd does not keep.
final class ConnectionRecord: Sendable {
  /// The activity of a connection.
  enum Activity: UInt8, AtomicRepresentable {
    /// Nothing has come since it was opened, or since the last answer.
    case idle
    /// The request is being answered; its work has limits of its own.
    case working
    /// The answer is being sent.
    case sending
    /// It has been cut, and is about to be closed.
    case cut
  }

  let socket: CInt
  /// The address of the peer; empty for none.
  let client: String
  /// The thread that reads and writes it.
  private let thread: ListenerThread?
  private let watch: DisconnectWatch
  private let currentActivity = Atomic(Activity.idle)
  /// The uptime in nanoseconds at which the connection is cut.
  private let deadline: Atomic<Int64>
  private let isWatched = Atomic(false)

  init(
    _ socket: CInt,
    client: String = "",
    _ watch: DisconnectWatch,
    of thread: ListenerThread? = nil,
    deadline: Duration,
  ) {
    (self.socket, self.client, self.watch, self.thread) = (socket, client, watch, thread)
    self.deadline = Atomic(deadline.nanoseconds)
  }

  var activity: Activity { currentActivity.load(ordering: .relaxed) }
  /// The time at which the connection is cut, in nanoseconds of uptime.
  var ends: Int64 { deadline.load(ordering: .relaxed) }

  func begin(_ activity: Activity, until deadline: Duration?) {
    currentActivity.store(activity, ordering: .relaxed)
    self.deadline.store(deadline?.nanoseconds ?? .max, ordering: .relaxed)
  }

  /// Calls the exchange's `left()` if the client closes the connection.
  func startWatching(for exchange: Exchange) {
    isWatched.store(true, ordering: .relaxed)
    watch.add(socket, exchange)
  }

  /// The place of its thread among the listener's.
  var threadIndex: Int { thread?.index ?? 0 }

  /// Has its thread look at it, since it has been resumed.
  func wakeThread() { thread?.ring() }

  func stopWatching() {
    guard isWatched.exchange(false, ordering: .relaxed) else { return }
    watch.remove(socket)
  }
}

extension Duration {
  /// The duration in whole nanoseconds.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

/// All connections, and the connections that have to go.
final class ConnectionTable: Sendable {
  private struct State {
    var records: [CInt: ConnectionRecord] = [:]
    /// The sockets of cut connections, which are closed a moment later.
    var cut: Set<CInt> = []
  }

  private let limit: Int
  private let state = Lock(State())

  /// Makes an empty table for so many connections.
  ///
  /// If more come, the ones idle for longest are closed, so that they cannot keep others out.
  init(limit: Int) { self.limit = limit }

  var count: Int { state.withLock { $0.records.count } }

  /// True if an answer is being made or sent.
  var isBusy: Bool {
    state.withLock { $0.records.values.contains { $0.activity == .working || $0.activity == .sending } }
  }

  func add(_ record: ConnectionRecord) {
    state.withLock { state in
      state.records[record.socket] = record
      // Some go at once, so that this look at all of them is rare. Those that have been cut count no more: else each new
      // one would cut as many again, until even those were gone whose request is on its way.
      guard state.records.count - state.cut.count > limit else { return }
      let idle = state.records.values.filter { $0.activity == .idle && $0 !== record }
      let first = idle.sorted { $0.ends < $1.ends }.prefix(max(1, limit / 16))
      for record in first { Self.cut(record, &state) }
    }
  }

  /// Must be called before the socket is closed: a number may be another connection's afterwards.
  func remove(_ record: ConnectionRecord) {
    state.withLock { state in
      guard state.records[record.socket] === record else { return }
      state.records[record.socket] = nil
      state.cut.remove(record.socket)
    }
  }

  /// Cuts the connections whose time is over.
  func cutLate(at uptime: Duration) {
    let now = uptime.nanoseconds
    state.withLock { state in
      for record in state.records.values where record.ends <= now { Self.cut(record, &state) }
    }
  }

  /// Cuts the idle connections, as the server is going to end.
  func cutIdle() {
    state.withLock { state in
      for record in state.records.values where record.activity == .idle { Self.cut(record, &state) }
    }
  }

  private static func cut(_ record: ConnectionRecord, _ state: inout State) {
    state.cut.insert(record.socket)
    // libmicrohttpd sees the end of the stream and closes the socket. Under the table's lock it has not done so yet.
    record.begin(.cut, until: nil)
    shutdown(record.socket, CInt(SHUT_RDWR))
  }
}
