// Images from addresses: waited for, at hand, or watched while they come.

import Foundation
import Vitrine

func load(_ url: URL, show: (Bitmap) -> Void) async throws {
  // snippet.show
  // One line: from memory, from disk or from the server, once for however many ask.
  let image = try await ImagePipeline.shared.image(for: url)

  // Say what is shown, and only that is decoded.
  let request = ImageRequest(url: url, size: .pixels(300, 300, .fill), priority: .high)

  // Already here? No await, so no flash.
  if let hit = ImagePipeline.shared.cachedImage(for: request) { show(hit.image) }

  // Watch it arrive.
  let task = ImagePipeline.shared.imageTask(for: request)
  for await event in task.events {
    switch event {
    case .progress(let progress): print("\(Int(progress.fraction * 100)) %")
    case .preview(let preview): show(preview.bitmap)
    case .finished(let result): print((try? result.get().origin) ?? .network)
    }
  }
  // snippet.hide
  _ = image
}
