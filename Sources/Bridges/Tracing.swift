#if Tracing
import Tracing
public import Vitrine

/// An interceptor that has each load of an image in a span of its own, in the caller's trace.
///
/// A hit of memory that is fresh calls no interceptor, and has no span. The span has the attributes `vitrine.source`,
/// `vitrine.origin` and `vitrine.stale`; swift-distributed-tracing records the error of one that fails.
public struct TracingInterceptor: ImageInterceptor {
  private let name: String

  /// Creates an interceptor.
  ///
  /// - Parameter name: The name of the spans. Defaults to `image`.
  public init(name: String = "image") { self.name = name }

  /// Loads the image of a request within a span.
  ///
  /// - Throws: What the load throws.
  public func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
    try await withSpan(name, ofKind: .client) { span in
      span.attributes["vitrine.source"] = request.source.description
      let response = try await next(request)
      span.attributes["vitrine.origin"] = response.origin.rawValue
      span.attributes["vitrine.stale"] = response.isStale
      return response
    }
  }
}
#endif
