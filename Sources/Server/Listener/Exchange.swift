import CLibMicroHTTPD
import VitrineHTTP
import VitrineRuntime

/// One request and its answer.
///
/// It begins with the request line. If the answer is not known at once, the connection is suspended until ``finish(_:)``,
/// which may come from any thread, once; later calls do nothing.
@safe
final class Exchange: @unchecked Sendable {
  // Sendable: `state` has a lock; `stage`, `method`, `client` and `trace` are used by the connection's thread alone, which is one
  // for all of its life, and `id` changes there before any other thread is told of the exchange.

  /// The stage of reading the request.
  enum Stage {
    case line, head, waiting, answered
  }

  private struct State {
    var answer: Answer?
    /// Where it has to be left once the connection is resumed; `nil` if it is not suspended.
    var open: OpenExchanges?
    var hasLeft = false
    var onLeave: (@Sendable () -> Void)?
  }

  /// The number of the request in this process.
  let number: UInt64
  /// The target of the request line as it came: path and query.
  let target: String
  /// The time of the request line.
  let began: Duration
  let connection: ConnectionRecord
  private let handle: OpaquePointer
  private let state = Lock(State())

  var stage = Stage.line
  /// The address at which the target ended; see ``RequestHead``.
  var targetEnd: UInt = 0
  var method = ""
  /// The address of the client: the peer's, or the one that a trusted proxy names.
  var client = ""
  /// The trace that it belongs to; `nil` for none.
  var trace: TraceContext?
  /// The answer that was sent, for the log.
  var sent: Answer?

  init(_ number: UInt64, _ target: String, at time: Duration, _ connection: ConnectionRecord, _ handle: OpaquePointer) {
    (self.number, self.target, began, self.connection) = (number, target, time, connection)
    id = RequestID.text(of: number)
    unsafe self.handle = handle
  }

  /// Takes the id that a client or a proxy has given the request, if it is short and plain.
  func take(id: String?) {
    guard let id, RequestID.isAccepted(id) else { return }
    self.id = id
  }

  /// The id of the request: the client's own, or a unique one.
  private(set) var id: String

  /// Suspends the connection; called on its thread.
  func suspend(within open: OpenExchanges) {
    // libmicrohttpd keeps a suspended connection until it is resumed.
    unsafe MHD_suspend_connection(handle)
    state.withLock { $0.open = open }
  }

  /// The answer, once there is one.
  var answer: Answer? { state.withLock { $0.answer } }

  /// Sets the closure to call if the client leaves before the answer; calls it at once if it has left.
  func onLeave(_ leave: @escaping @Sendable () -> Void) {
    let hasLeft = state.withLock { state in
      if !state.hasLeft, state.answer == nil { state.onLeave = leave }
      return state.hasLeft
    }
    if hasLeft { leave() }
  }

  /// True if the client has closed its side.
  var hasLeft: Bool { state.withLock { $0.hasLeft } }

  /// The client has closed its side.
  func left() {
    let leave = state.withLock { state -> (@Sendable () -> Void)? in
      state.hasLeft = true
      return state.onLeave.take()
    }
    leave?()
  }

  /// Gives the answer, and lets the connection continue.
  func finish(_ answer: Answer) {
    let (open, leave) = state.withLock { state -> (OpenExchanges?, (@Sendable () -> Void)?) in
      guard state.answer == nil else { return (nil, nil) }
      state.answer = answer
      return (state.open.take(), state.onLeave.take())
    }
    withExtendedLifetime(leave) {}
    guard let open else { return }
    // The socket belongs to the connection until it is resumed.
    connection.stopWatching()
    unsafe MHD_resume_connection(handle)
    connection.wakeThread()
    open.leave()
  }
}

/// The ids of requests: a part that is the process's own, and a number.
enum RequestID {
  private static let process = UInt32.random(in: .min ... .max)

  static func text(of number: UInt64) -> String {
    let (high, low) = (String(process, radix: 36), String(number, radix: 36))
    return "\(high)-\(low)"
  }

  /// Returns `true` for a token (RFC 9110, section 5.6.2) of at most 64 characters.
  static func isAccepted(_ id: String) -> Bool {
    (1...64).contains(id.utf8.count) && id.utf8.allSatisfy(\.isTokenCharacter)
  }
}

/// The head of a request; used only within ``RequestAnswering/react(to:_:)``.
@safe
struct ReceivedRequest: ~Copyable {
  let method: String
  /// The target of the request line as it came: path and query.
  let target: String
  /// The address of the peer.
  let peer: String
  private let handle: OpaquePointer

  init(_ method: String, _ target: String, peer: String, _ handle: OpaquePointer) {
    (self.method, self.target, self.peer) = (method, target, peer)
    unsafe self.handle = handle
  }

  /// Returns the value of a field; the first, if there are several.
  subscript(name: String) -> String? {
    // The connection is alive within the callback in which this value exists; the text is its own, and is copied.
    unsafe name.withCString { name in
      unsafe MHD_lookup_connection_value(handle, .HEADER_KIND, name).map { unsafe String(cString: $0) }
    }
  }

  /// Returns the values of all lines of a field, in order.
  func values(of name: String) -> [String] {
    final class Search {
      let name: String
      var values: [String] = []
      init(_ name: String) { self.name = name }
    }
    let search = Search(name.lowercased())
    // Called for each field before the function returns, while `search` lives; the texts are copied.
    unsafe MHD_get_connection_values(
      handle,
      .HEADER_KIND,
      { context, _, key, value in
        guard let context = unsafe context, let key = unsafe key, let value = unsafe value else { return .YES }
        let search = unsafe Unmanaged<Search>.fromOpaque(context).takeUnretainedValue()
        if unsafe String(cString: key).lowercased() == search.name {
          search.values.append(unsafe String(cString: value))
        }
        return .YES
      },
      Unmanaged.passUnretained(search).toOpaque(),
    )
    return search.values
  }
}
