import VitrineCaching
public import VitrineImaging
public import VitrineRuntime

/// Loads images: from memory, from where their bytes are, once for however many ask.
///
/// ```swift
/// let image = try await ImagePipeline.shared.image(for: url)
/// ```
/// May be used from any thread. What blocks runs on threads of the pipeline's own.
public final class ImagePipeline: Sendable {
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

  /// What the jobs share.
  let context: JobContext
  private let pressure: MemoryPressureObservation?

  /// Makes a pipeline of the parts that `configure` sets.
  public init(_ configure: (inout Configuration) throws -> Void) rethrows {
    var configuration = Configuration()
    try configure(&configuration)
    context = JobContext(configuration)
    pressure = configuration.memoryPressure.flatMap { configuration.memoryCache?.trims(under: $0) }
  }

  var configuration: Configuration { context.configuration }

  /// The caches as one.
  public var cache: PipelineCache { PipelineCache(context) }

  /// How many jobs are under way: 0 when nothing is being loaded.
  package var jobCount: Int { context.turn { context.pool.count(&$0) } }

  // MARK: Images

  /// The image, if it is in memory: one look-up, no waiting.
  ///
  /// It may be one whose time is over, and then says so. Without ``CacheAccess/memoryReads`` there is none.
  public func cachedImage(for request: ImageRequest) -> ImageResponse? {
    // Without a delegate the request is not even copied.
    context.delegate == nil
      ? context.imageInMemory(request) : context.imageInMemory(request.prepared(by: context.delegate))
  }

  /// Loads an image; see ``ImageTask/image``.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting task is cancelled.
  public func image(for request: ImageRequest) async throws(LoadError) -> Bitmap {
    // A hit costs neither a task nor a hop. Whoever is told of requests is told of this one, too.
    guard context.recorder == nil else { return try await imageTask(for: request).image }
    // Without a delegate a hit needs no other key than that of the image.
    let rewritten = context.delegate == nil ? request : request.prepared(by: context.delegate)
    if let hit = context.imageInMemory(rewritten), !hit.isStale { return hit.image }
    let task = ImageTask(request, context, priority: rewritten.priority)
    begin(task, rewritten.prepared(by: nil))
    return try await task.image
  }

  /// Loads an image of a URL; see ``ImageTask/image``.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting task is cancelled.
  public func image(for url: URL) async throws(LoadError) -> Bitmap { try await image(for: ImageRequest(url: url)) }

  /// Begins to load an image.
  ///
  /// The task goes on whether or not it is kept, and keeps what it needs of the pipeline until it ends.
  public func imageTask(for request: ImageRequest) -> ImageTask { imageTask(for: request, isWatching: false, nil) }

  /// Begins to load an image of a URL.
  public func imageTask(for url: URL) -> ImageTask { imageTask(for: ImageRequest(url: url)) }

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
    let task = ImageTask(request, context, priority: prepared.priority, observer: observer)
    if let hit = context.imageInMemory(prepared), !hit.isStale {
      task.end(.success(hit))
      return task
    }
    guard let scope else {
      begin(task, prepared, isWatching: isWatching)
      return task
    }
    let hasBegun = scope.add(task) { [self] in begin(task, prepared, isWatching: isWatching) }
    if !hasBegun { hold(task, prepared) }
    return task
  }

  /// Lets a task be cancelled by its request while it waits for its scope.
  private func hold(_ task: ImageTask, _ request: ImageRequest) {
    context.turn { [context] turn in
      let key = context.imageKey(of: request, step: request.processors.count)
      context.pool.hold(task, for: key, request.keys, &turn)
    }
    task.whenEnded { [context, unowned task] in context.turn { context.pool.release(task, &$0) } }
  }

  private func begin(_ task: ImageTask, _ request: ImageRequest, isWatching: Bool = false) {
    context.turn { context.begin(task, request, isWatching: isWatching, &$0) }
  }

  /// Begins to load an image, and calls back when it is there or has failed.
  ///
  /// - Parameters:
  ///   - request: What to load.
  ///   - completion: Called once, on any thread, also before this returns where the image is in memory, and with an error of
  ///     code `.cancelled` when the task is cancelled. It may do anything: load, cancel, clear a cache, block.
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

  /// Begins to load an image, and calls back on the main actor when it is there or has failed.
  ///
  /// ```swift
  /// pipeline.loadImage(for: request, on: MainActor.shared) { result in
  ///   if case .success(let response) = result { show(response.image) }
  /// }
  /// ```
  /// On Linux the main actor needs a main queue that runs: `dispatchMain()`, an `async` `main`, or, in a program of GTK,
  /// `MainActorSource`. Without one the completion is never called.
  ///
  /// - Parameters:
  ///   - request: What to load.
  ///   - actor: The main actor.
  ///   - isolation: The actor of the caller; leave it out.
  ///   - completion: Called once, before this returns where the caller is on the main actor and the image is in memory; with an
  ///     error of code `.cancelled` when the task is cancelled.
  /// - Returns: The task, to be cancelled or watched; it need not be kept.
  @discardableResult
  public func loadImage(
    for request: ImageRequest,
    on actor: MainActor,
    isolation: isolated (any Actor)? = #isolation,
    completion: @escaping @MainActor (Result<ImageResponse, LoadError>) -> Void,
  ) -> ImageTask {
    let task = imageTask(for: request)
    if isolation === actor, let result = task.result {
      MainActor.assumeIsolated { completion(result) }
      return task
    }
    task.whenEnded {
      guard let result = task.result else { return }
      Task { @MainActor in completion(result) }
    }
    return task
  }

  /// Ends every task that waits for exactly this image, with an error of code `.cancelled`; who asks afterwards loads it.
  ///
  /// Does nothing where none does.
  public func cancel(for request: ImageRequest) {
    let request = request.prepared(by: context.delegate)
    context.turn { [context] turn in
      let key = context.imageKey(of: request, step: request.processors.count)
      let error = LoadError(.cancelled, .request, request.name, "cancelled")
      let heldBack = context.pool.cancelCallers(of: key, error, &turn)
      turn.afterwards { for task in heldBack { task.cancel() } }
    }
  }

  /// Ends every task for this URL, with an error of code `.cancelled`.
  ///
  /// That is every size of its image, however processed, with whichever header fields and in whichever
  /// ``ImageRequest/cachePartition``. Tasks for several sources (``ImageSource/first(of:)``) and what a prefetcher loads to disk
  /// go on. Does nothing where there is no such task. Complexity: O(n) over all that is being loaded.
  public func cancel(for url: URL) {
    let request = ImageRequest(url: url)
    var sources = [request.prepared(by: context.delegate).keys]
    // A delegate may have sent some of them elsewhere, and others not.
    if context.delegate != nil { sources.append(request.keys) }
    context.turn { [context] turn in
      let error = LoadError(.cancelled, .request, request.name, "cancelled")
      for source in sources {
        let heldBack = context.pool.cancelCallers(ofSource: source, error, &turn)
        turn.afterwards { for task in heldBack { task.cancel() } }
      }
    }
  }
}

extension JobContext {
  /// Has a task wait for the job of its image, or for the interceptors.
  fileprivate func begin(_ task: ImageTask, _ request: ImageRequest, isWatching: Bool, _ turn: inout Turn) {
    guard !task.isEnded else { return }
    if !configuration.interceptors.isEmpty {
      let job = InterceptJob(request, self)
      pool.add(job, &turn)
      // What was served is dealt with where it is.
      return task.subscribe(to: job, for: nil, isWatching: isWatching, &turn) { job.keepFetching(&$0) }
    }
    var onCancel: (@Sendable (inout Turn) -> Void)?
    if request.continuesDownload { onCancel = { [self] in keepFetching(request, &$0) } }
    task.subscribe(to: imageJob(request, &turn), for: request, isWatching: isWatching, &turn, onCancel: onCancel)
  }

  /// The image of a request that has been prepared, if it is in memory.
  func imageInMemory(_ request: ImageRequest) -> ImageResponse? {
    let policy = request.cachePolicy
    guard policy != .reload, let memory = memory(for: request, .memoryReads) else { return nil }
    if let image = memory.value(for: request.imageKey)?.loaded, image.validity.answers(fields(of: request)) {
      return ImageResponse(image, from: .memory, isStale: !image.validity.isFresh(at: clock.now, policy))
    }
    return request.alternatives?.lazy.compactMap(imageInMemory).first
  }
}
