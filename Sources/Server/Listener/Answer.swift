import VitrineRuntime

/// The bytes of a body at an address that never changes, so that libmicrohttpd sends them without a copy.
@safe
final class Body: @unchecked Sendable {
  // Sendable, because the bytes are written only by the initialiser.
  private let start: UnsafeMutableRawPointer
  let count: Int
  private let whenReleased: (@Sendable () -> Void)?

  /// Copies the bytes.
  init(_ data: Data, whenReleased: (@Sendable () -> Void)? = nil) {
    (count, self.whenReleased) = (data.count, whenReleased)
    // At least one byte, so that there is an address.
    unsafe start = .allocate(byteCount: max(1, count), alignment: 16)
    // Both have `count` bytes.
    unsafe data.withUnsafeBytes { bytes in
      if let from = bytes.baseAddress { unsafe start.copyMemory(from: from, byteCount: count) }
    }
  }

  convenience init(_ text: String) { self.init(Data(text.utf8)) }

  deinit {
    unsafe start.deallocate()
    whenReleased?()
  }

  /// The address; valid as long as the object.
  var pointer: UnsafeMutableRawPointer { unsafe start }

  /// A copy of the bytes.
  var data: Data { unsafe Data(bytes: start, count: count) }
}

/// An answer to a request: status, fields and body.
struct Answer: Sendable {
  var status: Int
  /// The fields, beside `Content-Length`, `Date`, `Connection` and `X-Request-ID`, which the listener adds.
  var fields: [(name: String, value: String)] = []
  var body: Body?
  /// Where it came from, for the log: `memory`, `disk`, `revalidated`, `network`; `nil` if it is no image.
  var tier: String?
  /// The reason of an error, for the log only.
  var reason: String?
  /// The kind of an error, for the log and a metric; `nil` for none.
  var errorCode: String?
  /// The work that made it, for the trace of the request; `nil` for none.
  var times: StageTimes?
  /// True if the connection is not used again.
  var closes = false

  /// Makes an answer of plain text.
  static func text(_ status: Int, _ text: String, fields: [(name: String, value: String)] = []) -> Answer {
    Answer(status: status, fields: [("Content-Type", "text/plain; charset=utf-8")] + fields, body: Body(text + "\n"))
  }
}

/// The reaction to a request.
enum Reaction: Sendable {
  /// The answer is known at once.
  case answer(Answer)
  /// The answer comes later, by ``Exchange/finish(_:)``; the closure begins the work.
  case wait(@Sendable () -> Void)
}

/// Answers requests.
///
/// Called on the listener's threads, which serve all connections: it must not block.
protocol RequestAnswering: Sendable {
  func react(to request: borrowing ReceivedRequest, _ exchange: Exchange) -> Reaction
  /// The exchange is over: its answer was sent, or the client has gone.
  func ended(_ exchange: Exchange, _ outcome: ExchangeOutcome)
}

/// The outcome of an exchange.
struct ExchangeOutcome: Sendable {
  let answer: Answer
  let method: String
  let client: String
  /// The time from the request line to the end of sending.
  let duration: Duration
  /// False if the client left before it had everything.
  let isComplete: Bool
}
