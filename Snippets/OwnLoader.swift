// A loader of a program's own.

import Foundation
import Vitrine
import VitrineHTTP

/// A client of HTTP, or of anything else that has pictures.
protocol Client: Sendable {
  func get(_ url: String) async throws -> (status: Int, etag: String, body: Data)
}

func pipeline(over client: any Client) -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline {
    // (HTTPRequest) async throws -> (HTTPResponse, Data)
    $0.loader = WholeBodyLoader(maxConcurrentLoads: 16) { request in
      let reply = try await client.get(request.url.string)
      return (HTTPResponse(status: reply.status, headers: ["ETag": reply.etag], url: request.url), reply.body)
    }
  }
  // snippet.hide
  return pipeline
}
