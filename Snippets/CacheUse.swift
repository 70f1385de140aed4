// Pictures that are not to be kept everywhere.

import Foundation
import Vitrine

func show(avatar: URL, scan: URL, wallpaper: URL) async throws -> [Bitmap] {
  let pipeline = ImagePipeline.shared
  // snippet.show
  // Private: in memory while the program runs, and nothing of it on disk.
  var secret = ImageRequest(url: scan)
  secret.cacheAccess = .memory

  // Shown once, and large: it is to push nothing else out of memory.
  var once = ImageRequest(url: wallpaper)
  once.cacheAccess.remove(.memoryWrites)

  // Taken anew, as if nothing were there, and kept for all who ask afterwards.
  var anew = ImageRequest(url: avatar)
  anew.cacheAccess = [.memoryWrites, .diskWrites]
  // snippet.hide
  return [
    try await pipeline.image(for: secret), try await pipeline.image(for: once), try await pipeline.image(for: anew),
  ]
}
