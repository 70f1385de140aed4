public import VitrineCaching
public import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

extension ImagePipeline {
  /// What a pipeline is made of; every part can be replaced.
  public struct Configuration: Sendable {
    /// Decoded images; `nil` for none.
    ///
    /// Unless told, a cache of the pipeline's own that holds a fifth of the memory that the process may take up (what the
    /// machine has, or its control group allows), and no more than 768 MB.
    public var memoryCache: MemoryCache<CachedImage>?
    /// What tells that memory is scarce, which has ``memoryCache`` give up half of what it holds, or all that no view shows;
    /// the system unless told, `nil` for nothing.
    public var memoryPressure: (any MemoryPressureSource)? = .system
    /// Encoded bytes of addresses; `nil`, the default, for none.
    public var diskCache: (any DataCaching)?
    /// What decodes; `DecoderRegistry.standard` unless told.
    public var decoders = DecoderRegistry.standard
    /// What tells the time; the machine's clock unless told.
    public var clock: any TimeSource = .system
    /// Whether equal requests share the work; they do unless told.
    public var isCoalescingEnabled = true
    /// How many images are decoded at once; as many as there are cores, unless told.
    public var maxConcurrentDecodes = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// How many encoded bytes may be in decoding at once: 64 MiB.
    ///
    /// An image that is larger is decoded alone.
    public var maxConcurrentDecodeBytes = 64 << 20
    /// How much may wait: so many fetches for the loader to begin them, and as many images to be read from files, decoded or
    /// processed; `nil`, the default, for any number.
    ///
    /// What would be one more fails at once with ``LoadError/Code/overloaded``, whatever its priority; what waits already, and
    /// whoever joins that, is served. Where an address has a stale answer that may stand in for errors, that is served. A fetch
    /// waits for a moment even where connections are free, so a useful limit is several times as many as there are. What is
    /// found fresh in memory, and bytes that are found fresh on disk, need no place. Low on the list of what is done, such as
    /// previews and writing finished images to disk, is left out without an error.
    public var queueLimit: Int?
    /// The bounds for decoding.
    public var decodeLimits = DecodeLimits()
    /// What of images fetched from addresses is kept in ``diskCache``; `.automatic` by default.
    public var storagePolicy = StoragePolicy.automatic
    /// What rewrites requests, chooses decoders and says what is stored; `nil`, the default, for nobody.
    ///
    /// The pipeline keeps it.
    public var delegate: (any PipelineDelegate)?
    /// What stands around the loading of images, the first one outermost; nothing by default.
    public var interceptors: [any ImageInterceptor] = []
    /// Whether an address may be one of a `file:`; it may unless told.
    ///
    /// A server that loads the addresses of strangers says no. ``ImageSource/file(_:)`` is always allowed.
    public var allowsFileURLs = true
    /// Where what is awaited runs, in a test that takes every step itself and in which the queues have no threads; `nil`, the
    /// default, for threads of the pipeline's own and where Swift runs tasks.
    package var stepper: (any TaskExecutor)?

    // MARK: The network

    /// What fetches addresses; unless told one of the program's that all pipelines share, so that they share connections.
    ///
    /// One that is set brings its own limits and its own `AddressGuard`; see ``addressGuard``.
    public var loader: any DataLoader {
      get { ownLoader ?? PlatformDefaults.loader }
      set { ownLoader = newValue }
    }
    /// `nil` where none was set.
    private(set) var ownLoader: (any DataLoader)?
    /// Whether a load that has failed is tried again, and after which wait; `.exponential(maxAttempts: 3)` by default.
    ///
    /// That is three attempts at most, with waits of at most half a second and a second between them, or as long as the server
    /// asks for (`Retry-After`), and no attempt begins more than two minutes after the first. Tried again is what may well be
    /// over a little later: time-outs, broken connections, the statuses 408, 429, 500, 502, 503 and 504. Only when all
    /// attempts have failed is the next one of several sources asked.
    public var retryPolicy = RetryPolicy.exponential(maxAttempts: 3)
    /// The maximum number of bytes of a response.
    ///
    /// Defaults to 100 MB. A response is refused as soon as it announces more, or more have come, with ``LoadError/Code/tooLarge``. A request may
    /// lower the limit (``ImageRequest/maxResponseBytes``). Bounds for pixels are ``decodeLimits``.
    public var maxResponseBytes = 100_000_000
    /// The number of requests that may be sent in a second.
    ///
    /// Defaults to `nil`, for any number.
    /// ```swift
    /// $0.rateLimit = RateLimit(requestsPerSecond: 50, burst: 100)
    /// $0.rateLimitPerHost = RateLimit(requestsPerSecond: 5)
    /// ```
    /// What would be one more waits for its turn, the most urgent first, and counts for ``queueLimit``. Each attempt counts.
    /// Redirects, and what is found in caches, do not. Metrics count the wait as one in a queue.
    public var rateLimit: RateLimit?
    /// The number of requests that may be sent to one host in a second.
    ///
    /// Defaults to `nil`, for any number. It is obeyed beside ``rateLimit``.
    public var rateLimitPerHost: RateLimit?
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
    public var willSend: (@Sendable (inout HTTPRequest) async throws -> Void)?
    /// Answers a response of status 401 with header fields to send the request with again, `nil` to take it as it is; by
    /// default nobody does.
    ///
    /// Asked at most twice a load; see `LoadHooks.challenge`.
    public var challenge: (@Sendable (HTTPChallenge) async throws -> HTTPFields?)?
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
    public var remembersFailures = true
    /// Keeps the pipeline out of private networks: for servers that load what strangers name; `nil`, the default, for no guard.
    ///
    /// The pipeline then has a loader of its own, which checks every URL, redirects included, and every address that a name
    /// leads to. What is refused fails with ``LoadError/Code/forbidden``. If ``loader`` is set as well, that one must obey the
    /// guard (`DataLoader.obeys(_:)`: a `CurlLoader` does that was made with the same one); with any other, everything that would have
    /// to be loaded fails with ``LoadError/Code/forbidden``, since nobody would check what names mean.
    ///
    /// What is stored already is served without being asked about. Files are another matter; see ``allowsFileURLs``.
    public var addressGuard: AddressGuard?
    /// Says what the network is good for at this moment; `.full` at all times by default.
    ///
    /// Asked before each load, on a queue for hooks. What is stored and fresh is served without asking.
    /// ```swift
    /// $0.networkAccess = { monitor.isOnline ? .full : .offline("no network") }
    /// ```
    public var networkAccess: @Sendable () -> NetworkAccess {
      get { access ?? { .full } }
      set { access = newValue }
    }
    /// `nil` where the network is good for everything at all times.
    private(set) var access: (@Sendable () -> NetworkAccess)?

    // MARK: Watching requests

    /// Whether each task records what it goes through, for ``ImageTask/metrics``; `false` by default, which costs nothing.
    public var collectsMetrics = false
    /// Who is told what every request goes through; `nil`, the default, for nobody, which costs nothing.
    public var observer: (any PipelineObserver)?
    /// Where lines for a log go; `nil`, the default, for nowhere, which costs nothing.
    ///
    /// ```swift
    /// $0.log = { entry in
    ///   if entry.level > .debug { print(entry.level, entry) }
    /// }
    /// ```
    /// Called for every level, one line at a time, on a thread of its own: it may block.
    public var log: (@Sendable (LogEntry) -> Void)?
    /// Where the stages of all requests are kept; `nil`, the default, for nowhere.
    package var recorder: TraceRecorder?

    /// Whether an image of a few bytes is decoded where its bytes have come, which costs less than waking a thread for it.
    ///
    /// Not where a test takes the steps, or bounds say how much may wait.
    var decodesTinyImagesInline: Bool { stepper == nil && queueLimit == nil }

    init() {
      memoryCache = MemoryCache(costLimit: PlatformDefaults.memoryCostLimit(of: MemoryLimit.bytes), clock: clock)
    }
  }
}
