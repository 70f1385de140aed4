public import Vitrine
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
  /// - Returns: The image, whose header has been read.
  /// - Throws: `LoadError`; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func tiledImage(
    for request: ImageRequest,
    acceptsPartial: Bool = false,
  ) async throws(LoadError) -> TiledImage {
    let resources = resources
    let source = try await resources.bytes(for: request)
    // The reader is created on a queue, since a decoder may be a custom one, or in another process.
    let reader = try await resources.decode(source, priority: source.request.priority) {
      (_, options, _) throws(ImageError) in
      try TileReader(source, acceptsPartial: acceptsPartial, options.limits, resources)
    }
    return TiledImage(reader)
  }

  /// Opens the image at a URL for reading a tile at a time; see ``tiledImage(for:acceptsPartial:)``.
  ///
  /// - Throws: `LoadError`; with code `.cancelled`, at once, if the awaiting task is cancelled.
  public func tiledImage(for url: some URLConvertible) async throws(LoadError) -> TiledImage {
    try await tiledImage(for: ImageRequest(url.imageSource))
  }
}
