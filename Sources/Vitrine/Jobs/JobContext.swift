import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The parts that the jobs of a pipeline share: lock, pool, queues, caches and the ``Settlement`` that writes to these.
final class JobContext: Sendable {
  let configuration: ImagePipeline.Configuration
  let lock: JobLock
  let pool: JobPool
  let decodeQueue: WorkQueue
  let processQueue: WorkQueue
  /// The queue of passes over whole files, which take seconds and must not hold up other decodes.
  let passQueue: WorkQueue
  let fileReads: FileReads
  /// The queue for hooks that may block and have no better place.
  let hookQueue: WorkQueue
  /// The memory that concurrent decodes hold together.
  let decodeBudget: ByteBudget
  /// The places of images that are made to be encoded.
  let places: MakingPlaces
  /// The cores that concurrent decodes use together; a lone one may use several.
  let decodeCores: CoreBudget
  let decodeWatch: DecodeWatch
  let decoders: DecoderChoice
  let partials: Partials?
  let network: NetworkContext
  let settlement: Settlement
  let sources = SourceRecords()
  let arrived = ArrivedBytes()
  let variations: Variations
  let recorder: StageRecorder?
  private let coordinator: WorkCoordinator?
  /// The fields of every request: `Accept` with the media types that the decoders read.
  private let plainFields: HTTPFields

  /// The niceness of the threads that decode and process.
  ///
  /// A decode for one caller must not delay hits in memory or a window's frames. But it must also finish when other
  /// programs keep all cores busy: at 10, between 40 and 240 of 246 cells of a scrolled grid then came to rest with
  /// their image; at 5, at least 228. As many frames were slow at both. At 19, the main thread waited 37 ms for a lock
  /// whose holder, a decode thread, was not given the processor.
  static let niceness: CInt = 5

  var delegate: (any PipelineDelegate)? { configuration.delegate }
  var clock: any TimeSource { configuration.clock }
  var diskCache: (any DataCaching)? { configuration.diskCache }
  var memoryCache: MemoryCache<CachedImage>? { configuration.memoryCache }
  /// The executor of tasks; `nil` for Swift's own.
  var stepper: (any TaskExecutor)? { configuration.stepper }

  init(_ configuration: ImagePipeline.Configuration) {
    self.configuration = configuration
    let (queueLimit, hasThreads) = (configuration.queueLimit, configuration.stepper == nil)
    pool = JobPool(isCoalescing: configuration.isCoalescingEnabled, clock: configuration.clock)
    decodeQueue = WorkQueue(
      label: "decode",
      width: configuration.maxConcurrentDecodes,
      queueLimit: queueLimit,
      niceness: Self.niceness,
      hasThreads: hasThreads,
    )
    decodeBudget = ByteBudget(limit: configuration.maxConcurrentDecodeBytes)
    places = MakingPlaces(
      limit: 2 * max(1, configuration.maxConcurrentDecodes),
      byteLimit: configuration.maxConcurrentDecodeBytes,
      queueLimit: queueLimit,
    )
    decodeCores = CoreBudget(count: min(configuration.maxConcurrentDecodes, CoreBudget.machine.count))
    processQueue = WorkQueue(
      label: "process",
      width: configuration.maxConcurrentDecodes,
      queueLimit: queueLimit,
      niceness: Self.niceness,
      hasThreads: hasThreads,
    )
    passQueue = WorkQueue(label: "tiles", width: 2, niceness: Self.niceness, hasThreads: hasThreads)
    fileReads = FileReads(queueLimit: queueLimit, clock: configuration.clock)
    hookQueue = WorkQueue(label: "hooks", width: 4)
    lock = JobLock(clock: configuration.clock, callbacks: hasThreads ? hookQueue : nil)
    decoders = DecoderChoice(configuration)
    // Nothing is stored that a delegate has not seen, so no partial downloads either.
    partials = configuration.delegate == nil ? Partials(in: configuration.diskCache) : nil
    variations = Variations()
    settlement = Settlement(configuration, partials, variations, sources, decoders, processQueue)
    recorder = StageRecorder(configuration)
    coordinator = WorkCoordinator(configuration, settlement.pending)
    decodeWatch = DecodeWatch(configuration, recorder?.feed)
    network = NetworkContext(configuration, log: recorder?.feed)
    let types = configuration.decoders.formats.map(\.mediaType).filter { !$0.isEmpty }
    plainFields = ["Accept": (types + ["image/*;q=0.8", "*/*;q=0.5"]).joined(separator: ", ")]
  }

  /// Runs `body` as a turn of the jobs; see ``JobLock``.
  @discardableResult
  func turn<Answer: Sendable>(isOnLoaderThread: Bool = false, _ body: (inout Turn) -> Answer) -> Answer {
    lock.turn(isOnLoaderThread: isOnLoaderThread, body)
  }

  // MARK: Requests

  func storage(of request: ImageRequest) -> StoragePolicy { request.storagePolicy ?? configuration.storagePolicy }

  /// Returns true if the original bytes of an image are to be stored.
  func keepsOriginal(of request: ImageRequest) -> Bool {
    request.cacheAccess.contains(.diskWrites) && storage(of: request).keepsOriginal(isChanged: request.isChanged)
  }

  /// Returns the fields to send for a request, without conditions such as `If-None-Match`.
  func fields(of request: ImageRequest) -> HTTPFields {
    guard !request.headers.isEmpty else { return plainFields }
    var fields = request.headers
    if fields["Accept"] == nil { fields["Accept"] = plainFields["Accept"] }
    return fields
  }

  /// Returns the plan for the bytes of a request.
  func bytesPlan(_ request: ImageRequest, _ source: String, _ findings: Findings, now: Date) -> BytesPlan {
    BytesPlan(request, source, findings, fields: fields(of: request), by: configuration.freshness, now: now)
  }

  /// Returns the validity of the bytes of a response.
  func validity(of stored: StoredResponse, at now: Date) -> Validity {
    Validity(of: stored, by: configuration.freshness, at: now)
  }

  /// Returns the caches that a request uses; a cache that does not exist keeps no two requests apart.
  func caches(of request: ImageRequest) -> CacheAccess {
    var caches = request.cacheAccess
    if memoryCache == nil { caches.formUnion(.memory) }
    if diskCache == nil { caches.formUnion(.disk) }
    return caches
  }

  /// Returns the memory cache, if the request uses it in this way.
  func memory(for request: ImageRequest, _ use: CacheAccess) -> MemoryCache<CachedImage>? {
    request.keepsEncodedData || !request.cacheAccess.contains(use) ? nil : memoryCache
  }

  /// Returns the data cache, if the request uses it in this way.
  func disk(for request: ImageRequest, _ use: CacheAccess) -> (any DataCaching)? {
    request.cacheAccess.contains(use) ? diskCache : nil
  }

  /// Returns the coordinator of a request's work with other machines; `nil` if the request has none.
  func coordinator(for request: ImageRequest) -> WorkCoordinator? {
    guard let coordinator, request.keys.url != nil, request.isPlainGet, request.cachePolicy != .reload,
      request.cacheAccess.contains(.disk)
    else { return nil }
    return coordinator
  }

  func decodeOptions(of request: ImageRequest) -> DecodeOptions {
    var options = DecodeOptions(size: request.size)
    options.quality = request.quality
    (options.frame, options.filter) = (request.frame, request.filter)
    (options.usesLinearLight, options.colorSpace) = (request.usesLinearLight, request.colorSpace)
    options.dynamicRange = request.dynamicRange
    options.animates = request.animates
    options.limits = configuration.decodeLimits
    options.cores = decodeCores
    return options
  }

  /// Returns the smallest image in memory from which the requested one can be made.
  func largerVariant(
    of request: ImageRequest,
    among variants: [MemoryCache<CachedImage>.Variant],
    at now: Date,
  ) -> LargerVariant? {
    let options = decodeOptions(of: request)
    return variants.lazy.map(\.value.loaded)
      .filter { $0.validity.isFresh(at: now, request) && $0.validity.answers(self.fields(of: request)) }
      .compactMap { LargerVariant($0, for: options) }
      .min { $0.image.cost < $1.image.cost }
  }

  // MARK: Jobs

  func imageKey(of request: ImageRequest, step: Int) -> JobKey {
    imageKey(of: request, step: step, isExact: request.isExact)
  }

  private func imageKey(of request: ImageRequest, step: Int, isExact: Bool) -> JobKey {
    let product = JobKey.Product.image(
      storage(of: request),
      keepsEncodedData: request.keepsEncodedData,
      isExact: isExact,
    )
    return JobKey(request.keys.key(step: step), product, of: request, caches(of: request))
  }

  /// Returns the running job for the same image with the opposite ``ImageRequest/isExact``, if there is one.
  func twin(of request: ImageRequest, step: Int, _ turn: inout Turn) -> Job<ImageResponse>? {
    pool.running(imageKey(of: request, step: step, isExact: !request.isExact), &turn)
  }

  func fetchKey(of request: ImageRequest) -> JobKey {
    // Bytes are not kept in memory, so memory access keeps no two requests apart.
    // Thumbnails of a file differ by their size.
    let key = request.keys.source.isThumbnail ? request.keys.decode : request.keys.fetch
    return JobKey(key, .bytes, of: request, caches(of: request).intersection(.disk))
  }

  /// Returns the job of a request's image.
  func imageJob(_ request: ImageRequest, _ turn: inout Turn) -> Job<ImageResponse> {
    imageJob(request, step: request.processors.count, .unknown, &turn)
  }

  /// Returns the job of a request's image after some of its processors; a new one begins with `start`.
  ///
  /// The image is stored as a finished one only if a caller wants the image itself, not only a file encoded from it.
  func imageJob(
    _ request: ImageRequest,
    step: Int,
    _ start: ImageJob.Start,
    storesFinished: Bool = true,
    _ turn: inout Turn,
  ) -> Job<ImageResponse> {
    let request = varied(request, isInTurn: true)
    let isShared = !isOutdated(start.bytes, of: request)
    let job = pool.job(for: imageKey(of: request, step: step), isShared: isShared, &turn) {
      turn -> Job<ImageResponse> in
      guard request.alternatives != nil else { return ImageJob(request, step: step, start, self) }
      return FunctionJob(request, .sources, self) { [self] job throws(LoadError) in
        try await first(request, job) { alternative, turn in
          imageJob(alternative, step: step, .unknown, storesFinished: storesFinished, &turn)
        } whenFound: { alternative, image, turn in
          if image.isRevalidationDue { revalidate(alternative, asImage: true, &turn) }
        }
      }
    }
    if storesFinished { (job as? ImageJob)?.want() }
    return job
  }

  /// Returns true for bytes that have been replaced or removed since they were asked for.
  private func isOutdated(_ bytes: FetchedBytes?, of request: ImageRequest) -> Bool {
    guard let bytes, let ask = bytes.ask else { return false }
    return sources.record(of: request.keys.fetch).isOutdated(ask, bytes.contentID)
  }

  /// Returns the job of a request's bytes; a new one does not look on disk if `original` is known.
  func fetchJob(
    _ request: ImageRequest,
    original: FetchJob.KnownOriginal = .unknown,
    record: SourceRecord? = nil,
    _ turn: inout Turn,
  ) -> Job<FetchedBytes> {
    let known = request.keys.fetch
    let request = varied(request, isInTurn: true)
    // The known entry belongs to another variant.
    let isOther = request.keys.fetch != known
    let (original, record) = isOther ? (.unknown, nil) : (original, record)
    if request.alternatives != nil {
      return FunctionJob(request, .sources, self) { [self] job throws(LoadError) in
        try await first(request, job) { fetchJob($0, &$1) }
      }
    }
    let key = fetchKey(of: request)
    return pool.job(for: key, &turn) { turn in
      guard case .url = request.keys.source.kind else { return LocalFetchJob(request.keys, self) }
      if request.cachePolicy != .reload, !request.revalidates, let bytes = arrived.bytes(for: key, &turn),
        bytes.validity.isFresh(at: turn.now, request), !isOutdated(bytes, of: request)
      {
        return KnownJob(bytes)
      }
      return FetchJob(request, original, record ?? sources.record(of: request.keys.fetch), self)
    }
  }

  /// Returns true if the bytes of a request are being fetched.
  func isFetching(_ request: ImageRequest, _ turn: inout Turn) -> Bool {
    (request.alternatives ?? [request]).contains { pool.contains(fetchKey(of: $0), &turn) }
  }

  /// Returns true if a running job has sent a request for the bytes of this one.
  func isTransferring(_ request: ImageRequest, _ turn: inout Turn) -> Bool {
    (request.alternatives ?? [request]).contains { request in
      let job: Job<FetchedBytes>? = pool.running(fetchKey(of: request), &turn)
      defer { if let job { turn.keep(job) } }
      return (job as? FetchJob)?.isTransferring ?? false
    }
  }

  /// Revalidates an image that was served stale.
  func served(_ image: ImageResponse, _ request: ImageRequest, _ turn: inout Turn) {
    // With several sources, the load of the alternative that had the image revalidates it (`whenFound`).
    guard image.isRevalidationDue, !request.keys.hasAlternatives else { return }
    revalidate(request, asImage: true, &turn)
  }

  /// Revalidates bytes that were served stale, once for all callers.
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
      // New bytes may be anything; unchanged ones have been decoded before.
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
