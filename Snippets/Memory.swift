// Uses memory: limits, images put there by hand, warnings, a cache without a pipeline.

import Foundation
import Vitrine
import VitrineCaching

func limits() -> ImagePipeline {
  // snippet.show
  let pipeline = ImagePipeline {
    // Decoded images, and their bytes as they came. Nothing reaches the disk.
    $0.memoryCache = MemoryCache(costLimit: 200 << 20, countLimit: 1000, eviction: .leastRecentlyUsed)
    $0.diskCache = MemoryDataCache(sizeLimit: 32 << 20)
  }
  // snippet.hide
  return pipeline
}

func byHand(_ request: ImageRequest, _ bitmap: Bitmap, of url: URL, in pipeline: ImagePipeline) async {
  // snippet.show
  pipeline.cache[url] = bitmap  // the image at its full size; nil removes it
  pipeline.cache[request] = bitmap  // this size and these processors
  await pipeline.cache.removeAll(in: .memory)
  // snippet.hide
}

func alone(_ bitmap: Bitmap) -> Bitmap? {
  // snippet.show
  let cache = MemoryCache<Bitmap>(costLimit: 100 << 20)
  let key = CacheKey { $0.append("https://example.org/cat.jpg") }
  cache.store(bitmap, for: key, cost: bitmap.byteCount)
  let hit = cache.value(for: key)
  // snippet.hide
  return hit
}
