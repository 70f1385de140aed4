public import Vitrine
import VitrineRuntime

extension ImagePipeline {
  /// Fetches an image's bytes, through the caches, and opens it for reading a tile at a time.
  ///
  /// ```swift
  /// let image = try await pipeline.tiledImage(for: ImageRequest(url: url))
  /// let tile = try await image.tile(TiledImage.Tile(level: 0, column: 3, row: 2))
  /// ```
  /// The request's source, policies, priority, colour space and `acceptsPartial` are used; its size, processors and frame
  /// are not. Tiles of a damaged file throw an error unless the request accepts it.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - progress: A closure that is called with the progress of a download, on any thread. Defaults to `nil`.
  /// - Returns: The image, whose header has been read.
  /// - Throws: `LoadError`; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func tiledImage(
    for request: ImageRequest,
    progress: (@Sendable (LoadProgress) -> Void)? = nil,
  ) async throws(LoadError) -> TiledImage {
    let resources = resources
    let source = try await resources.bytes(for: request, progress: progress)
    // The reader is created on a queue, since a decoder may be a custom one, or in another process.
    let reader = try await resources.decode(source, priority: source.request.priority) {
      (_, options, _) throws(ImageError) in
      try TileReader(source, options.limits, resources)
    }
    return TiledImage(reader)
  }

  /// Opens the image at a URL for reading a tile at a time; see ``tiledImage(for:progress:)``.
  ///
  /// - Throws: `LoadError`; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func tiledImage(for url: some URLConvertible) async throws(LoadError) -> TiledImage {
    try await tiledImage(for: ImageRequest(url.imageSource))
  }
}
