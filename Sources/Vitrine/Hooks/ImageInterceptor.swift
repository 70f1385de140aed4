/// Stands around the loading of images: asks for another one, answers itself, tries again, or refuses.
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
/// It is asked for every image that is not in memory, fresh: once for each task, at the beginning of its work. What is shared
/// among equal requests, and what is cached, is behind it, so a second task for the same image asks it again. Bytes
/// (`data(for:)`, and prefetching to the disk) pass it by.
///
/// What it makes of an answer is for whoever waits, and kept nowhere: the pipeline keeps images under the request that was
/// given to `next`. So the place for a change to pixels is a processor, the place for a change to requests that look-ups in
/// memory are to see is ``PipelineDelegate/willLoad(_:)``.
public protocol ImageInterceptor: Sendable {
  /// Gives the image of a request.
  ///
  /// The task's progress, previews and priority are those of what it waits for in `next`. When the task is cancelled, so is the
  /// `Task` this runs in, and nobody waits for what it still does.
  ///
  /// - Parameters:
  ///   - request: What was asked for, as the delegate and the interceptors before have changed it.
  ///   - next: What would be done without this one; may be called any number of times, also several at once.
  /// - Returns: The image that the task gets.
  /// - Throws: Anything. A ``LoadError`` is the task's error; anything else is the cause of one of code
  ///   ``LoadError/Code/intercepted``.
  func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse
}

/// What an ``ImageInterceptor`` stands in front of: those after it, and at last the pipeline itself.
public struct InterceptorChain: Sendable {
  typealias Proceed = @Sendable (ImageRequest) async throws(LoadError) -> ImageResponse

  private let proceed: Proceed

  init(_ proceed: @escaping Proceed) { self.proceed = proceed }

  /// Loads an image as if nobody had stood in between.
  ///
  /// The delegate is not asked again. After the end of the interceptor that it was given to it fails as cancelled.
  ///
  /// - Throws: ``LoadError``; of code `.cancelled`, at once, when the awaiting `Task` is cancelled.
  public func callAsFunction(_ request: ImageRequest) async throws(LoadError) -> ImageResponse {
    try await proceed(request)
  }
}
