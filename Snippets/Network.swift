// What a pipeline does with the network: tries again, signs, keeps out of private networks, and obeys what the app knows.

import Foundation
import Vitrine

protocol Session: Sendable {
  func token() async throws -> String
}

protocol Connectivity: Sendable {
  var isOnline: Bool { get }
  var isExpensive: Bool { get }
}

func makePipeline(_ session: any Session, _ connectivity: any Connectivity, cache: DiskCache) -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline {
    // Downloads that break off go on from here, also after a restart.
    $0.diskCache = cache
    $0.retryPolicy = .exponential(maxAttempts: 4, totalTime: .seconds(30))
    $0.willSend = { request in
      request.headers["Authorization"] = "Bearer \(try await session.token())"
    }
    $0.networkAccess = {
      guard connectivity.isOnline else { return .offline("no network") }
      return connectivity.isExpensive ? .expensive("mobile data") : .full
    }
    // For a server that loads what strangers name: nothing private, whatever a name or a redirect leads to.
    $0.addressGuard = AddressGuard()
    $0.allowsFileURLs = false
  }
  // snippet.hide
  return pipeline
}

func retry(_ request: ImageRequest, _ pipeline: ImagePipeline) async throws -> Bitmap {
  // snippet.show
  // A tap on "try again" asks, whatever has failed lately.
  var again = request
  again.cachePolicy = .reload
  return try await pipeline.image(for: again)
  // snippet.hide
}
