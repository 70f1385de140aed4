// Handles errors of a load.

import Vitrine

func picture(of request: ImageRequest) async -> Bitmap? {
  // snippet.show
  do {
    return try await ImagePipeline.shared.image(for: request)
  } catch {
    // Typed: a LoadError. "https://example.org/a.jpg: fetch: the server answered with status 404"
    if !error.isCancellation { print(error) }
    return nil
  }
  // snippet.hide
}
