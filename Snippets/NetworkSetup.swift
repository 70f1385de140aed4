// Tells a pipeline how to use the network: retries, signatures, offline, private networks.

import Foundation
import Vitrine

protocol Session: Sendable {
  var userID: String { get }
  func token() async throws -> String
}

// The pipeline reads it on a thread of its own.
nonisolated protocol Connectivity: Sendable {
  var isOnline: Bool { get }
  var isExpensive: Bool { get }
}

func makePipeline(_ session: any Session, _ connectivity: any Connectivity, cache: DiskCache) -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline {
    // Interrupted downloads continue from here, also after a restart.
    $0.diskCache = cache
    $0.retryPolicy = .exponential(maxAttempts: 4, totalTime: .seconds(30))
    $0.willSend = { request in
      request.headers["Authorization"] = "Bearer \(try await session.token())"
    }
    $0.networkAccess = {
      guard connectivity.isOnline else { return .offline("no network") }
      return connectivity.isExpensive ? .expensive("mobile data") : .full
    }
  }
  // snippet.hide
  return pipeline
}

func request(_ url: URL, of session: any Session) -> ImageRequest {
  // snippet.show
  var request = ImageRequest(url: url)
  request.cachePartition = session.userID  // users never share a cached answer
  // snippet.hide
  return request
}

func signed(_ url: URL) -> ImageRequest {
  // snippet.show
  var request = ImageRequest(url: url)  // …/cat.jpg?expires=1700000000&signature=…
  request.cacheID = url.path()
  // snippet.hide
  return request
}

func offline(_ url: URL) async throws -> Bitmap {
  // snippet.show
  var request = ImageRequest(url: url)
  request.cachePolicy = .cacheOnly  // or .cacheFirst, which loads what is not cached
  let image = try await ImagePipeline.shared.image(for: request)
  // snippet.hide
  return image
}

func sparing(_ url: URL) -> ImageRequest {
  // snippet.show
  var request = ImageRequest(url: url, size: .pixels(280, 280))
  request.allowsExpensiveNetworkAccess = false
  request.quality = .fast  // may stop the download when its beginning shows enough
  // snippet.hide
  return request
}

func retry(_ request: ImageRequest, _ pipeline: ImagePipeline) async throws -> Bitmap {
  // snippet.show
  // A tap on "try again" asks the server, even if the URL failed a moment ago.
  var again = request
  again.cachePolicy = .reload
  let image = try await pipeline.image(for: again)
  // snippet.hide
  return image
}

func patient() -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline {
    $0.retryPolicy = RetryPolicy { attempt in
      attempt.number < 5 && attempt.error.isWorthRetrying ? .seconds(attempt.number) : nil
    }
  }
  // snippet.hide
  return pipeline
}
