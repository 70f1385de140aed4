// A pipeline with caches of one's own, and the caches as one.

import Foundation
import Vitrine

func caches(in folder: URL, of url: URL) async throws {
  // snippet.show
  let pipeline = try ImagePipeline {
    $0.memoryCache = MemoryCache(costLimit: 200 << 20)
    $0.diskCache = try DiskCache(directory: folder, sizeLimit: 500 << 20)
  }

  if await pipeline.cache.contains(url, in: .disk) { print("here after the next start, too") }
  await pipeline.cache.remove(url)  // every size of it, in memory and on disk
  await pipeline.cache.removeAll()
  // snippet.hide
}
