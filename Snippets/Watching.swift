// Why an image came when it did, and from where.

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

  // What would come of it just now: where it is, how fresh, what would be asked of whom.
  print(await pipeline.explain(request))

  // What it went through: each stage, what it waited for, and whose work it shared.
  let task = pipeline.imageTask(for: request)
  _ = try await task.image
  if let metrics = task.metrics { print(metrics) }
  // snippet.hide
}
