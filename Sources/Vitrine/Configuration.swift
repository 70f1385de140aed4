public import VitrineCaching
public import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

/// The parts and settings of a pipeline; `ImagePipeline.Configuration` is its short name.
public struct PipelineConfiguration: Sendable {
  /// The cache of decoded images; `nil` for none.
  ///
  /// Defaults to a cache of the pipeline's own, which holds a fifth of the memory that the process may use (the
  /// machine's or its control group's), at most 768 MB.
  public var memoryCache: MemoryCache<CachedImage>?
  /// The source of memory warnings, on which ``memoryCache`` frees half of its contents, or all images that no view
  /// shows.
  ///
  /// `nil` ignores them. Defaults to the system.
  public var memoryPressure: (any MemoryPressureSource)? = .system
  /// The cache of encoded bytes of URLs; `nil` for none.
  ///
  /// Defaults to a disk cache that all pipelines of the program share: 300 MB (or a tenth of the free space, if that
  /// is less) in `$XDG_CACHE_HOME/<program>/vitrine`, on Apple platforms in Caches. It is opened with the first
  /// pipeline that uses it. If the folder cannot be created, it is `nil`.
  public var diskCache: (any DataCaching)? {
    get { isDiskCacheSet ? ownDiskCache : PlatformDefaults.diskCache }
    set { (isDiskCacheSet, ownDiskCache) = (true, newValue) }
  }
  private var isDiskCacheSet = false
  private var ownDiskCache: (any DataCaching)?
  /// The coordinator that shares work with pipelines on other machines; defaults to `nil`, none.
  package var coordinating: (any WorkCoordinating)?
  /// The decoders; defaults to `DecoderRegistry.standard`.
  public var decoders = DecoderRegistry.standard
  /// The encoders; defaults to `EncoderRegistry.standard`.
  public var encoders = EncoderRegistry.standard
  /// The clock for freshness and for the waits between attempts; defaults to the system clock.
  ///
  /// A disk cache with a lifetime has a clock of its own.
  public var clock: any TimeSource = .system
  /// A Boolean value that indicates whether equal requests share work; defaults to `true`.
  public var isCoalescingEnabled = true
  /// The maximum number of concurrent decodes; defaults to the number of cores.
  ///
  /// A lone image is decoded on as many threads, if cores are idle and its codec has threads.
  ///
  /// A server that decodes untrusted files may need a few more, since a hostile file occupies its thread until the
  /// time limit. On Linux, these threads have a lower priority than the program's other threads.
  public var maxConcurrentDecodes = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  /// The maximum number of bytes that concurrent decodes hold together.
  ///
  /// Defaults to a quarter of the memory that the process may use (the machine's, its control group's, or its own
  /// limit). Each decode counts with all of its memory, as in `DecodeLimits.memoryByteCount`, and waits until it
  /// fits. An image beyond the whole budget is decoded alone. Encoding counts, too, with an estimate for each pixel.
  public var maxConcurrentDecodeBytes = MemoryLimit.bytes / 4
  /// The maximum number of bytes of an image to encode; defaults to no limit.
  package var maxEncodeBytes = Int.max
  /// The maximum number of queued fetches, and of queued file reads, decodes and processing steps.
  ///
  /// A request beyond the limit fails at once with ``LoadError/Code/overloaded``, whatever its priority. Queued
  /// requests, and requests that share their work, do not. If the cache has a stale image that may be served in place
  /// of errors, it is served. Fetches are queued for a moment even if connections are free, so a useful limit is
  /// several times the number of connections. Fresh images in memory and fresh bytes on disk need no place.
  /// Dispensable work, such as previews and storing finished images, is left out without an error. Defaults to `nil`,
  /// no limit.
  public var queueLimit: Int?
  /// The limits for decoding; defaults to `DecodeLimits()`.
  public var decodeLimits = DecodeLimits()
  /// The forms of fetched images that are stored in ``diskCache``; defaults to `.automatic`.
  public var storagePolicy = StoragePolicy.automatic
  /// The delegate, which rewrites requests, chooses decoders and filters stored data.
  ///
  /// The pipeline retains it. Defaults to `nil`.
  public var delegate: (any PipelineDelegate)?
  /// The interceptors that wrap the loading of images, the outermost first; defaults to none.
  public var interceptors: [any ImageInterceptor] = []
  /// A Boolean value that indicates whether `file:` URLs are loaded.
  ///
  /// Set it to `false` for untrusted URLs. ``ImageSource/file(_:)`` is always allowed. Defaults to `true` without an
  /// ``addressGuard``, and to `false` with one.
  public var allowsFileURLs: Bool {
    get { setAllowsFileURLs ?? (addressGuard == nil) }
    set { setAllowsFileURLs = newValue }
  }
  private var setAllowsFileURLs: Bool?
  /// The executor of tasks, in tests that run every step themselves; `nil` for Swift's own executor and queues with
  /// threads.
  package var stepper: (any TaskExecutor)?

  // MARK: The network

  /// The rules for stale responses, and for responses without freshness information.
  ///
  /// ```swift
  /// $0.freshness.defaultLifetime = .zero              // revalidate whatever has no lifetime
  /// $0.freshness.staleIfServerError = .seconds(3600)  // also if a server answers with 503
  /// ```
  /// As in browsers, a response is fresh as long as its headers say, or else for a tenth of its age. Unlike in
  /// browsers, a response without any date is fresh for 4 hours by default. For a day after its expiry, a response is
  /// served, marked stale, while the server cannot be reached. Defaults to `Freshness()`.
  public var freshness = Freshness()
  /// The loader of URLs.
  ///
  /// A loader that is set has its own limits and its own `AddressGuard`; see ``addressGuard``. Defaults to a loader
  /// that all pipelines share, so that they share connections.
  public var loader: any DataLoader {
    get { ownLoader ?? PlatformDefaults.loader }
    set { ownLoader = newValue }
  }
  /// The loader that was set; `nil` for the default.
  private(set) var ownLoader: (any DataLoader)?
  /// The maximum number of concurrent connections to one host; at least 1.
  ///
  /// If it is set, the pipeline has a loader of its own instead of the shared one. A ``loader`` that is set has its own
  /// limit. Defaults to `nil`, for the shared loader, which has 6.
  public var connectionLimitPerHost: Int?
  /// The policy that decides whether and when a failed load is retried.
  ///
  /// The default makes up to three attempts, with waits of up to half a second and one second between them, or as
  /// long as the server asks for (`Retry-After`). No attempt begins more than two minutes after the first. It retries
  /// failures that may be temporary: time-outs, broken connections, and statuses 408, 429, 500, 502, 503 and 504. The
  /// next of several sources is tried after the last attempt. Defaults to `.exponential(maxAttempts: 3)`.
  public var retryPolicy = RetryPolicy.exponential(maxAttempts: 3)
  /// The maximum number of bytes of a response.
  ///
  /// Defaults to 100 MB. A response is refused with ``LoadError/Code/tooLarge`` as soon as its `Content-Length`, or
  /// the bytes so far, exceed it. A request may lower it (``ImageRequest/maxResponseBytes``). For pixels see
  /// ``decodeLimits``.
  public var maxResponseBytes = 100_000_000
  /// The maximum rate of requests to all hosts together.
  ///
  /// Defaults to `nil`, for no limit.
  /// ```swift
  /// $0.rateLimit = RateLimit(requestsPerSecond: 50, burst: 100)
  /// $0.rateLimitPerHost = RateLimit(requestsPerSecond: 5)
  /// ```
  /// Requests over the limit wait, the most urgent first, and count towards ``queueLimit``. Metrics show the wait as
  /// time in a queue. Each retry counts as a request. Redirects and cache hits do not.
  public var rateLimit: RateLimit?
  /// The maximum rate of requests to one host.
  ///
  /// Defaults to `nil`, for no limit. It holds in addition to ``rateLimit``.
  public var rateLimitPerHost: RateLimit?
  /// The closure that changes each request shortly before it is sent, to sign it or to refresh a token.
  ///
  /// ```swift
  /// $0.willSend = { request in
  ///   request.headers["Authorization"] = try await "Bearer \(tokens.current())"
  /// }
  /// ```
  /// It runs once for each attempt, just before the attempt's turn, without holding a connection. Its changes do not
  /// affect cache keys: if users see different images at one URL, set ``ImageRequest/cachePartition``. If it throws,
  /// nothing is sent and the load fails with ``LoadError/Code/fetchFailed``. When the last caller leaves, the task in
  /// which it runs is cancelled, and nothing is sent. Defaults to `nil`.
  public var willSend: (@Sendable (inout HTTPRequest) async throws -> Void)?
  /// The closure that answers a response of status 401 with header fields to resend it with, or `nil` to accept it.
  ///
  /// It is called at most twice for each attempt; see `LoadHooks.challenge`. Defaults to `nil`.
  public var challenge: (@Sendable (HTTPChallenge) async throws -> HTTPFields?)?
  /// A Boolean value that indicates whether failed sources are not loaded again for a while, even without freshness
  /// information.
  ///
  /// An error response with a freshness of its own (`Cache-Control`, `Expires`, or `Last-Modified` with a status such
  /// as 404) is reused while it is fresh in any case (RFC 9111): loads fail at once with the same error, whose
  /// ``LoadError/detail`` has its age. A response with `no-store` or `no-cache` is never reused.
  ///
  /// If this is `true`, a dead URL in every cell of a list is requested only once even if its server sends no
  /// freshness information. A failure is then remembered for 5 minutes after a 404, for an hour after a 410, for a
  /// minute after other statuses from 400 to 499, and for 10 seconds after failed transfers and failing servers,
  /// doubled with each further failure up to 5 minutes. A `Retry-After` replaces these times, up to an hour.
  /// Meanwhile loads fail at once with the same error, whose ``LoadError/detail`` says so, or are served a stale
  /// image, if one is allowed in place of the error.
  ///
  /// In both cases a request that ``willSend`` changes in another way is sent, so that a new token is tried at once.
  /// A request of policy `.reload` is always sent; use it when a user taps "try again". Removing a URL from
  /// ``ImagePipeline/cache`` forgets its failure, ``ImagePipeline/forgetFailures()`` forgets all. The last 1,000
  /// failures are kept, in memory only. Defaults to `false`.
  public var remembersFailures = false
  /// The guard that keeps the pipeline out of private networks, for servers that load untrusted URLs.
  ///
  /// The pipeline then uses a loader of its own, which checks every URL, including redirects, and every IP address to
  /// which a name resolves. Refused loads fail with ``LoadError/Code/forbidden``. A ``loader`` that is set as well
  /// must obey the guard (`DataLoader.obeys(_:)`), as a `CurlLoader` made with the same guard does; with any other
  /// loader, every load that the caches cannot serve fails with ``LoadError/Code/forbidden``.
  ///
  /// Cached images are served without a check. For files, see ``allowsFileURLs``. Defaults to `nil`, no guard.
  public var addressGuard: AddressGuard?
  /// The closure that returns the current state of the network.
  ///
  /// ```swift
  /// $0.networkAccess = { monitor.isOnline ? .full : .offline("no network") }
  /// ```
  /// It is called before each load that would send a request, on a queue where it may block; fresh cached images are
  /// served without it. Defaults to `.full` at all times.
  public var networkAccess: @Sendable () -> NetworkAccess {
    get { access ?? { .full } }
    set { access = newValue }
  }
  /// The closure that was set; `nil` if the network is always available.
  private(set) var access: (@Sendable () -> NetworkAccess)?

  // MARK: Observation

  /// A Boolean value that indicates whether each task records its stages for ``LoadTask/metrics``.
  ///
  /// `false` costs nothing, and is the default.
  public var collectsMetrics = false
  /// The observers of all requests' events, which are notified in this order; defaults to none, which costs nothing.
  public var observers: [any PipelineObserver] = []
  /// The closure that receives log entries.
  ///
  /// ```swift
  /// $0.log = { entry in
  ///   if entry.level >= .notice { print(entry.level, entry) }
  /// }
  /// ```
  /// It is called for every level, one entry at a time, on its own thread, so it may block. Defaults to `nil`, which
  /// costs nothing.
  public var log: (@Sendable (LogEntry) -> Void)?
  /// The recorder of all requests' stages; `nil` for none.
  package var recorder: TraceRecorder?

  /// A Boolean value that indicates whether tiny images are decoded on the thread that receives their bytes, which
  /// costs less than waking another thread.
  ///
  /// It is `false` in tests that run every step themselves, and with a queue limit.
  var decodesTinyImagesInline: Bool { stepper == nil && queueLimit == nil }

  /// Creates a configuration with the default of each property, and with a memory cache of its own.
  public init() {
    memoryCache = MemoryCache(costLimit: PlatformDefaults.memoryCostLimit(of: MemoryLimit.bytes), clock: clock)
  }

  /// A configuration with the defaults and no disk cache, so that nothing outlives the program.
  public static var ephemeral: PipelineConfiguration {
    var configuration = PipelineConfiguration()
    configuration.diskCache = nil
    return configuration
  }
}
