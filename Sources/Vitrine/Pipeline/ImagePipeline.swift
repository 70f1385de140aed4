import VitrineCaching
public import VitrineImaging
public import VitrineRuntime

/// Loads images from memory, disk, or the network, once for all callers.
///
/// ```swift
/// let image = try await ImagePipeline.shared.image(for: url)
/// ```
/// Safe to use from any thread. Blocking work runs on threads of the pipeline's own.
public final class ImagePipeline: Sendable {
  /// The program's pipeline, which needs no set-up.
  ///
  /// It has the defaults of ``Configuration`` and a disk cache of 300 MB (or a tenth of the free space, if that is
  /// less) in `$XDG_CACHE_HOME/<program>/vitrine`, on Apple platforms in Caches. If the folder cannot be created, it
  /// has no disk cache. It uses up to 6 connections per host, honours freshness, and frees memory under pressure.
  ///
  /// To use other parts, set it before its first use. Setting it after its first use, or twice, is a programming error
  /// and stops the process.
  public static var shared: ImagePipeline {
    get { usedShared }
    set { precondition(chosenShared.set(newValue), "ImagePipeline.shared was set after its first use") }
  }

  // Made once; a look-up costs no lock.
  private static let usedShared = chosenShared.use() ?? ImagePipeline { $0.diskCache = PlatformDefaults.diskCache() }
  private static let chosenShared = ChosenPipeline()

  /// A pipeline that stores nothing on disk.
  ///
  /// It does not share the memory cache of ``shared``.
  public static let ephemeral = ImagePipeline()

  let context: JobContext
  private let pressure: MemoryPressureObservation?

  /// Creates a pipeline.
  ///
  /// Two pipelines of one configuration share its caches, its loader and its hooks, and no running work.
  ///
  /// - Parameter configuration: The parts. Defaults to a memory cache of the pipeline's own and no disk cache.
  public init(_ configuration: Configuration = Configuration()) {
    context = JobContext(configuration)
    pressure = configuration.memoryPressure.flatMap { configuration.memoryCache?.trims(under: $0) }
  }

  /// Creates a pipeline of the default parts, changed by `configure`.
  ///
  /// ```swift
  /// let pipeline = ImagePipeline { $0.maxConcurrentDecodes = 2 }
  /// ```
  public convenience init(_ configure: (inout Configuration) throws -> Void) rethrows {
    var configuration = Configuration()
    try configure(&configuration)
    self.init(configuration)
  }

  /// The parts of the pipeline; change a copy to derive another pipeline from it.
  ///
  /// ```swift
  /// var configuration = pipeline.configuration
  /// configuration.storagePolicy = .original
  /// let derived = ImagePipeline(configuration)
  /// ```
  public var configuration: Configuration { context.configuration }

  /// The caches of the pipeline.
  public var cache: PipelineCache { PipelineCache(context) }

  /// The number of running jobs.
  package var jobCount: Int { context.turn { context.pool.count(&$0) } }

  // MARK: Images

  /// Returns the image if it is in memory; one look-up, no waiting.
  ///
  /// A stale image is returned, too, and marked as such. Returns `nil` without ``CacheAccess/memoryReads``.
  public func cachedImage(for request: ImageRequest) -> ImageResponse? {
    // Without a delegate, the request is not even copied.
    context.delegate == nil
      ? context.imageInMemory(request) : context.imageInMemory(request.prepared(by: context.delegate))
  }

  /// Loads an image; see ``ImageTask/image``.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func image(for request: ImageRequest) async throws(LoadError) -> Bitmap {
    // A hit costs neither a task nor a hop, unless observers must be notified.
    guard context.recorder == nil else { return try await imageTask(for: request).image }
    // Without a delegate, a hit needs only the image's own key.
    let rewritten = context.delegate == nil ? request : request.prepared(by: context.delegate)
    if let hit = context.imageInMemory(rewritten), !hit.isStale { return hit.image }
    let task = ImageTask(request, context, priority: rewritten.priority)
    begin(task, rewritten.prepared(by: nil))
    return try await task.image
  }

  /// Loads the image at a URL; see ``ImageTask/image``.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func image(for url: URL) async throws(LoadError) -> Bitmap { try await image(for: ImageRequest(url: url)) }

  /// Starts to load an image.
  ///
  /// The task runs even if it is not kept, and retains the parts of the pipeline that it needs until it ends.
  public func imageTask(for request: ImageRequest) -> ImageTask { imageTask(for: request, isWatching: false, nil) }

  /// Starts to load the image at a URL.
  public func imageTask(for url: URL) -> ImageTask { imageTask(for: ImageRequest(url: url)) }

  /// Starts to load an image for an observer; see ``ImageTask``'s initializer.
  ///
  /// With a scope, the load begins as soon as that allows it.
  func imageTask(
    for request: ImageRequest,
    isWatching: Bool,
    in scope: LoadScope? = nil,
    _ observer: (@Sendable (ImageEvent) -> Void)?,
  ) -> ImageTask {
    let prepared = request.prepared(by: context.delegate)
    let task = ImageTask(request, context, priority: prepared.priority, observer: observer)
    if let hit = context.imageInMemory(prepared), !hit.isStale {
      task.end(.success(hit))
      return task
    }
    guard let scope else {
      begin(task, prepared, isWatching: isWatching)
      return task
    }
    scope.add(task) { [self] in begin(task, prepared, isWatching: isWatching) }
    return task
  }

  private func begin(_ task: ImageTask, _ request: ImageRequest, isWatching: Bool = false) {
    context.turn { context.begin(task, request, isWatching: isWatching, &$0) }
  }

  /// Starts to load an image, and calls back with the result.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - completion: A closure called once, on any thread, before this method returns if the image is in memory, and
  ///     with code `.cancelled` if the task is cancelled. It may do anything: load, cancel, clear a cache, block.
  /// - Returns: The task, for cancelling and watching; it need not be kept.
  @discardableResult
  public func loadImage(
    for request: ImageRequest,
    completion: @escaping @Sendable (Result<ImageResponse, LoadError>) -> Void,
  ) -> ImageTask {
    imageTask(for: request, isWatching: false) { event in
      if case .finished(let result) = event { completion(result) }
    }
  }

  /// Cancels every task that waits for exactly this image, with an error of code `.cancelled`; later requests load it.
  ///
  /// Does nothing if there is no such task.
  public func cancel(for request: ImageRequest) {
    let request = request.prepared(by: context.delegate)
    context.turn { [context] turn in
      let key = context.imageKey(of: request, step: request.processors.count)
      let error = LoadError(.cancelled, .request, request.name, "cancelled")
      for job in context.pool.intercepted(for: key, &turn) { job.cancelCallers(error, &turn) }
      let job: Job<ImageResponse>? = context.pool.running(key, &turn)
      job?.cancelCallers(error, &turn)
    }
  }
}

extension JobContext {
  /// Subscribes a task to the job of its image, or to its interceptors.
  fileprivate func begin(_ task: ImageTask, _ request: ImageRequest, isWatching: Bool, _ turn: inout Turn) {
    guard !task.isEnded else { return }
    if !configuration.interceptors.isEmpty {
      let job = InterceptJob(request, self)
      pool.add(job, &turn)
      // The intercepted loads revalidate what they served.
      return task.subscribe(to: job, for: nil, isWatching: isWatching, &turn) { job.keepFetching(&$0) }
    }
    var onCancel: (@Sendable (inout Turn) -> Void)?
    if request.continuesDownload { onCancel = { [self] in keepFetching(request, &$0) } }
    task.subscribe(to: imageJob(request, &turn), for: request, isWatching: isWatching, &turn, onCancel: onCancel)
  }

  /// Returns the image of a prepared request, if it is in memory.
  func imageInMemory(_ request: ImageRequest) -> ImageResponse? {
    let policy = request.cachePolicy
    guard policy != .reload, let memory = memory(for: request, .memoryReads) else { return nil }
    if let image = memory.value(for: request.imageKey)?.loaded, image.validity.answers(fields(of: request)) {
      return ImageResponse(image, from: .memory, isStale: !image.validity.isFresh(at: clock.now, policy))
    }
    return request.alternatives?.lazy.compactMap(imageInMemory).first
  }
}

/// The pipeline that a program sets in place of the default, until somebody uses it.
private final class ChosenPipeline: Sendable {
  private struct State {
    var pipeline: ImagePipeline?
    var isUsed = false
  }

  private let state = Lock(State())

  func use() -> ImagePipeline? {
    state.withLock { state in
      state.isUsed = true
      return state.pipeline
    }
  }

  /// Returns whether it was set.
  func set(_ pipeline: ImagePipeline) -> Bool {
    state.withLock { state in
      guard !state.isUsed, state.pipeline == nil else { return false }
      state.pipeline = pipeline
      return true
    }
  }
}
