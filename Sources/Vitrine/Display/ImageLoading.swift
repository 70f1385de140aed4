package import VitrineRuntime

/// What a slot needs of a pipeline.
package protocol ImageLoading: Sendable {
  /// The image, if it is in memory: one look-up, no waiting.
  func cachedImage(for request: ImageRequest) -> ImageResponse?

  /// What is in memory that is most like the image.
  func cachedVariant(for request: ImageRequest) -> CachedVariant?

  /// Marks what is in memory for a request as in use, for as long as the answer lives.
  func hold(_ request: ImageRequest) -> (any Sendable)?

  /// Begins to load an image, in a scope when that lets it.
  ///
  /// `observer` is called on any thread, in order, also before this returns: with the end, and before that with progress and
  /// previews if it is watching.
  func startLoading(
    _ request: ImageRequest,
    isWatching: Bool,
    in scope: LoadScope?,
    observer: @escaping @Sendable (ImageEvent) -> Void,
  ) -> any RunningLoad
}

/// One caller's hold on an image that is being loaded.
package protocol RunningLoad: AnyObject, Sendable {
  var priority: Priority { get set }

  func cancel()
}

extension ImageTask: RunningLoad {}

extension ImagePipeline: ImageLoading {
  package func hold(_ request: ImageRequest) -> (any Sendable)? {
    let request = request.prepared(by: context.delegate)
    if let alternatives = request.alternatives { return alternatives.lazy.compactMap { self.hold($0) }.first }
    // What neither came from there nor went there is another picture.
    return request.cacheAccess.isDisjoint(with: .memory) ? nil : context.memoryCache?.hold(request.imageKey)
  }

  package func startLoading(
    _ request: ImageRequest,
    isWatching: Bool,
    in scope: LoadScope?,
    observer: @escaping @Sendable (ImageEvent) -> Void,
  ) -> any RunningLoad {
    imageTask(for: request, isWatching: isWatching, in: scope, observer)
  }
}
