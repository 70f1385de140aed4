// Limits the time of a load, and answers a 404 with another image.

import Vitrine

// snippet.show
struct Patience: ImageInterceptor {
  let limit: Duration

  func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
    do {
      return try await withThrowingTaskGroup(of: ImageResponse?.self) { group in
        group.addTask { try await next(request) }
        group.addTask {
          try await Task.sleep(for: limit)
          return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let response = first else { throw TooLate() }
        return response
      }
    } catch let error as LoadError where error.status == 404 {
      var other = request
      other.source = .resource("missing.png")
      return try await next(other)
    }
  }

  struct TooLate: Error {}
}

let pipeline = ImagePipeline {
  $0.interceptors = [Patience(limit: .seconds(20))]
}
// snippet.hide
