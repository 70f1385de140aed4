// Serves URLs from strangers, within bounds.

import Foundation
import Vitrine

// snippet.show
let pipeline = ImagePipeline {
  // No private network, whatever a name or a redirect leads to, and no file: URL.
  $0.addressGuard = AddressGuard()
  $0.queueLimit = 200
  $0.decodeLimits.pixelCount = 40_000_000
}

/// The status to answer with, and the image if there is one.
func answer(_ request: ImageRequest) async -> (status: Int, image: Bitmap?) {
  do {
    return (200, try await pipeline.image(for: request))
  } catch {
    return (error.code == .overloaded ? 503 : 502, nil)
  }
}
// snippet.hide
