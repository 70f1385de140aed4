// Chooses the caches that a request reads and writes.

import Foundation
import Vitrine

func show(avatar: URL, scan: URL, wallpaper: URL) async throws -> [Bitmap] {
  let pipeline = ImagePipeline.shared
  // snippet.show
  // Private: kept in memory while the program runs, never on disk.
  var secret = ImageRequest(url: scan)
  secret.cacheAccess = .memory
  // snippet.hide

  // snippet.show
  // Large and shown once: it evicts nothing else from memory.
  var once = ImageRequest(url: wallpaper)
  once.cacheAccess.remove(.memoryWrites)
  // snippet.hide

  // snippet.show
  // Loaded as if nothing were cached, then cached for everyone.
  var anew = ImageRequest(url: avatar)
  anew.cacheAccess = [.memoryWrites, .diskWrites]
  // snippet.hide
  return [
    try await pipeline.image(for: secret), try await pipeline.image(for: once), try await pipeline.image(for: anew),
  ]
}
