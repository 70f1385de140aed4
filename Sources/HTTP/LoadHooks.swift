/// What takes part in a load beside its sink: signs the request, answers a challenge, measures.
///
/// ```swift
/// var hooks = LoadHooks()
/// hooks.willSend = { request in
///   request.headers["Authorization"] = try await "Bearer \(tokens.current())"
/// }
/// let (response, data) = try await loader.data(for: request, hooks: hooks)
/// ```
/// A hook may load with the same loader: no connection is held while it runs.
public struct LoadHooks: Sendable {
  /// Changes the request shortly before it is sent, once a load; nil by default.
  ///
  /// It runs when the load is about to have its turn, so that a signature does not grow old in the queue; of one host only
  /// as many do as loads may run. Redirects and answers to challenges are sent without asking again. If it throws, nothing
  /// is sent and the load fails with ``HTTPError/Code/preparationFailed``. A cancelled load ends at once, and the
  /// task in which the hook runs is cancelled.
  public var willSend: (@Sendable (inout HTTPRequest) async throws -> Void)?

  /// Answers a response of status 401 with header fields to send the request with again, nil to take it as it is.
  ///
  /// Asked at most twice a load. The fields replace those of the same names, and like all that may be secret they do not go
  /// along to another origin. If it throws, the load fails with ``HTTPError/Code/preparationFailed``. Nil by default.
  public var challenge: (@Sendable (HTTPChallenge) async throws -> HTTPFields?)?

  /// Takes the figures of each transfer, of which a load has several if it is redirected; nil by default.
  ///
  /// Called before the sink learns of the end, also for transfers that fail, on a thread that serves no transfer: while it
  /// blocks, the end of its own load waits, and no other.
  public var didTransfer: (@Sendable (LoadMetrics) -> Void)?

  /// Whether ``didTransfer`` is Vitrine's own and known to be short, so that the loader's thread may call it.
  package var measuresInPlace = false

  /// Learns that the load waits because of a ``RateLimit``; called once, if at all, with no lock held.
  package var isHeldBack: (@Sendable () -> Void)?

  /// Creates a set of none.
  public init() {}
}

/// A server's demand to say who asks.
public struct HTTPChallenge: Sendable, Hashable {
  /// The response of status 401; its `WWW-Authenticate` fields say what is wanted, its URL by whom.
  public let response: HTTPResponse
  /// The header fields that were sent and did not suffice.
  public let sent: HTTPFields
  /// How many answers have been tried in this load.
  public let previousAnswers: Int

  /// Creates a challenge; for fakes.
  public init(response: HTTPResponse, sent: HTTPFields, previousAnswers: Int = 0) {
    self.response = response
    self.sent = sent
    self.previousAnswers = previousAnswers
  }
}

/// What one transfer took.
public struct LoadMetrics: Sendable, Hashable {
  /// What was asked for, in this transfer.
  public var url: HTTPURL
  /// The status of the response; nil where there was none.
  public var status: Int?
  /// How long it waited for its turn, hooks included.
  public var queued: Duration = .zero
  /// When the name had been looked up, counted from the start of the transfer; nil where that was not reached.
  public var nameLookup: Duration?
  /// When there was a connection, counted likewise.
  public var connected: Duration?
  /// When the TLS handshake was over, counted likewise; nil without TLS.
  public var secured: Duration?
  /// When the first byte of the response came, counted likewise.
  public var firstByte: Duration?
  /// How long all of it took, its wait in the queue not counted.
  public var total: Duration = .zero
  /// How many bytes came, head and body, before TLS.
  public var bytesReceived = 0
  /// Whether the connection had been there already.
  public var isConnectionReused = false
  /// The version of HTTP, such as `1.1` or `2`; nil where there was no response.
  public var httpVersion: String?
  /// The address of the server, or of the proxy; nil where there was no connection.
  public var remoteAddress: IPAddress?

  /// Creates figures of a transfer that took no time; for fakes.
  public init(url: HTTPURL) {
    self.url = url
  }
}
