import VitrineRuntime

/// The part of a pipeline that a slot needs.
package protocol ImageLoading: AnyObject, Sendable {
  /// Returns the image if it is in memory; does not wait.
  func cachedImage(for request: ImageRequest) -> ImageResponse?

  /// Returns the closest image in memory.
  func cachedVariant(for request: ImageRequest) -> CachedVariant?

  /// Forgets that a request's sources have failed, so that the next load asks their servers.
  func forgetFailure(of request: ImageRequest)

  /// Marks a request's image in memory as in use for as long as the returned value lives.
  func hold(_ request: ImageRequest) -> (any Sendable)?

  /// Calls a closure on any thread for each refresh, with a function that returns `true` for the refreshed requests, as
  /// long as the returned value lives.
  func observeRefreshes(
    _ observer: @escaping @Sendable (_ isRefreshed: @escaping @Sendable (ImageRequest) -> Bool) -> Void
  ) -> any Sendable

  /// Starts to load an image; in a scope, as soon as the scope allows it.
  ///
  /// `observer` is called on any thread, in order, also before this method returns. It receives the result and, if
  /// `isWatching`, earlier progress and previews.
  func startLoading(
    _ request: ImageRequest,
    isWatching: Bool,
    in scope: LoadScope?,
    observer: @escaping @Sendable (ImageEvent) -> Void,
  ) -> any RunningLoad
}

extension ImagePipeline: ImageLoading {
  package func forgetFailure(of request: ImageRequest) {
    let request = context.prepared(request)
    for source in request.alternatives ?? [request] { context.network.failures.forget(source.keys.fetch) }
  }

  package func hold(_ request: ImageRequest) -> (any Sendable)? {
    let request = context.prepared(request)
    if let alternatives = request.alternatives { return alternatives.lazy.compactMap { self.hold($0) }.first }
    // A request that bypassed the memory cache does not show the image in it.
    return request.cacheAccess.isDisjoint(with: .memory) ? nil : context.memoryCache?.hold(request.imageKey)
  }

  package func observeRefreshes(
    _ observer: @escaping @Sendable (_ isRefreshed: @escaping @Sendable (ImageRequest) -> Bool) -> Void
  ) -> any Sendable { context.refreshes.add(observer) }

  package func startLoading(
    _ request: ImageRequest,
    isWatching: Bool,
    in scope: LoadScope?,
    observer: @escaping @Sendable (ImageEvent) -> Void,
  ) -> any RunningLoad {
    imageTask(for: request, isWatching: isWatching, in: scope, isCaller: false, observer)
  }
}
