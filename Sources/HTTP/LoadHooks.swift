import VitrineRuntime

/// The hooks of a load: sign the request, answer a challenge, measure transfers.
///
/// ```swift
/// var hooks = LoadHooks()
/// hooks.willSend = { request in
///   request.headers["Authorization"] = try await "Bearer \(tokens.current())"
/// }
/// let (response, data) = try await loader.data(for: request, hooks: hooks)
/// ```
/// A hook may use the same loader, since no connection is held while it runs.
public struct LoadHooks: Sendable {
  /// A hook that changes the request just before it is sent, once for each load.
  ///
  /// Defaults to `nil`. It runs when the load is about to leave the queue, so that a signature does not age there. A
  /// host's limit for loads also limits its running hooks. Redirects and answered challenges do not call it again. If
  /// it throws, the request is not sent and the load fails with ``HTTPError/Code/preparationFailed``. A cancelled load
  /// ends at once and cancels the task of the hook.
  public var willSend: (@Sendable (inout HTTPRequest) async throws -> Void)?

  /// A hook that answers a response of status 401 with header fields for another attempt.
  ///
  /// Defaults to `nil`. It returns `nil` to accept the response as it is. It is called at most twice for each load. The
  /// fields replace existing ones of the same names, and like other possible secrets they are not sent to another
  /// origin. If it throws, the load fails with ``HTTPError/Code/preparationFailed``.
  public var challenge: (@Sendable (HTTPChallenge) async throws -> HTTPFields?)?

  /// A hook that receives the metrics of each transfer, of which a redirected load has several.
  ///
  /// Defaults to `nil`. It is called before the sink's end, also for failed transfers. It is Vitrine's own and short,
  /// since the loader's thread calls it.
  package var didTransfer: (@Sendable (LoadMetrics) -> Void)?

  /// The closure that is called when the load has to wait for a ``RateLimit``, at most once a wait and with no lock
  /// held.
  package var onRateLimited: (@Sendable () -> Void)?

  /// The closure that returns the reason why a redirect to a URL is not followed, or `nil` if it is.
  ///
  /// It is Vitrine's own and short, since the loader's thread calls it.
  package var redirectObjection: (@Sendable (HTTPURL) -> String?)?

  /// Creates a set without hooks.
  public init() {}
}

/// A server's demand for authentication.
public struct HTTPChallenge: Sendable, Hashable {
  /// The response of status 401, whose `WWW-Authenticate` fields describe the demand.
  public let response: HTTPResponse
  /// The header fields of the rejected request.
  public let sent: HTTPFields
  /// The number of answers already tried in this load.
  public let previousAnswers: Int

  /// Creates a challenge, for fakes.
  package init(response: HTTPResponse, sent: HTTPFields, previousAnswers: Int = 0) {
    self.response = response
    self.sent = sent
    self.previousAnswers = previousAnswers
  }
}

/// The metrics of a transfer.
package struct LoadMetrics: Sendable, Hashable {
  /// The URL of this transfer.
  package var url: HTTPURL
  /// The status of the response, or `nil` if there was none.
  package var status: Int?
  /// The time in the queue, including hooks.
  package var queued: Duration = .zero
  /// The time from the start of the transfer to the end of the name look-up, or `nil` if it was not resolved.
  package var nameLookup: Duration?
  /// The time from the start to the connection.
  package var connected: Duration?
  /// The time from the start to the end of the TLS handshake, or `nil` without TLS.
  package var secured: Duration?
  /// The time from the start to the first byte of the response.
  package var firstByte: Duration?
  /// The total time, without the queue.
  package var total: Duration = .zero
  /// The number of bytes received, head and body, without the overhead of TLS.
  package var bytesReceived = 0
  /// A Boolean value that indicates whether an existing connection was used.
  package var isConnectionReused = false
  /// The version of HTTP, such as `1.1` or `2`, or `nil` if there was no response.
  package var httpVersion: String?
  /// The address of the server or proxy, or `nil` if there was no connection.
  package var remoteAddress: IPAddress?

  /// Creates the metrics of a transfer that took no time, for fakes.
  package init(url: HTTPURL) {
    self.url = url
  }
}
