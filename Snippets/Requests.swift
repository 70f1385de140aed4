// Sends a method and a body, and limits responses and requests.

import Foundation
import Vitrine

struct Chart: Encodable, Sendable {
  let title: String
}

func draw(_ chart: Chart, _ pipeline: ImagePipeline) async throws -> Bitmap {
  // snippet.show
  var http = try HTTPRequest("https://example.org/charts", headers: ["Content-Type": "application/json"])
  http.method = .post
  http.body = try JSONEncoder().encode(chart)
  http.isIdempotent = true  // safe to repeat, so it is retried
  return try await pipeline.image(for: ImageRequest(http, size: .pixels(300, 300)))
  // snippet.hide
}

func makePipeline() -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline {
    $0.maxResponseBytes = 20_000_000
    // At most 50 requests a second, and 5 to each host.
    $0.rateLimit = RateLimit(requestsPerSecond: 50, burst: 100)
    $0.rateLimitPerHost = RateLimit(requestsPerSecond: 5)
  }
  // snippet.hide
  return pipeline
}
