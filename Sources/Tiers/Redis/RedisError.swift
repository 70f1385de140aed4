import VitrineCaching
import VitrineRuntime
public import VitrineTiers

/// An error of a Redis server, or of the connection to it.
///
/// It names the server and the stage, and never contains the password.
public struct RedisError: DataCacheFailure, Sendable, Hashable, CustomStringConvertible {
  /// The stage of a request in which an error occurred.
  public struct Stage: Sendable, Hashable, CustomStringConvertible {
    /// The name of the stage.
    public let description: String

    /// The URL was read.
    public static let configure = Stage(description: "configure")
    /// The request waited for a connection.
    public static let wait = Stage(description: "wait")
    /// The connection was opened.
    public static let connect = Stage(description: "connect")
    /// The user and the password were sent, and the database was selected.
    public static let authenticate = Stage(description: "authenticate")
    /// The commands were sent.
    public static let send = Stage(description: "send")
    /// The reply was awaited.
    public static let receive = Stage(description: "receive")
    /// The server replied with an error, or with an unexpected reply.
    public static let reply = Stage(description: "reply")
  }

  /// The stage.
  public let stage: Stage
  /// The server, as its URL without user and password.
  public let server: String
  /// The reason.
  public let detail: String
  /// A Boolean value that indicates whether the server works and has refused this one command, for example because it
  /// is full.
  ///
  /// It is also `true` if too many requests wait for a connection, which does not depend on the server.
  public let isRefusal: Bool
  /// A Boolean value that indicates whether the caller was cancelled.
  let isCancellation: Bool
  /// A Boolean value that indicates whether the server has closed the connection, for example after a long idle time.
  let isClosed: Bool

  /// The server, the stage and the reason.
  public var description: String { "\(server): \(stage): \(detail)" }

  init(
    _ stage: Stage,
    _ server: String,
    _ detail: String,
    isRefusal: Bool = false,
    isCancellation: Bool = false,
    isClosed: Bool = false,
  ) {
    (self.stage, self.server, self.isRefusal) = (stage, server, isRefusal)
    (self.isCancellation, self.isClosed) = (isCancellation, isClosed)
    // A server's text is printed without control characters, and truncated.
    self.detail = String(
      String.UnicodeScalarView(
        detail.unicodeScalars.prefix(300).map { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? " " : $0 }
      )
    )
  }

  init(_ stage: Stage, _ server: RedisServer, _ detail: String, isRefusal: Bool = false, isClosed: Bool = false) {
    // A server may repeat text that it has received.
    var detail = detail
    if let password = server.password, !password.isEmpty {
      detail = detail.split(separator: password, omittingEmptySubsequences: false).joined(separator: "(hidden)")
    }
    self.init(stage, server.description, detail, isRefusal: isRefusal, isClosed: isClosed)
  }

  /// Creates the error of an error reply.
  init(reply text: String, _ server: RedisServer, _ stage: Stage = .reply) {
    let refusals = ["OOM", "NOPERM", "READONLY", "MISCONF", "WRONGTYPE", "EXECABORT"]
    self.init(stage, server, text, isRefusal: refusals.contains { text.hasPrefix($0) })
  }
}
