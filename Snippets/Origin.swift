// Finds out where an image came from, and what is more urgent.

import Foundation
import Vitrine

func load(_ request: ImageRequest, from pipeline: ImagePipeline) async throws -> Bitmap {
  // snippet.show
  let response = try await pipeline.imageTask(for: request).response
  print(response.origin, response.isStale, response.status ?? 0)  // network false 200
  // snippet.hide
  return response.image
}

func hurry(_ url: URL, from pipeline: ImagePipeline) -> ImageTask {
  // snippet.show
  let task = pipeline.imageTask(for: ImageRequest(url: url, priority: .low))
  task.priority = .veryHigh  // tapped
  // snippet.hide
  return task
}
