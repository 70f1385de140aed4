public import VitrineCaching
import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

/// Loads images: from memory, from where their bytes are, once for however many ask.
///
/// ```swift
/// let image = try await ImagePipeline.shared.image(for: url)
/// ```
/// May be used from any thread. What blocks runs on threads of the pipeline's own.
public final class ImagePipeline: Sendable {
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
    public var coalesces = true
    /// How many images are decoded at once; as many as there are cores, unless told.
    public var decodeWidth = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// How many encoded bytes may be in decoding at once: 64 MiB.
    ///
    /// An image that is larger is decoded alone.
    public var decodeByteBudget = 64 << 20
    /// How much may wait: so many fetches for the loader to begin them, and as many images to be read from files, decoded or
    /// processed; `nil`, the default, for any number.
    ///
    /// What would be one more fails at once with ``LoadError/Code/overloaded``, whatever its priority; what waits already, and
    /// whoever joins that, is served. Where an address has a stale answer that may stand in for errors, that is served. A fetch
    /// waits for a moment even where connections are free, so a useful limit is several times as many as there are. What is
    /// found fresh in memory, and bytes that are found fresh on disk, need no place. Low on the list of what is done, such as
    /// previews and writing finished images to disk, is left out without an error.
    public var pendingLimit: Int?
    /// The bounds for decoding.
    public var limits = DecodeLimits()
    /// What of images fetched from addresses is kept in ``diskCache``; `.automatic` by default.
    public var storage = StoragePolicy.automatic
    /// What rewrites requests, chooses decoders and says what is stored; `nil`, the default, for nobody.
    ///
    /// The pipeline keeps it.
    public var delegate: (any PipelineDelegate)?
    /// What stands around the loading of images, the first one outermost; nothing by default.
    public var interceptors: [any ImageInterceptor] = []
    /// Whether an address may be one of a `file:`; it may unless told.
    ///
    /// A server that loads the addresses of strangers says no. ``ImageSource/file(_:)`` is always allowed.
    public var allowsFileAddresses = true
    /// Who is told what requests go through; each part has a property of its own.
    var observation = ObservationParts()
    /// Where what is awaited runs, in a test that takes every step itself and in which the queues have no threads; `nil`, the
    /// default, for threads of the pipeline's own and where Swift runs tasks.
    package var stepper: (any TaskExecutor)?
    /// What fetches addresses, and when; each part has a property of its own.
    var network = NetworkParts()

    init() {
      memoryCache = MemoryCache(costLimit: PlatformDefaults.memoryCostLimit(of: MemoryLimit.bytes), clock: clock)
    }
  }

  /// The pipeline of the program, which needs no set-up.
  ///
  /// Its parts are those of ``Configuration`` and a disk cache of 300 MB (less where that is more than a tenth of the free
  /// space) in `$XDG_CACHE_HOME/<program>/vitrine`, on Apple's systems in Caches. Where the folder cannot be made it goes
  /// without. A host has 6 connections, freshness is honoured, and memory is given back when the system says that it is
  /// scarce.
  public static let shared = ImagePipeline { $0.diskCache = PlatformDefaults.diskCache() }

  /// A pipeline of the program that keeps nothing on disk.
  ///
  /// Its memory is not that of ``shared``.
  public static let ephemeral = ImagePipeline { _ in }

  let configuration: Configuration
  let context: JobContext
  let fetches: JobPool<CacheKey, FetchedBytes, LoadError>
  let images: JobPool<CacheKey, CachedImage, LoadError>
  private let intercepted = InterceptedTasks()
  private let pressure: MemoryPressureObservation?

  /// Makes a pipeline of the parts that `configure` sets.
  public init(_ configure: (inout Configuration) throws -> Void) rethrows {
    var configuration = Configuration()
    try configure(&configuration)
    self.configuration = configuration
    context = JobContext(configuration)
    fetches = JobPool(isCoalescing: configuration.coalesces)
    images = JobPool(isCoalescing: configuration.coalesces)
    pressure = configuration.memoryPressure.flatMap { configuration.memoryCache?.trims(under: $0) }
  }

  /// The caches as one.
  public var cache: PipelineCache {
    PipelineCache(
      memory: configuration.memoryCache,
      disk: configuration.diskCache,
      pending: context.pendingWrites,
      delegate: context.delegate,
      failures: context.network.failures,
    )
  }

  // MARK: Images

  /// The image, if it is in memory: one look-up, no waiting.
  ///
  /// It may be one whose time is over, and then says so. Without ``CacheUse/memoryReads`` there is none.
  public func cachedImage(for request: ImageRequest) -> ImageResponse? {
    // Without a delegate the request is not even copied.
    context.delegate == nil ? imageInMemory(request) : imageInMemory(request.prepared(by: context.delegate))
  }

  /// The image of a request that has been rewritten.
  func imageInMemory(_ request: ImageRequest) -> ImageResponse? {
    let policy = request.policy
    guard policy != .reload, let memory = context.memory(for: request, .memoryReads) else { return nil }
    let keys = request.keys
    defer { withExtendedLifetime(keys) {} }
    if let image = memory.value(for: keys.image), image.loaded.validity.answers(context.fields(of: request)) {
      return ImageResponse(image.loaded, from: .memory, isStale: !image.isFresh(at: context.clock.now, policy))
    }
    return keys.hasAlternatives ? request.alternatives?.lazy.compactMap(imageInMemory).first : nil
  }

  /// Loads an image; see ``ImageTask/image``.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting task is cancelled.
  public func image(for request: ImageRequest) async throws(LoadError) -> Bitmap {
    // A hit costs neither a task nor a hop.
    let prepared = request.prepared(by: context.delegate)
    // Whoever is told of requests is told of this one, too.
    if context.recorder == nil, let hit = imageInMemory(prepared), !hit.isStale { return hit.image }
    return try await imageTask(for: request).image
  }

  /// Loads an image of an address; see ``ImageTask/image``.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting task is cancelled.
  public func image(for url: URL) async throws(LoadError) -> Bitmap { try await image(for: ImageRequest(url: url)) }

  /// Begins to load an image.
  ///
  /// The task goes on whether or not it is kept, and keeps the pipeline until it ends.
  public func imageTask(for request: ImageRequest) -> ImageTask { imageTask(for: request, isWatching: false, nil) }

  /// Begins to load an image, and tells an observer of it; see ``ImageTask``'s initializer.
  ///
  /// With a scope it begins when that lets it.
  func imageTask(
    for request: ImageRequest,
    isWatching: Bool,
    in scope: LoadScope? = nil,
    _ observer: (@Sendable (ImageEvent) -> Void)?,
  ) -> ImageTask {
    let prepared = request.prepared(by: context.delegate)
    if let hit = imageInMemory(prepared), !hit.isStale {
      let task = ImageTask(request, context, observer: observer)
      task.end(.success(hit))
      return task
    }
    // The jobs refer to the pipeline unowned; the task keeps it while they run.
    let task = ImageTask(request, context, observer: observer) { withExtendedLifetime(self) {} }
    if prepared.priority != request.priority { task.priority = prepared.priority }
    guard let scope else {
      begin(task, prepared, isWatching: isWatching)
      return task
    }
    scope.add(task) { [self] in begin(task, prepared, isWatching: isWatching) }
    return task
  }

  private func begin(_ task: ImageTask, _ request: ImageRequest, isWatching: Bool) {
    context.engine.turn { turn in
      guard !task.isEnded else { return }
      guard configuration.interceptors.isEmpty else {
        let job = intercepted.add(&turn) { onEnd in
          InterceptJob(request, key: imageKey(of: request), configuration.interceptors, self, onEnd: onEnd)
        }
        // What was served is dealt with where it is.
        return task.subscribe(to: job, isWatching: isWatching, &turn, onCancel: { job.keepFetching() }) { _, _ in }
      }
      let job = imageJob(request, &turn)
      var onCancel: (@Sendable () -> Void)?
      if request.continuesDownload { onCancel = { [unowned self] in keepFetching(request) } }
      task.subscribe(to: job, isWatching: isWatching, &turn, onCancel: onCancel) { [unowned self] image, turn in
        served(image, request, &turn)
      }
    }
  }

  /// Asks the server of an image that was served meanwhile.
  func served(_ image: CachedImage, _ request: ImageRequest, _ turn: inout Turn) {
    // Of several sources, the one that was found is asked again.
    guard image.response.isRevalidationDue, !request.keys.hasAlternatives else { return }
    revalidate(request, asImage: true, &turn)
  }

  /// Begins to load an image, and calls back when it is there or has failed.
  ///
  /// - Parameters:
  ///   - request: What to load.
  ///   - completion: Called once, on any thread, also before this returns where the image is in memory, and with an error of
  ///     code `.cancelled` when the task is cancelled. A lock may be held around it, so all it may do is to hand on.
  /// - Returns: The task, to be cancelled or watched; it need not be kept.
  @discardableResult
  public func loadImage(
    for request: ImageRequest,
    completion: @escaping @Sendable (Result<ImageResponse, LoadError>) -> Void,
  ) -> ImageTask {
    imageTask(for: request, isWatching: false) { event in
      if case .finished(let result) = event { completion(result) }
    }
  }

  /// Ends every task that waits for exactly this image, with an error of code `.cancelled`; who asks afterwards loads it.
  ///
  /// Does nothing where none does.
  public func cancel(for request: ImageRequest) {
    let request = request.prepared(by: context.delegate)
    context.engine.turn { turn in
      let key = imageKey(of: request)
      let error = LoadError(.cancelled, .request, request.name, "cancelled")
      for job in intercepted.all(of: key, &turn) { job.cancelCallers(error, &turn) }
      images.running(key, &turn)?.cancelCallers(error, &turn)
    }
  }

  /// Begins to load an image of an address.
  public func imageTask(for url: URL) -> ImageTask { imageTask(for: ImageRequest(url: url)) }

  /// How many jobs are under way: 0 when nothing is being loaded.
  package var jobCount: Int {
    context.engine.turn { fetches.count(&$0) + images.count(&$0) + intercepted.count(&$0) }
  }

  // MARK: Jobs

  /// The job of an image.
  func imageJob(_ request: ImageRequest, _ turn: inout Turn) -> Job<CachedImage, LoadError> {
    imageJob(request, step: request.processors.count, &turn)
  }

  private func imageKey(of request: ImageRequest) -> CacheKey { imageKey(of: request, step: request.processors.count) }

  /// The job of the image after its first `step` processors.
  private func imageJob(
    _ request: ImageRequest,
    step: Int,
    of bytes: FetchedBytes? = nil,
    _ turn: inout Turn,
  ) -> Job<CachedImage, LoadError> {
    let key = imageKey(of: request, step: step)
    if let alternatives = request.alternatives {
      return images.job(for: key, &turn) { onEnd in
        FirstJob(request.name, count: alternatives.count, onEnd: onEnd) { [unowned self] index, turn in
          imageJob(alternatives[index], step: step, &turn)
        } whenFound: { [unowned self] index, image, turn in
          if image.response.isRevalidationDue { revalidate(alternatives[index], asImage: true, &turn) }
        }
      }
    }
    return images.job(for: key, &turn) { makeImageJob(request, step: step, of: bytes, onEnd: $0) }
  }

  func imageKey(of request: ImageRequest, step: Int) -> CacheKey {
    request.keys.key(step: step).extended { key in
      key.appendWay(of: request, context.caches(of: request))
      key.append(context.storage(of: request).rawValue)
      if request.keepsEncodedData { key.append("encoded") }
    }
  }

  /// Where an image is looked for before it is made.
  private enum Look { case everywhere, notOnDisk, nowhere }

  /// Makes the job that needs the least work: of the image in memory, of a larger one, else of `bytes`, if they are at
  /// hand, or those that it fetches.
  private func makeImageJob(
    _ request: ImageRequest,
    step: Int,
    of bytes: FetchedBytes?,
    look: Look = .everywhere,
    onEnd: @escaping (inout Turn) -> Void,
  ) -> Job<CachedImage, LoadError> {
    let source = request.name
    let key = request.keys.key(step: step)
    let group = request.keys.fetch
    let inMemory: @Sendable (CachedImage) -> Void = { [memory = context.memory(for: request, .memoryWrites)] image in
      guard image.validity.isKept else { return }
      memory?.keep(image, for: key, of: group)
    }
    let isFinal = step == request.processors.count
    let stored: @Sendable (CachedImage) -> Void = { [context] image in
      inMemory(image)
      if isFinal { context.keepFinished(image, of: request) }
    }
    func confirmJob(_ known: CachedImage, onEnd: @escaping (inout Turn) -> Void) -> ConfirmJob {
      ConfirmJob(
        known,
        of: source,
        // Who asks for it anew gets an error rather than what was there.
        standsIn: request.policy != .reload,
        context: context,
        fetch: { [unowned self] turn in fetchJob(request, &turn) },
        make: { [unowned self] bytes, _ in
          makeImageJob(request, step: step, of: bytes, look: .nowhere, onEnd: { _ in })
        },
        stored: { [context] image in
          inMemory(image)
          if isFinal { context.renewFinished(image, of: request) }
        },
        onEnd: onEnd,
      )
    }
    if bytes == nil, look != .nowhere, let known = context.memory(for: request, .memoryReads)?.value(for: key),
      known.validity.answers(context.fields(of: request))
    {
      if request.policy != .reload, known.isFresh(at: context.clock.now, request.policy) {
        return KnownJob(known.fromMemory(), onEnd: onEnd)
      }
      if known.validity.isUsableWhileRevalidating(at: context.clock.now, request) {
        return KnownJob(known.stale(isRevalidationDue: true), onEnd: onEnd)
      }
      if known.contentID != .none { return confirmJob(known, onEnd: onEnd) }
    }
    let options = decodeOptions(of: request)
    let larger = bytes == nil && step == 0 ? largerVariant(of: request, options) : nil
    if bytes == nil, larger == nil, look == .everywhere, let disk = context.diskForFinished(request, step: step) {
      return FinishedJob(
        request,
        key: key,
        on: disk,
        context: context,
        make: { [unowned self] _ in
          makeImageJob(request, step: step, of: nil, look: .notOnDisk, onEnd: { _ in })
        },
        confirm: { known, _ in confirmJob(known, onEnd: { _ in }) },
        stored: inMemory,
        onEnd: onEnd,
      )
    }
    if step > 0 {
      return ProcessJob(
        source: source,
        processor: request.processors[step - 1],
        context: context,
        input: { [unowned self] turn in imageJob(request, step: step - 1, of: bytes, &turn) },
        stored: stored,
        onEnd: onEnd,
      )
    }
    if let larger {
      return ResampleJob(
        source: source,
        larger: larger,
        limits: configuration.limits,
        context: context,
        stored: stored,
        onEnd: onEnd,
      )
    }
    return DecodeJob(
      request,
      options: options,
      // What is shown of an image that is to be changed would not look like it.
      previews: request.processors.isEmpty ? request.previews : .none,
      keepsEncodedData: request.keepsEncodedData,
      keepsOriginal: context.keepsOriginal(of: request),
      asksServer: request.policy != .cacheOnly,
      stopsEarly: request.stopsEarly && !context.storage(of: request).keepsEveryOriginal,
      context: context,
      fetch: { [unowned self] again, turn in
        if let bytes, !again { return KnownJob(bytes) }
        var request = request
        if again { request.policy = .reload }
        return fetchJob(request, &turn)
      },
      stored: stored,
      onEnd: onEnd,
    )
  }

  /// Asks the server behind what was served meanwhile, once for all to whom it was.
  func revalidate(_ request: ImageRequest, asImage: Bool, _ turn: inout Turn) {
    var request = request
    request.revalidates = true
    let job = fetchJob(request, &turn)
    guard !job.isRunning else { return }
    let trace = context.recorder?.request(request, for: .revalidation)
    _ = job.subscribe(priority: .low, for: trace, &turn) { [self] event, turn in
      guard case .finished(.success(let bytes)) = event else {
        trace?.end(event)
        return
      }
      let known = context.memory(for: request, .memoryReads)?.value(for: request.keys.image)
      // What came anew may be anything; what is the same has been looked at.
      guard asImage, bytes.origin == .network, known?.contentID != bytes.contentID else {
        bytes.verdict?(true)
        trace?.end(bytes)
        return
      }
      let image = imageJob(request, step: request.processors.count, of: bytes, &turn)
      _ = image.subscribe(priority: .low, for: trace, &turn) { [self] event, _ in
        if case .finished(let result) = event { trace?.end(result.map(\.response)) }
        withExtendedLifetime(self) {}
      }
    }
  }

  /// Whether the bytes of a request are on their way.
  func isFetching(_ request: ImageRequest, _ turn: inout Turn) -> Bool {
    (request.alternatives ?? [request]).contains { fetches.contains(fetchKey(of: $0), &turn) }
  }

  func fetchKey(of request: ImageRequest) -> CacheKey {
    // Bytes are kept in no memory, so that it keeps nobody from sharing them.
    request.keys.fetch.extended { $0.appendWay(of: request, context.caches(of: request).intersection(.disk)) }
  }

  func fetchJob(_ request: ImageRequest, _ turn: inout Turn) -> Job<FetchedBytes, LoadError> {
    if let alternatives = request.alternatives {
      return FirstJob(request.name, count: alternatives.count) { [unowned self] index, turn in
        fetchJob(alternatives[index], &turn)
      } whenFound: { _, _, _ in
      }
    }
    return fetches.job(for: fetchKey(of: request), &turn) { onEnd in
      let source = request.resolvedSource
      guard case .url(let address) = source.kind else {
        return LocalFetchJob(source: source, context: context, onEnd: onEnd)
      }
      return RemoteFetchJob(address: address, request: request, context: context, onEnd: onEnd)
    }
  }
}
