// A server that says no in time.

import Foundation
import Vitrine

// snippet.show
let pipeline = ImagePipeline {
  $0.queueLimit = 200
  $0.allowsFileURLs = false
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
