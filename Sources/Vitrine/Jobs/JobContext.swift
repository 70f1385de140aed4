import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// What the jobs of a pipeline share: the lock, the pool, the queues, the caches and who writes to them.
final class JobContext: Sendable {
  let configuration: ImagePipeline.Configuration
  let lock: JobLock
  let pool: JobPool
  let decodeQueue: WorkQueue
  let processQueue: WorkQueue
  let fileQueue: WorkQueue
  /// Where hooks are called that may block and have no better place.
  let hookQueue: WorkQueue
  let decoders: DecoderChoice
  let partials: Partials?
  let network: NetworkContext
  let settlement: Settlement
  let sources = SourceRecords()
  let recorder: StageRecorder?
  /// What the decoders can read, for the `Accept` field.
  private let plainFields: HTTPFields

  var delegate: (any PipelineDelegate)? { configuration.delegate }
  var clock: any TimeSource { configuration.clock }
  var diskCache: (any DataCaching)? { configuration.diskCache }
  var memoryCache: MemoryCache<CachedImage>? { configuration.memoryCache }
  /// Where what is awaited runs; `nil` for where Swift runs it.
  var stepper: (any TaskExecutor)? { configuration.stepper }

  init(_ configuration: ImagePipeline.Configuration) {
    self.configuration = configuration
    let (queueLimit, hasThreads) = (configuration.queueLimit, configuration.stepper == nil)
    pool = JobPool(isCoalescing: configuration.isCoalescingEnabled)
    decodeQueue = WorkQueue(
      label: "decode",
      width: configuration.maxConcurrentDecodes,
      byteBudget: configuration.maxConcurrentDecodeBytes,
      queueLimit: queueLimit,
      hasThreads: hasThreads,
    )
    processQueue = WorkQueue(
      label: "process",
      width: configuration.maxConcurrentDecodes,
      queueLimit: queueLimit,
      hasThreads: hasThreads,
    )
    fileQueue = WorkQueue(label: "files", width: 2, queueLimit: queueLimit)
    hookQueue = WorkQueue(label: "hooks", width: 4)
    lock = JobLock(clock: configuration.clock, callbacks: hasThreads ? hookQueue : nil)
    decoders = DecoderChoice(configuration)
    // What a delegate has not seen is not kept, so not in part either.
    partials = configuration.delegate == nil ? Partials(in: configuration.diskCache) : nil
    settlement = Settlement(configuration, partials, decoders, processQueue)
    recorder = StageRecorder(configuration)
    network = NetworkContext(configuration, log: recorder?.feed)
    let types = configuration.decoders.formats.map(\.mediaType)
    plainFields = ["Accept": (types + ["image/*;q=0.8", "*/*;q=0.5"]).joined(separator: ", ")]
  }

  /// Runs `body` as a turn of the jobs; see ``JobLock``.
  @discardableResult
  func turn<Answer: Sendable>(isOnLoaderThread: Bool = false, _ body: (inout Turn) -> Answer) -> Answer {
    lock.turn(isOnLoaderThread: isOnLoaderThread, body)
  }

  // MARK: What a request wants

  func storage(of request: ImageRequest) -> StoragePolicy { request.storagePolicy ?? configuration.storagePolicy }

  /// Whether the bytes of an image are to be kept.
  func keepsOriginal(of request: ImageRequest) -> Bool {
    request.cacheAccess.contains(.diskWrites) && storage(of: request).keepsOriginal(isChanged: request.isChanged)
  }

  /// The fields that are sent for a request, before those that make it conditional.
  func fields(of request: ImageRequest) -> HTTPFields {
    guard !request.headers.isEmpty else { return plainFields }
    var fields = request.headers
    if fields["Accept"] == nil { fields["Accept"] = plainFields["Accept"] }
    return fields
  }

  /// The caches that a request uses; one that is not there keeps no two requests apart.
  func caches(of request: ImageRequest) -> CacheAccess {
    var caches = request.cacheAccess
    if memoryCache == nil { caches.formUnion(.memory) }
    if diskCache == nil { caches.formUnion(.disk) }
    return caches
  }

  /// The memory cache, if the request uses it so.
  func memory(for request: ImageRequest, _ use: CacheAccess) -> MemoryCache<CachedImage>? {
    request.keepsEncodedData || !request.cacheAccess.contains(use) ? nil : memoryCache
  }

  /// The cache of bytes, if the request uses it so.
  func disk(for request: ImageRequest, _ use: CacheAccess) -> (any DataCaching)? {
    request.cacheAccess.contains(use) ? diskCache : nil
  }

  /// What decoding is asked for.
  func decodeOptions(of request: ImageRequest) -> DecodeOptions {
    var options = DecodeOptions(size: request.size)
    options.quality = request.quality
    (options.frame, options.filter) = (request.frame, request.filter)
    (options.usesLinearLight, options.colorSpace) = (request.usesLinearLight, request.colorSpace)
    options.limits = configuration.decodeLimits
    return options
  }

  /// The smallest of the images in memory that has all that is asked for.
  func largerVariant(
    of request: ImageRequest,
    among variants: [MemoryCache<CachedImage>.Variant],
    at now: Date,
  ) -> LargerVariant? {
    let options = decodeOptions(of: request)
    return variants.lazy.map(\.value.loaded)
      .filter { $0.validity.isFresh(at: now, request.cachePolicy) && $0.validity.answers(self.fields(of: request)) }
      .compactMap { LargerVariant($0, for: options) }
      .min { $0.image.cost < $1.image.cost }
  }

  // MARK: Jobs

  func imageKey(of request: ImageRequest, step: Int) -> JobKey {
    let product = JobKey.Product.image(storage(of: request), keepsEncodedData: request.keepsEncodedData)
    return JobKey(request.keys.key(step: step), product, of: request, caches(of: request))
  }

  func fetchKey(of request: ImageRequest) -> JobKey {
    // Bytes are kept in no memory, so that it keeps nobody from sharing them.
    JobKey(request.keys.fetch, .bytes, of: request, caches(of: request).intersection(.disk))
  }

  /// The job of a request's image.
  func imageJob(_ request: ImageRequest, _ turn: inout Turn) -> Job<ImageResponse> {
    imageJob(request, step: request.processors.count, .unknown, &turn)
  }

  /// The job of a request's image after some of its processors; a new one goes on from `start`.
  func imageJob(_ request: ImageRequest, step: Int, _ start: ImageJob.Start, _ turn: inout Turn) -> Job<ImageResponse> {
    pool.job(for: imageKey(of: request, step: step), &turn) { turn in
      guard let alternatives = request.alternatives else { return ImageJob(request, step: step, start, self) }
      return FirstJob(request.name, count: alternatives.count) { [self] index, turn in
        imageJob(alternatives[index], step: step, .unknown, &turn)
      } whenFound: { [self] index, image, turn in
        if image.isRevalidationDue { revalidate(alternatives[index], asImage: true, &turn) }
      }
    }
  }

  /// The job of a request's bytes; a new one need not look for them on disk where it is known what is there.
  func fetchJob(
    _ request: ImageRequest,
    original: FetchJob.KnownOriginal = .unknown,
    record: SourceRecord? = nil,
    _ turn: inout Turn,
  ) -> Job<FetchedBytes> {
    if let alternatives = request.alternatives {
      return FirstJob(request.name, count: alternatives.count) { [self] index, turn in
        fetchJob(alternatives[index], &turn)
      }
    }
    return pool.job(for: fetchKey(of: request), &turn) { _ in
      guard case .url = request.keys.source.kind else { return LocalFetchJob(request.keys.source, self) }
      return FetchJob(request, original, record ?? sources.record(of: request.keys.fetch), self)
    }
  }

  /// Whether the bytes of a request are on their way.
  func isFetching(_ request: ImageRequest, _ turn: inout Turn) -> Bool {
    (request.alternatives ?? [request]).contains { pool.contains(fetchKey(of: $0), &turn) }
  }

  /// Asks the server of an image that was served meanwhile.
  func served(_ image: ImageResponse, _ request: ImageRequest, _ turn: inout Turn) {
    // Of several sources, the one that was found is asked again.
    guard image.isRevalidationDue, !request.keys.hasAlternatives else { return }
    revalidate(request, asImage: true, &turn)
  }

  /// Asks the server behind what was served meanwhile, once for all to whom it was.
  func revalidate(_ request: ImageRequest, asImage: Bool, _ turn: inout Turn) {
    var request = request
    request.revalidates = true
    let job = fetchJob(request, &turn)
    guard !job.isRunning else { return }
    let trace = recorder?.request(request, for: .revalidation, at: turn.uptime)
    job.subscribe(priority: .low, for: trace, &turn) { [self] event, turn in
      guard case .finished(let result) = event else { return }
      guard case .success(let bytes) = result else {
        trace?.end(result, at: turn.uptime)
        return
      }
      // What came anew may be anything; what is the same has been looked at.
      let (found, rest) = findingsInMemory(request, step: request.processors.count, at: turn.now)
      turn.release(rest)
      let isKnown = found.known?.step == request.processors.count && found.known?.image.contentID == bytes.contentID
      guard asImage, bytes.origin == .network, !isKnown else {
        turn.afterwards { bytes.answer?.accept() }
        trace?.end(result, at: turn.uptime)
        return
      }
      let image = imageJob(request, step: request.processors.count, .bytes(bytes), &turn)
      image.subscribe(priority: .low, for: trace, &turn) { event, turn in
        if case .finished(let result) = event { trace?.end(result, at: turn.uptime) }
      }
    }
  }
}
