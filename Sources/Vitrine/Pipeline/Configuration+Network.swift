public import VitrineHTTP
import VitrineRuntime

/// What of a configuration is about the network.
struct NetworkParts: Sendable {
  var loader: (any DataLoader)?
  var retry = RetryPolicy.exponential(maxAttempts: 3)
  var willSend: (@Sendable (inout HTTPRequest) async throws -> Void)?
  var challenge: (@Sendable (HTTPChallenge) async throws -> HTTPFields?)?
  var remembersFailures = true
  var addressGuard: AddressGuard?
  var access: (@Sendable () -> NetworkAccess)?
}

extension ImagePipeline.Configuration {
  /// What fetches addresses; unless told one of the program's that all pipelines share, so that they share connections.
  ///
  /// One that is set brings its own limits and its own `AddressGuard`; see ``addressGuard``.
  public var loader: any DataLoader {
    get { network.loader ?? PlatformDefaults.loader }
    set { network.loader = newValue }
  }

  /// Whether a load that has failed is tried again, and after which wait; `.exponential(maxAttempts: 3)` by default.
  ///
  /// That is three attempts at most, with waits of at most half a second and a second between them, or as long as the server
  /// asks for (`Retry-After`), and no attempt begins more than two minutes after the first. Tried again is what may well be
  /// over a little later: time-outs, broken connections, the statuses 408, 429, 500, 502, 503 and 504. Only when all
  /// attempts have failed is the next one of several sources asked.
  public var retry: RetryPolicy {
    get { network.retry }
    set { network.retry = newValue }
  }

  /// Changes each request shortly before it is sent, to sign it or to refresh a token; `nil`, the default, for nothing.
  ///
  /// ```swift
  /// $0.willSend = { request in
  ///   request.headers["Authorization"] = try await "Bearer \(tokens.current())"
  /// }
  /// ```
  /// It runs once for each attempt, when that is about to have its turn; no connection is held meanwhile. What it adds
  /// is not part of what tells answers apart in the caches: where users see different images at one address, set
  /// ``ImageRequest/scope``. If it throws, nothing is sent and the load fails with ``LoadError/Code/fetchFailed``. When nobody
  /// waits any more the task in which it runs is cancelled, and nothing is sent.
  public var willSend: (@Sendable (inout HTTPRequest) async throws -> Void)? {
    get { network.willSend }
    set { network.willSend = newValue }
  }

  /// Answers a response of status 401 with header fields to send the request with again, `nil` to take it as it is; by
  /// default nobody does.
  ///
  /// Asked at most twice a load; see `LoadHooks.challenge`.
  public var challenge: (@Sendable (HTTPChallenge) async throws -> HTTPFields?)? {
    get { network.challenge }
    set { network.challenge = newValue }
  }

  /// Whether what has failed is not asked for again for a while; `true` by default.
  ///
  /// A dead address on every cell of a list is then asked for once: after a 404 for 5 minutes, after a 410 for an hour,
  /// after other statuses from 400 to 499 for a minute, after what failed on the way or in the server for 10 seconds,
  /// twice as long after each further failure and up to 5 minutes; a `Retry-After` replaces that, within an hour. Meanwhile
  /// loads fail at once with the same error, whose ``LoadError/detail`` says so, or are answered with what is stored, as
  /// far as it may stand in for an error.
  ///
  /// A request of policy `.reload` always asks: it is what a user's tap on "try again" should make. Removing an address from
  /// ``ImagePipeline/cache`` forgets its failure, too; ``ImagePipeline/forgetFailures()`` forgets all. The last 1,000
  /// failures are kept, in memory only.
  public var remembersFailures: Bool {
    get { network.remembersFailures }
    set { network.remembersFailures = newValue }
  }

  /// Keeps the pipeline out of private networks: for servers that load what strangers name; `nil`, the default, for no guard.
  ///
  /// The pipeline then has a loader of its own, which checks every URL, redirects included, and every address that a name
  /// leads to. What is refused fails with ``LoadError/Code/forbidden``. If ``loader`` is set as well, that one must obey the
  /// guard (`DataLoader.obeys(_:)`: a `CurlLoader` does that was made with the same one); with any other, everything that would have
  /// to be loaded fails with ``LoadError/Code/forbidden``, since nobody would check what names mean.
  ///
  /// What is stored already is served without being asked about. Files are another matter; see ``allowsFileAddresses``.
  public var addressGuard: AddressGuard? {
    get { network.addressGuard }
    set { network.addressGuard = newValue }
  }

  /// Says what the network is good for at this moment; `.full` at all times by default.
  ///
  /// Asked before each load, on a queue for hooks. What is stored and fresh is served without asking.
  /// ```swift
  /// $0.networkAccess = { monitor.isOnline ? .full : .offline("no network") }
  /// ```
  public var networkAccess: @Sendable () -> NetworkAccess {
    get { network.access ?? { .full } }
    set { network.access = newValue }
  }
}

/// What the network is good for.
public enum NetworkAccess: Sendable, Hashable {
  /// For anything.
  case full
  /// For requests that allow it (``ImageRequest/allowsMetered``), since it costs; the text says why, for errors.
  ///
  /// To the others it is as if there was none.
  case metered(_ reason: String)
  /// For nothing; the text says why, for errors.
  ///
  /// No request is sent. What is stored is served however old it is, unless its server wants to be asked every time
  /// (`no-cache`, `must-revalidate`), and is stale then; the rest fails at once with ``LoadError/Code/offline``.
  case offline(_ reason: String)
}

extension ImagePipeline {
  /// Forgets what has failed lately, so that it is asked for again: for when the network has come back.
  ///
  /// See ``Configuration/remembersFailures``. Does not block.
  public func forgetFailures() { context.network.failures?.removeAll() }
}
