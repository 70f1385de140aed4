// Tests code that loads images, without a network.

import Foundation
import Vitrine
import VitrineTesting

func test(with cat: Data) async throws {
  // snippet.show
  let parts = PipelineParts()
  let pipeline = ImagePipeline.testing(parts)
  parts.loader.answer("https://example.org/cat.jpg", with: cat, headers: ["Cache-Control": "max-age=60"])

  let image = try await pipeline.image(for: ImageRequest(url: "https://example.org/cat.jpg"))
  parts.clock.advance(by: .seconds(61))  // and now it is stale
  // snippet.hide
  _ = image
}
