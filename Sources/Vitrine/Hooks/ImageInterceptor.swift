/// A type that wraps the loading of images: it may load another image, answer itself, retry, or refuse.
///
/// ```swift
/// struct Fallback: ImageInterceptor {
///   func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
///     do {
///       return try await next(request)
///     } catch let error as LoadError where error.status == 404 {
///       var other = request
///       other.source = .resource("missing.png")
///       return try await next(other)
///     }
///   }
/// }
/// ```
/// An interceptor is called once for each task whose image is not fresh in memory, at the beginning of its work.
/// Coalescing and the caches come after it, so a second task for the same image calls it again. It is not called for
/// data (`data(for:)`, and prefetching to disk).
///
/// An interceptor that loads from its own pipeline, instead of with `next`, is called for that load, too. At a depth of
/// 32 such calls the load fails with ``LoadError/Code/intercepted``.
///
/// Its result goes to the task and into no cache: the pipeline stores images under the request that was passed to
/// `next`. To change pixels, use a processor. To change requests for look-ups in memory, too, use
/// ``PipelineDelegate/willLoad(_:)``.
public protocol ImageInterceptor: Sendable {
  /// Returns the image of a request.
  ///
  /// The task's progress, previews and priority come from the loads in `next`. Cancelling the task cancels the `Task`
  /// that runs this method, and discards its result.
  ///
  /// - Parameters:
  ///   - request: The request, after changes by the delegate and earlier interceptors.
  ///   - next: The rest of the chain. It may be called any number of times, also concurrently.
  /// - Returns: The image for the task.
  /// - Throws: Any error. A ``LoadError`` becomes the task's error; any other becomes the cause of a
  ///   ``LoadError/Code/intercepted`` error.
  func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse
}

/// The rest of the chain behind an ``ImageInterceptor``: later interceptors, then the pipeline itself.
public struct InterceptorChain: Sendable {
  typealias Proceed = @Sendable (ImageRequest) async throws(LoadError) -> ImageResponse

  private let proceed: Proceed

  init(_ proceed: @escaping Proceed) { self.proceed = proceed }

  /// Loads an image with the rest of the chain.
  ///
  /// The delegate is not called again. After the interceptor has returned, a call fails as cancelled.
  ///
  /// - Throws: ``LoadError``; with code `.cancelled`, at once, if the awaiting `Task` is cancelled.
  public func callAsFunction(_ request: ImageRequest) async throws(LoadError) -> ImageResponse {
    try await proceed(request)
  }
}
