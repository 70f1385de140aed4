// Loads images from URLs: awaited, from memory, or watched while they arrive.

import Foundation
import Vitrine

func load(_ url: URL, show: (Bitmap) -> Void) async throws {
  // snippet.show
  // One line: from memory, from disk or from the server. Equal requests share the work.
  let image = try await ImagePipeline.shared.image(for: url)

  // Name the size that is shown, and nothing larger is decoded.
  let request = ImageRequest(url: url, size: .pixels(300, 300, .fill), priority: .high)

  // In memory? Then there is no await, and no flash.
  if let hit = ImagePipeline.shared.cachedImage(for: request) { show(hit.image) }

  // Watch it arrive.
  let task = ImagePipeline.shared.imageTask(for: request)
  for await event in task.events {
    switch event {
    case .progress(let progress): print("\(Int(progress.fraction * 100)) %")
    case .preview(let preview): show(preview.bitmap)
    case .finished(.success(let response)): show(response.image)
    case .finished(.failure(let error)): print(error)
    }
  }
  // snippet.hide
  _ = image
}
