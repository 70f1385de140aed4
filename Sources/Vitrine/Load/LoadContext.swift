import Synchronization
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The parts that the loads of a pipeline share: running loads and queues, and the parts of a ``PlanContext``.
final class LoadContext: PlanContext, @unchecked Sendable {
  // @unchecked: as its superclass, all properties are constant.
  let images: SharedWork<LoadKey, ImageResponse, LoadError>
  let bytes: SharedWork<LoadKey, FetchedBytes, LoadError>
  let files: SharedWork<LoadKey, EncodedImage, LoadError>
  /// The objects that show or prefetch images, and load them again when their source is refreshed.
  let refreshes = RefreshObservers()
  /// The loads that wait for the load of the same image.
  let counterparts = Counterparts()
  /// The number of loads of images that are made to be encoded.
  private let exactLoads = Atomic(0)
  /// The number of the last load that is not shared.
  private let lastTask = Atomic(0)
  let decodeQueue: WorkQueue
  /// The queue of work that must not wait while images are encoded, which takes seconds: headers, and the first images of
  /// lanes.
  let promptQueue: WorkQueue
  /// The queue of passes over whole files, which take seconds and must not hold up other decodes.
  let passQueue: WorkQueue
  let fileReads: FileReads
  /// The queue for a program's closures that are due on a loader's thread; `nil` runs them there.
  let callbackQueue: WorkQueue?
  /// The memory that concurrent decodes hold together.
  let decodeBudget: ByteBudget
  /// The places of images that are made to be encoded.
  let places: MakingPlaces
  let decodeWatch: DecodeWatch
  private let coordinator: WorkCoordinator?

  /// The niceness of the threads that decode and process.
  ///
  /// A decode for one caller must not delay hits in memory or a window's frames. But it must also finish when other
  /// programs keep all cores busy: at 10, between 40 and 240 of 246 cells of a scrolled grid then came to rest with
  /// their image; at 5, at least 228. As many frames were slow at both. At 19, the main thread waited 37 ms for a lock
  /// whose holder, a decode thread, was not given the processor.
  static let niceness: CInt = 5

  init(_ configuration: PipelineConfiguration) {
    let (queueLimit, hasThreads) = (configuration.queueLimit, configuration.stepper == nil)
    func queue(_ label: String, width: Int = configuration.maxConcurrentDecodes, limit: Int? = queueLimit) -> WorkQueue
    {
      WorkQueue(label: label, width: width, queueLimit: limit, niceness: Self.niceness, hasThreads: hasThreads)
    }
    let trim = AllocatorTrim(configuration.clock)
    images = SharedWork(executor: .inline) { trim.schedule() }
    bytes = SharedWork(executor: .inline) { trim.schedule() }
    files = SharedWork(executor: configuration.stepper)
    decodeQueue = queue("decode")
    promptQueue = queue("prompt", limit: nil)
    passQueue = queue("tiles", width: 2, limit: nil)
    decodeBudget = ByteBudget(limit: configuration.maxConcurrentDecodeBytes)
    places = MakingPlaces(
      limit: 2 * max(1, configuration.maxConcurrentDecodes),
      guestLimit: max(1, configuration.maxConcurrentDecodes),
      byteLimit: configuration.maxConcurrentDecodeBytes,
      queueLimit: queueLimit,
    )
    fileReads = FileReads(queueLimit: queueLimit, clock: configuration.clock)
    let (feed, pending) = (EventFeed(configuration), PendingWrites(configuration.stepper))
    decodeWatch = DecodeWatch(configuration, feed)
    coordinator = WorkCoordinator(configuration, pending)
    let hookQueue = WorkQueue(label: "hooks", width: 4)
    callbackQueue = hasThreads ? hookQueue : nil
    super.init(configuration, feed, pending, processQueue: queue("process"), hookQueue: hookQueue)
  }

  /// Returns the queue for work on an image: a given one, unless it is busy and the image is the first of its lane.
  func queue(_ queue: WorkQueue, for place: MakingPlace?) -> WorkQueue {
    place?.isFirst == true && queue.runningCount >= queue.width ? promptQueue : queue
  }

  /// Encodes a picture on the calling thread, within the memory of all decodes.
  func encode(
    _ image: ImageContainer,
    as encoding: ImageEncoding,
    _ item: WorkItem,
  ) throws(ImageError) -> (data: Data, format: ImageFormat) {
    let share = MemoryShare(of: decodeBudget)
    defer { share.release() }
    return try configuration.encoders.encode(
      image,
      as: encoding,
      within: share,
      limit: configuration.maxEncodeBytes,
      isCancelled: { item.isCancelled },
    )
  }

  /// Returns a new task.
  func task<Value: Sendable>(
    for request: ImageRequest,
    _ purpose: StageRecorder.Purpose,
    priority: Priority,
    isCaller: Bool = true,
    observer: (@Sendable (LoadEvent<Value>) -> Void)? = nil,
  ) -> LoadTask<Value> {
    LoadTask(
      request,
      recorder?.request(request, for: purpose),
      callbacks: callbackQueue,
      priority: priority,
      isCaller: isCaller,
      observer: observer,
    )
  }

  /// Returns the coordinator of a request's work with other machines; `nil` if the request has none.
  func coordinator(for request: ImageRequest) -> WorkCoordinator? {
    guard let coordinator, request.keys.url != nil, request.isPlainGet, request.cachePolicy != .reload,
      request.cacheAccess.contains(.disk)
    else { return nil }
    return coordinator
  }

  // MARK: Keys

  func imageKey(of request: ImageRequest, step: Int) -> LoadKey {
    imageKey(of: request, step: step, requiresExactPixels: request.requiresExactPixels)
  }

  /// Returns the key of the same image with the opposite ``ImageRequest/requiresExactPixels``.
  func counterpartKey(of request: ImageRequest, step: Int) -> LoadKey {
    imageKey(of: request, step: step, requiresExactPixels: !request.requiresExactPixels)
  }

  private func imageKey(of request: ImageRequest, step: Int, requiresExactPixels: Bool) -> LoadKey {
    let product = LoadKey.Product.image(
      storage(of: request),
      keepsEncodedData: request.keepsEncodedData,
      requiresExactPixels: requiresExactPixels,
    )
    return LoadKey(request.keys.key(step: step), product, of: request, caches(of: request))
  }

  func bytesKey(of request: ImageRequest) -> LoadKey {
    // Bytes are not kept in memory, so memory access keeps no two requests apart.
    // Thumbnails of a file differ by their size.
    let key = request.keys.source.isThumbnail ? request.keys.decode : request.keys.fetch
    return LoadKey(key, .bytes, of: request, caches(of: request).intersection(.disk))
  }

  /// Returns the key, or one for a single task if no other may share the load.
  func shared(_ key: LoadKey, _ isShared: Bool = true) -> LoadKey {
    isShared && configuration.isCoalescingEnabled ? key : key.ofTask(nextTask())
  }

  /// Returns the number of a load that is not shared.
  func nextTask() -> Int { lastTask.add(1, ordering: .relaxed).newValue }

  // MARK: Loads

  /// A Boolean value that indicates whether images are being made to be encoded.
  var hasExactLoads: Bool { exactLoads.load(ordering: .relaxed) > 0 }

  /// Counts a load of an image that is made to be encoded, at its beginning or its end.
  func countExactLoads(_ change: Int) { exactLoads.add(change, ordering: .relaxed) }

  /// Returns the load of a request's image after some of its processors, by default all; a new one begins with `start`.
  func imageLoad(
    _ request: ImageRequest,
    step: Int? = nil,
    _ start: ImageLoad.Start = .unknown,
    isShared: Bool = true,
  ) -> SharedLoad<ImageResponse> {
    let request = varied(request)
    let step = step ?? request.processors.count
    let key = shared(imageKey(of: request, step: step), isShared && !isOutdated(start, of: request))
    guard request.alternatives != nil else {
      return SharedLoad(key: key) { [self] handle in
        ImageLoad(request, step: step, start, self, handle).load()
      }
    }
    return SharedLoad(key: key) { [self] handle throws(LoadError) in
      try await traced(.sources, request.name, handle) { trace throws(LoadError) in
        try await first(of: request) { alternative throws(LoadError) in
          let load = imageLoad(alternative, step: step)
          let image = try await handle.value(of: load, in: images, trace, partial: { handle.send(partial: $0) })
          if image.isRevalidationDue { revalidate(alternative, asImage: true) }
          return image
        }
      }
    }
  }

  /// Returns true for knowledge from before a removal of the source, or before a response with other bytes.
  private func isOutdated(_ start: ImageLoad.Start, of request: ImageRequest) -> Bool {
    switch start {
    case .bytes(let bytes): isOutdated(bytes, of: request)
    case .plan(_, _, _, let sequence): sources.record(of: request.keys.fetch).wasRemoved(since: sequence)
    case .unknown, .anew: false
    }
  }

  /// Returns true for bytes that have been replaced or removed since they were asked for.
  private func isOutdated(_ bytes: FetchedBytes, of request: ImageRequest) -> Bool {
    guard let sequence = bytes.sequence else { return false }
    return sources.record(of: request.keys.fetch).isOutdated(sequence, bytes.contentID)
  }

  /// Returns the load of a request's bytes; a new one does not look on disk if `original` is known.
  ///
  /// With ``StoredOriginal/head(_:)``, a response that confirms the bytes has none. Bytes that are on their way to another
  /// caller are joined instead: they say, too, whether the known ones are still current. With `lends`, a large file may be
  /// opened and not read.
  func bytesLoad(
    _ request: ImageRequest,
    original: StoredOriginal = .unknown,
    record: SourceRecord? = nil,
    lends: Bool = false,
  ) -> SharedLoad<FetchedBytes> {
    let known = request.keys.fetch
    let request = varied(request)
    // The known entry belongs to another variant.
    let isOther = request.keys.fetch != known
    let sharedKey = bytesKey(of: request)
    let isOnItsWay = original.head != nil && bytes.isRunning(sharedKey)
    let (original, record) = isOther || isOnItsWay ? (.unknown, nil) : (original, record)
    let key = shared(
      original.head.map { sharedKey.validating($0.contentID) } ?? sharedKey,
      request.alternatives == nil,
    )
    guard request.alternatives == nil else {
      return SharedLoad(key: key) { [self] handle throws(LoadError) in
        try await traced(.sources, request.name, handle) { trace throws(LoadError) in
          try await first(of: request) { alternative throws(LoadError) in
            try await handle.value(of: bytesLoad(alternative), in: bytes, trace, partial: { handle.send(partial: $0) })
          }
        }
      }
    }
    guard case .url = request.keys.source.kind else {
      let lends = lends && request.keys.source.isFile
      return SharedLoad(key: lends ? key.lent : key) { [self] handle throws(LoadError) in
        try await LocalLoad(request.keys.source, self, handle, lends: lends).load()
      }
    }
    return SharedLoad(key: key) { [self] handle in
      if let bytes = arrivedBytes(for: key, of: request) { return handle.end(.success(bytes)) }
      let record = record ?? sources.record(of: request.keys.fetch)
      BytesLoad(request, sharedKey, original, record, self, handle).load()
    }
  }

  /// Returns bytes that have just come and still answer a request.
  private func arrivedBytes(for key: LoadKey, of request: ImageRequest) -> FetchedBytes? {
    guard request.cachePolicy != .reload, !request.revalidates, let bytes = arrived.bytes(for: key),
      bytes.validity.isFresh(at: clock.now, request), !isOutdated(bytes, of: request)
    else { return nil }
    return bytes
  }

  /// Returns true if the bytes of a request are being fetched.
  func isFetching(_ request: ImageRequest) -> Bool {
    (request.alternatives ?? [request]).map { bytesKey(of: $0) }.contains {
      bytes.isRunning($0) || bytes.isRunning($0.lent)
    }
  }

  // MARK: Callers

  /// Ends the tasks for exactly this image that calls of the pipeline began.
  func cancelCallers(of request: ImageRequest) {
    let key = imageKey(of: request, step: request.processors.count)
    let hasLoadsOfOneTask = lastTask.load(ordering: .relaxed) > 0
    let error = LoadError(.cancelled, .request, request.name, "cancelled")
    images.cancelCallers(error, of: key, where: hasLoadsOfOneTask ? { $0.isOfOneTask(key) } : nil)
  }

  /// Ends the tasks of a source that calls of the pipeline began.
  func cancelCallers(ofSource source: RequestKeys, _ error: LoadError) {
    images.cancelCallers(error) { $0.source.hasSource(of: source) }
    bytes.cancelCallers(error) { $0.source.hasSource(of: source) }
    files.cancelCallers(error) { $0.source.hasSource(of: source) }
  }

  /// Gives the running loads of a source, or all for `nil`, keys that no later request has; they continue for their
  /// present subscribers.
  func detachLoads(of source: RequestKeys?) {
    let newKey = { [self] (key: LoadKey) -> LoadKey? in
      key.isShared && source.map { key.source.mayUse($0) } ?? true ? key.ofTask(nextTask()) : nil
    }
    images.detach(newKey)
    bytes.detach(newKey)
    files.detach(newKey)
  }

  // MARK: In the background

  /// Revalidates an image that was served stale.
  func served(_ image: ImageResponse, _ request: ImageRequest) {
    // With several sources, the load of the alternative that had the image revalidates it.
    guard image.isRevalidationDue, !request.keys.hasAlternatives else { return }
    revalidate(request, asImage: true)
  }

  /// Revalidates bytes that were served stale, once for all callers.
  func revalidate(_ request: ImageRequest, asImage: Bool) {
    var request = request
    request.revalidates = true
    let last = request.processors.count
    let known = asImage ? findingsInMemory(request, step: last, at: clock.now).known : nil
    let head = known.flatMap { $0.step == last ? self.head(of: $0.image, request) : nil }
    let load = bytesLoad(request, original: head ?? .unknown)
    guard !bytes.isRunning(load.key) else { return }
    let task: LoadTask<FetchedBytes> = task(for: request, .revalidation, priority: .low, isCaller: false)
    task.begin(load, in: bytes) { [self, request] task, result in
      guard case .success(let fresh) = result, asImage, fresh.origin == .network, !isInMemory(fresh, request) else {
        // Unchanged bytes have been decoded before.
        if case .success(let fresh) = result { fresh.commit?.accept() }
        return task.end(result)
      }
      // New bytes may be anything.
      let trace = task.trace
      images.subscribe(to: imageLoad(request, .bytes(fresh)), WorkDemand(.low, storesResult: true), trace) { image in
        task.end(image.map { _ in fresh })
      }
    }
  }

  private func isInMemory(_ bytes: FetchedBytes, _ request: ImageRequest) -> Bool {
    let last = request.processors.count
    let known = findingsInMemory(request, step: last, at: clock.now).known
    return known?.step == last && known?.image.contentID == bytes.contentID
  }

  /// Fetches the bytes of an image for the disk; they are stored if they have the header of an image.
  ///
  /// `load` joins or begins the load of the bytes; by default it does either.
  func fetchForDisk(
    _ request: ImageRequest,
    _ load: SharedLoad<FetchedBytes>? = nil,
    priority: Priority,
    onEnd: @escaping @Sendable (Result<FetchedBytes, LoadError>) -> Void = { _ in },
  ) -> LoadTask<FetchedBytes> {
    let task: LoadTask<FetchedBytes> = task(for: request, .data, priority: priority, isCaller: false) { event in
      if case .finished(let result) = event { onEnd(result) }
    }
    task.begin(load ?? bytesLoad(request), in: bytes) { [self] task, result in
      guard case .success(let fetched) = result else { return task.end(result) }
      if fetched.isRevalidationDue { revalidate(request, asImage: false) }
      guard let commit = fetched.commit else { return task.end(result) }
      let judge: @Sendable () -> Void = { [self] in
        if let isImage = decoders.isImage(fetched.data, request) { isImage ? commit.accept() : commit.reject() }
      }
      // The verdict is a pending write, so that `flush` waits for the bytes.
      cacheWriter.pending.add { [self] in
        // The verdict needs a worker, since a delegate may choose the decoders.
        if (try? await processQueue.run(priority: priority, { _ in judge() })) == nil { judge() }
        // The end is not awaited, since its receiver may wait for pending writes.
        if (try? processQueue.enqueue(priority: priority, { _ in task.end(result) })) == nil { task.end(result) }
      }
    }
    return task
  }

  /// Keeps a running download going in place of a leaving caller.
  func keepFetching(_ request: ImageRequest) {
    // Without access to the disk, nothing would be stored.
    guard caches(of: request).contains(.diskWrites) else { return }
    for source in request.alternatives ?? [request] where isTransferring(source) {
      // A download that has ended meanwhile is not begun anew.
      let load = SharedLoad<FetchedBytes>(key: bytesKey(of: source)) { _ throws(LoadError) in throw .cancelled }
      _ = fetchForDisk(source, load, priority: .veryLow)
    }
  }

  /// Returns true if a running load has sent a request for the bytes of this one.
  private func isTransferring(_ request: ImageRequest) -> Bool {
    // Only a load that has sent a request has a progress.
    let probe = bytes.join(bytesKey(of: request), WorkDemand(.veryLow)) { _ in }
    defer { probe?.cancel() }
    return probe?.progress != nil
  }
}

extension SharedWork where Key == LoadKey, Failure == LoadError {
  /// Joins or starts a load in the background.
  func subscribe(
    to load: SharedLoad<Value>,
    _ demand: WorkDemand,
    _ trace: StageTrace?,
    onEnd: @escaping @Sendable (Outcome) -> Void,
  ) {
    let receive = { @Sendable (event: Event) in
      switch event {
      case .identified(let stage): trace?.wait(for: stage as? StageTrace)
      case .finished(let result): onEnd(result)
      case .progress, .partial: break
      }
    }
    subscribe(to: load.key, demand, receive: receive, start: load.start)
  }
}

extension EventFeed {
  /// Creates the feed of a pipeline; returns `nil` if it has no observers and no log.
  fileprivate convenience init?(_ configuration: PipelineConfiguration) {
    self.init(
      configuration.observers,
      log: configuration.log,
      disk: configuration.diskCache,
      clock: configuration.clock,
    )
  }
}
