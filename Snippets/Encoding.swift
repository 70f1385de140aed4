// Has images encoded, once for all who ask.

import Foundation
import Vitrine

func answer(_ url: URL, accept: String?, pipeline: ImagePipeline) async throws -> (Data, String) {
  // snippet.show
  let request = ImageRequest(url: url, size: .pixels(800, 600))
  let file = try await pipeline.encoded(for: request, as: .automatic(accepting: accept))
  // snippet.hide
  return (file.data, file.format.mediaType)
}

func share(_ url: URL, pipeline: ImagePipeline) async throws -> Data {
  // snippet.show
  // With the photographer's name, and without the place.
  let encoding = ImageEncoding.jpeg(quality: 80).metadata(.only(.copyright, .author))
  let shared = try await pipeline.encoded(for: ImageRequest(url: url, size: .pixels(2000)), as: encoding)
  // snippet.hide
  return shared.data
}

func moves(_ url: URL, pipeline: ImagePipeline) async throws -> Data {
  // snippet.show
  var animated = ImageRequest(url: url, size: .pixels(300))
  animated.animates = true
  let webp = try await pipeline.encoded(for: animated, as: .webp(quality: 75))
  // snippet.hide
  return webp.data
}
