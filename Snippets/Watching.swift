// Finds out why an image came when it did, and from where.

import Foundation
import Vitrine

func watch(_ request: ImageRequest) async throws {
  // snippet.show
  let pipeline = ImagePipeline {
    $0.collectsMetrics = true
    $0.log = { entry in
      if entry.level >= .warning { print(entry.level, entry) }
    }
  }

  // Before: what is cached, how fresh it is, which server would be asked.
  print(await pipeline.explain(request))

  // Afterwards: each stage, what it waited for, and whose work it shared.
  let task = pipeline.imageTask(for: request)
  _ = try await task.image
  if let metrics = task.metrics { print(metrics) }
  // snippet.hide
}
