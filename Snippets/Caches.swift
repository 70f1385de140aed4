// Makes a pipeline with caches of its own, and looks into them.

import Foundation
import Vitrine

func caches(in folder: URL, of url: URL) async throws {
  // snippet.show
  let pipeline = try ImagePipeline {
    $0.memoryCache = MemoryCache(costLimit: 200 << 20)
    $0.diskCache = try DiskCache(directory: folder, sizeLimit: 500 << 20)
  }

  if await pipeline.cache.contains(url, in: .disk) { print("survives a restart") }
  await pipeline.cache.remove(url)  // every size, in memory and on disk
  await pipeline.cache.removeAll()
  // snippet.hide
}

func store(_ image: Bitmap, of url: URL, in pipeline: ImagePipeline) async {
  // snippet.show
  await pipeline.cache.store(image, for: url, expiration: .after(.seconds(12 * 3600)))
  // snippet.hide
}

func keep(_ url: URL, in folder: URL) throws -> (ImagePipeline, ImageRequest) {
  // snippet.show
  let pipeline = try ImagePipeline {
    // An entry is dropped 12 hours after it was stored.
    $0.diskCache = try DiskCache(directory: folder, sizeLimit: 300 << 20, lifetime: .seconds(12 * 3600))
  }

  // Until then it is fresh, whatever its server says.
  var request = ImageRequest(url: url)
  request.cachePolicy = .maxAge(.seconds(12 * 3600))
  // snippet.hide
  return (pipeline, request)
}
