import VitrineCaching
import VitrineImaging
import VitrineRuntime

extension ImagePipeline {
  /// Fetches an image's bytes, through the caches, and opens it for reading a tile at a time.
  ///
  /// ```swift
  /// let image = try await pipeline.tiledImage(for: ImageRequest(url: url))
  /// let tile = try await image.tile(TiledImage.Tile(level: 0, column: 3, row: 2))
  /// ```
  /// The request's source, policies, priority and colour space are used; its size, processors and frame are not.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - acceptsPartial: A Boolean value that indicates whether the decoded part of a damaged file is shown, with the
  ///     rest transparent. Defaults to `false`: tiles of such a file throw an error.
  /// - Returns: The image, of which only the header has been read.
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func tiledImage(
    for request: ImageRequest,
    acceptsPartial: Bool = false,
  ) async throws(LoadError) -> TiledImage {
    let prepared = context.varied(context.prepared(request))
    let bytes = try await context.bytes(for: prepared)
    let context = context
    let reader = try await context.tileWork(context.decodeQueue, prepared.name, prepared.priority) {
      _ throws(ImageError) in
      try TileReader(bytes, prepared, acceptsPartial: acceptsPartial, context)
    }
    return TiledImage(reader)
  }

  /// Opens the image at a URL for reading a tile at a time; see ``tiledImage(for:acceptsPartial:)``.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func tiledImage(for url: URL) async throws(LoadError) -> TiledImage {
    try await tiledImage(for: ImageRequest(url: url))
  }
}

extension JobContext {
  /// Fetches the bytes of a prepared request, which are stored if they are an image.
  func bytes(for request: ImageRequest) async throws(LoadError) -> FetchedBytes {
    let cancelled = LoadError(.cancelled, .fetch, request.name, "cancelled")
    guard !Task.isCancelled else { throw cancelled }
    let outcome = Deferred<Result<FetchedBytes, LoadError>>()
    let load = DataLoad(self) { outcome.resolve($0) }
    let result = await withTaskCancellationHandler {
      turn { load.begin(request, priority: request.priority, &$0) }
      // The handler may have come first.
      if Task.isCancelled { load.cancel() }
      return await outcome.value()
    } onCancel: {
      load.cancel()
      outcome.resolve(.failure(cancelled))
    }
    return try result.get()
  }

  /// Runs work on a tile on a queue, and waits for its result.
  ///
  /// Cancelling the awaiting task cancels the work, which is waited for.
  func tileWork<Output: Sendable>(
    _ queue: WorkQueue,
    _ source: String,
    _ priority: Priority,
    _ body: @escaping @Sendable (WorkItem) throws(ImageError) -> Output,
  ) async throws(LoadError) -> Output {
    do {
      return try await queue.run(priority: priority) { item in try body(item) }
    } catch let error as ImageError {
      throw LoadError(error, .decode, source)
    } catch is CancellationError {
      throw LoadError(.cancelled, .decode, source, "cancelled")
    } catch let error as LoadError {
      throw error
    } catch {
      throw LoadError(.overloaded, .decode, source, "too many images are waiting to be decoded")
    }
  }
}
