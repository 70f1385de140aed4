import VitrineCaching
import VitrineHTTP
import VitrineImaging
public import VitrineRuntime

extension ImagePipeline {
  /// Loads the encoded bytes of a request, which need not be an image, through the same caches as an image.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func data(for request: ImageRequest) async throws(LoadError) -> Data {
    let prepared = context.prepared(request)
    if let warm = context.warmData(prepared) { return warm.data }
    return try await start(context.task(for: request, .data, priority: prepared.priority), prepared).data
  }

  /// Loads the bytes of a URL; see ``data(for:)-(ImageRequest)``.
  ///
  /// ```swift
  /// let data = try await pipeline.data(for: "https://example.org/cat.jpg")
  /// ```
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func data(for url: some URLConvertible) async throws(LoadError) -> Data {
    try await data(for: ImageRequest(url.imageSource))
  }

  /// Starts to load encoded bytes, which need not be an image.
  ///
  /// ```swift
  /// let response = try await pipeline.dataTask(for: request).response
  /// print(response.data.count, response.origin, response.headers["Content-Type"] ?? "")
  /// ```
  /// The task runs until it ends, even if it is not retained.
  public func dataTask(for request: ImageRequest) -> DataTask {
    let prepared = context.prepared(request)
    let task: DataTask = context.task(for: request, .data, priority: prepared.priority)
    guard let warm = context.warmData(prepared) else { return start(task, prepared) }
    task.end(.success(warm))
    return task
  }

  /// Starts to load the bytes of a URL; see ``dataTask(for:)-(ImageRequest)``.
  public func dataTask(for url: some URLConvertible) -> DataTask { dataTask(for: ImageRequest(url.imageSource)) }

  /// Starts to load the encoded bytes of an image, which are copied and not decoded.
  ///
  /// Bytes that are no whole image end in the error of their decoder, and are not stored.
  package func originalTask(for request: ImageRequest) -> DataTask {
    let prepared = context.prepared(request)
    let task: DataTask = context.task(for: request, .data, priority: prepared.priority)
    task.begin(context.bytesLoad(prepared), in: context.bytes) { [context] task, result in
      guard case .success(let bytes) = result else { return task.end(result.map(DataResponse.init)) }
      let verify: @Sendable () -> Void = { task.end(context.verified(bytes, prepared).map(DataResponse.init)) }
      if (try? context.decodeQueue.enqueue(priority: prepared.priority, { _ in verify() })) == nil { verify() }
    }
    return task
  }

  private func start(_ task: DataTask, _ prepared: ImageRequest) -> DataTask {
    task.begin(context.bytesLoad(prepared), in: context.bytes) { [context] task, result in
      if case .success(let bytes) = result {
        // Any bytes are accepted, before the end, so that `flush` waits for bytes that a caller has received.
        bytes.commit?.accept()
        if bytes.isRevalidationDue { context.revalidate(prepared, asImage: false) }
      }
      task.end(result.map(DataResponse.init))
    }
    return task
  }
}

extension LoadContext {
  /// Has bytes stored if they are a whole image, and dropped if they are none.
  fileprivate func verified(_ bytes: FetchedBytes, _ request: ImageRequest) -> Result<FetchedBytes, LoadError> {
    let job = DecodeJob(memoryShare: MemoryShare(of: decodeBudget), cores: decodeCores)
    do throws(ImageError) {
      try decoders.decoders(for: request, of: bytes.data).verify(bytes.data, decodeOptions(of: request), job)
    } catch {
      if error.isOfBytes { bytes.commit?.reject() }
      return .failure(LoadError(error, .decode, request.name))
    }
    bytes.commit?.accept()
    if bytes.isRevalidationDue { revalidate(request, asImage: false) }
    return .success(bytes)
  }

  /// Returns bytes that are on disk, fresh, and readable without a wait; `nil` if a load is needed.
  func warmData(_ request: ImageRequest) -> DataResponse? {
    guard recorder == nil, request.cachePolicy != .reload, !request.keys.hasAlternatives, !Task.isCancelled,
      let disk = disk(for: request, .diskReads) as? any WarmDataCaching,
      case .url = request.keys.source.kind, !cacheWriter.pending.isBusy(for: request.keys.fetch),
      case .entry(let entry) = disk.warmEntry(for: request.keys.fetch),
      let stored = StoredResponse(encoded: entry.metadata)
    else { return nil }
    var findings = CacheLookup()
    findings.original = CacheLookup.Original(contentID: entry.contentID, stored: stored)
    let plan = bytesPlan(request, "", findings, now: clock.now)
    guard case .serve(let isStale) = plan.step else { return nil }
    return DataResponse(entry, stored, isStale: isStale, of: request)
  }
}
