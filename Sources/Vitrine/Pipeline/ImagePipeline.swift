import VitrineCaching
public import VitrineImaging
import VitrineRuntime

/// A pipeline that loads images from memory, disk, or the network, once for all callers.
///
/// ```swift
/// let image = try await ImagePipeline.shared.image(for: url)
/// ```
/// It is safe to use from any thread. Blocking work runs on threads of the pipeline's own.
public final class ImagePipeline: Sendable {
  /// The parts and settings of a pipeline.
  public typealias Configuration = PipelineConfiguration

  /// The program's pipeline, which needs no set-up.
  ///
  /// It has the defaults of ``Configuration``. Setting it is allowed at any time: later uses get the new pipeline, and
  /// loads of the earlier one continue.
  ///
  /// ```swift
  /// ImagePipeline.shared = try ImagePipeline { $0.decoders = try .sandboxed() }
  /// ```
  public static var shared: ImagePipeline {
    get { chosen.withLock { $0 } ?? standard }
    set {
      let earlier = chosen.withLock { chosen in
        defer { chosen = newValue }
        return chosen
      }
      // Its release may run code of the program's, so it is outside the lock.
      withExtendedLifetime(earlier) {}
    }
  }

  private static let standard = ImagePipeline()
  /// The pipeline that the program has set; `nil` for the standard one.
  private static let chosen = Lock<ImagePipeline?>(nil)

  /// A pipeline that stores nothing on disk.
  ///
  /// It does not share the memory cache of ``shared``.
  public static let ephemeral = ImagePipeline(.ephemeral)

  let context: LoadContext
  private let pressure: MemoryPressureObservation?
  private let background: ApplicationObservation?

  /// Creates a pipeline.
  ///
  /// Two pipelines with one configuration share its caches, its loader and its hooks, but no running work.
  ///
  /// - Parameter configuration: The parts. Defaults to a memory cache of the pipeline's own, and to the disk cache of
  ///   ``shared``.
  public init(_ configuration: Configuration = Configuration()) {
    context = LoadContext(configuration)
    pressure = configuration.memoryPressure.flatMap { configuration.memoryCache?.trims(under: $0) }
    // The system may terminate an app in the background without notice.
    background =
      configuration.diskCache == nil
      ? nil : ApplicationEvent.background.observe { [context] in Task { await PipelineCache(context).flush() } }
  }

  /// Creates a pipeline with changed parts.
  ///
  /// ```swift
  /// let pipeline = ImagePipeline { $0.maxConcurrentDecodes = 2 }
  /// let withoutDisk = ImagePipeline(.ephemeral) { $0.maxConcurrentDecodes = 2 }
  /// ```
  /// - Parameters:
  ///   - configuration: The parts. Defaults to `Configuration()`.
  ///   - configure: A closure that changes them.
  public convenience init(
    _ configuration: Configuration = Configuration(),
    _ configure: (inout Configuration) throws -> Void,
  ) rethrows {
    var configuration = configuration
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

  /// The number of images that are being made for encoding.
  package var makingCount: Int { context.places.count }

  /// The number of running loads.
  package var loadCount: Int { context.images.count + context.bytes.count + context.files.count }

  // MARK: Images

  /// Returns the image if it is in memory; does not wait.
  ///
  /// ```swift
  /// if let hit = pipeline.cachedImage(for: request) { show(hit.image) }
  /// ```
  /// A stale image is returned, too, and marked as such. Returns `nil` without ``CacheAccess/memoryReads``.
  public func cachedImage(for request: ImageRequest) -> ImageResponse? {
    // Without a delegate, the request is not even copied.
    context.delegate == nil
      ? context.imageInMemory(request) : context.imageInMemory(context.prepared(request))
  }

  /// Loads an image; see ``LoadTask/image``.
  ///
  /// ```swift
  /// let image = try await pipeline.image(for: ImageRequest(url: url, size: .pixels(300, 300)))
  /// ```
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func image(for request: ImageRequest) async throws(LoadError) -> Bitmap {
    // A hit costs neither a task nor a hop, unless observers must be notified.
    guard context.recorder == nil else { return try await imageTask(for: request).image }
    // Without a delegate, a hit needs only the image's own key.
    let rewritten = context.delegate == nil ? request : context.prepared(request)
    if let hit = context.imageInMemory(rewritten), !hit.isStale { return hit.image }
    let task: ImageTask = context.task(for: request, .image, priority: rewritten.priority)
    begin(task, context.varied(rewritten).prepared(by: nil))
    return try await task.image
  }

  /// Loads the image at a URL; see ``LoadTask/image``.
  ///
  /// ```swift
  /// let image = try await pipeline.image(for: "https://example.org/cat.jpg")
  /// ```
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func image(for url: some URLConvertible) async throws(LoadError) -> Bitmap {
    try await image(for: ImageRequest(url.imageSource))
  }

  /// Starts to load an image.
  ///
  /// ```swift
  /// let task = pipeline.imageTask(for: request)
  /// task.priority = .veryHigh
  /// let response = try await task.response
  /// ```
  /// The task runs even if it is not retained, and retains the parts of the pipeline that it needs until it ends.
  public func imageTask(for request: ImageRequest) -> ImageTask { imageTask(for: request, isWatching: false, nil) }

  /// Starts to load the image at a URL.
  public func imageTask(for url: some URLConvertible) -> ImageTask { imageTask(for: ImageRequest(url.imageSource)) }

  /// Starts to load an image for an observer; see ``ImageTask``'s initializer.
  ///
  /// With a scope, the load begins as soon as the scope allows it. `isCaller` is `false` for a load of a view or a
  /// prefetcher; such a load and one of a scope are not ended by ``cancel(for:)-(ImageRequest)``.
  func imageTask(
    for request: ImageRequest,
    isWatching: Bool,
    in scope: LoadScope? = nil,
    isCaller: Bool = true,
    _ observer: (@Sendable (ImageEvent) -> Void)?,
  ) -> ImageTask {
    let prepared = context.prepared(request)
    let task = context.task(
      for: request,
      .image,
      priority: prepared.priority,
      isCaller: isCaller && scope == nil,
      observer: observer,
    )
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
    context.begin(task, request, isWatching: isWatching)
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

  /// Starts to load an image, and calls back on an actor with the result.
  ///
  /// ```swift
  /// pipeline.loadImage(for: request, on: MainActor.shared) { result in
  ///   if case .success(let response) = result { show(response.image) }
  /// }
  /// ```
  /// On Linux, the main actor needs a running main queue: `dispatchMain()`, an `async` `main`, or, in a GTK program,
  /// `MainActorSource`. Without one, the completion is never called.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - actor: The caller's actor: `MainActor.shared`, `self` within an actor, or `#isolation` for either.
  ///   - completion: A closure called once, on the actor, before this method returns if the image is in memory, and with
  ///     code `.cancelled` if the task is cancelled. It may use what belongs to the actor.
  /// - Returns: The task, for cancelling and watching; it need not be kept.
  @discardableResult
  public func loadImage(
    for request: ImageRequest,
    on actor: isolated any Actor,
    completion: @escaping (Result<ImageResponse, LoadError>) -> Void,
  ) -> ImageTask {
    let task = imageTask(for: request)
    if let result = task.result {
      completion(result)
      return task
    }
    Task {
      // Names the actor, so that this runs on it.
      _ = actor
      do throws(LoadError) {
        completion(.success(try await task.response))
      } catch {
        completion(.failure(error))
      }
    }
    return task
  }

  /// Cancels the pipeline's own tasks for exactly this image, with an error of code `.cancelled`.
  ///
  /// These are the tasks that calls of the pipeline began. The loads of a ``LoadScope``, an ``ImageSlot`` or an
  /// ``ImagePrefetcher`` continue: each of them cancels its own. Does nothing if there is no such task.
  public func cancel(for request: ImageRequest) {
    context.cancelCallers(of: context.prepared(request))
  }

  /// Cancels the pipeline's own tasks for this URL, with an error of code `.cancelled`.
  ///
  /// This covers every size of its image, with any processors, and its bytes, with any header fields and any
  /// ``ImageRequest/cachePartition``. Tasks for several sources (``ImageSource/first(of:)``) continue, as do the
  /// loads of scopes, slots and prefetchers. Does nothing if there is no such task. Complexity: O(n) in the number of
  /// running loads.
  public func cancel(for url: some URLConvertible) {
    let request = ImageRequest(url.imageSource)
    let error = LoadError(.cancelled, .request, request.name, "cancelled")
    for source in context.sources(of: request) { context.cancelCallers(ofSource: source, error) }
  }

  /// Forgets recent failures, so that failed sources are loaded again, for instance after the network has come back.
  ///
  /// See ``PipelineConfiguration/remembersFailures``. Does not block.
  public func forgetFailures() { context.network.failures.removeAll() }

  /// Waits until ``PipelineConfiguration/observers`` and ``PipelineConfiguration/log`` have received all events so far.
  ///
  /// Call it before a program ends. Returns at once if neither is set.
  public func flushEvents() async {
    guard let feed = context.recorder?.feed else { return }
    await withCheckedContinuation { continuation in feed.afterAll { continuation.resume() } }
  }
}

extension PipelineConfiguration {
  /// The configuration of ``ImagePipeline/shared``, for a pipeline that differs in a few parts and shares the others.
  ///
  /// ```swift
  /// let patient = ImagePipeline(.shared) { $0.retryPolicy = .exponential(maxAttempts: 10) }
  /// ```
  public static var shared: PipelineConfiguration { ImagePipeline.shared.configuration }
}

extension LoadContext {
  /// Returns the keys under which requests for a URL run: a delegate may rewrite the URL in some, and not in others.
  func sources(of request: ImageRequest) -> [RequestKeys] {
    delegate == nil ? [request.keys] : [prepared(request).keys, request.keys]
  }

  /// Begins the load of a task's image, or its interceptors.
  fileprivate func begin(_ task: ImageTask, _ request: ImageRequest, isWatching: Bool) {
    if !configuration.interceptors.isEmpty {
      let interception = Interception(request, self)
      let onCancel: @Sendable () -> Void = { interception.keepFetching() }
      // The intercepted loads revalidate stale images themselves.
      return task.begin(interception.load, in: images, isWatching: isWatching, onCancel: onCancel) { $0.end($1) }
    }
    var onCancel: (@Sendable () -> Void)?
    if request.continuesDownload { onCancel = { [self] in keepFetching(request) } }
    task.begin(imageLoad(request), in: images, isWatching: isWatching, onCancel: onCancel) { [self] task, result in
      if case .success(let image) = result { served(image, request) }
      task.end(result)
    }
  }
}
