// The calls of the core that stand in VitrineApple.md, so that they compile.

import Vitrine
import VitrineCaching
import VitrineImaging
import VitrineApple
import VitrineRuntime

func load(_ url: URL, _ request: ImageRequest, _ pipeline: ImagePipeline) async throws {
  _ = try await pipeline.image(for: url)
  _ = try await pipeline.data(for: url)
  pipeline.loadImage(for: request) { result in print(result) }
  let task = pipeline.imageTask(for: request)
  for await event in task.events { print(event) }
  task.priority = .veryHigh
  task.cancel()
  pipeline.cancel(for: url)
  do {
    _ = try await pipeline.image(for: url)
  } catch {
    if error.code == .badStatus { print(error.status ?? 0) }
    if error.code == .invalidURL { print(error) }
  }
}

func ask(_ url: URL, _ mirror: URL, _ small: URL, _ data: Data, _ token: String) -> ImageRequest {
  _ = ImageRequest(url: url, size: .points(60, 60, .fill, scale: 2))
  _ = ImageRequest(.data(data, id: "avatar-7"))
  _ = ImageRequest(.first(of: [.url(url), .url(mirror)]))
  var request = ImageRequest(url: url)
  request.processors = [.blur(radius: .points(4)), .tint(PixelColor(0xFF0000))]
  request.processors = [.roundedCorners(radius: .points(8))]
  request.placeholder = .request(ImageRequest(url: small))
  request.priority = .high
  request.animates = true
  request.dynamicRange = .high
  request.cachePolicy = .cacheOnly
  request.cachePolicy = .reload
  request.cacheAccess = .disk
  request.cacheAccess = .memory
  request.cacheID = "avatar-7"
  request.headers["Authorization"] = "Bearer \(token)"
  request.allowsExpensiveNetworkAccess = false
  return request
}

func prefetch(_ requests: [ImageRequest], _ pipeline: ImagePipeline) {
  let prefetcher = ImagePrefetcher(pipeline)
  prefetcher.start(requests)
  prefetcher.stop(requests)
}

func cache(_ url: URL, _ request: ImageRequest, _ bitmap: Bitmap, _ pipeline: ImagePipeline) async {
  _ = pipeline.cachedImage(for: request)
  _ = await pipeline.cache.contains(url, in: .disk)
  pipeline.cache[url] = bitmap
  await pipeline.cache.store(bitmap, for: url)
  await pipeline.cache.remove(url)
  await pipeline.cache.removeAll()
  await pipeline.cache.removeAll(in: .memory)
}

func make(_ folder: URL, _ token: String, _ decoder: some ImageDecoder) throws -> ImagePipeline {
  let pipeline = try ImagePipeline {
    $0.memoryCache = MemoryCache(costLimit: 100 << 20, countLimit: 1000, eviction: .leastRecentlyUsed)
    $0.diskCache = MemoryDataCache(sizeLimit: 32 << 20)
    $0.diskCache = try DiskCache(directory: folder, sizeLimit: 200 << 20, lifetime: .seconds(12 * 3600))
    $0.storagePolicy = .both
    $0.retryPolicy = .exponential(maxAttempts: 3)
    $0.rateLimit = RateLimit(requestsPerSecond: 50)
    $0.willSend = { $0.headers["Authorization"] = "Bearer \(token)" }
    $0.challenge = { _ in ["Authorization": "Bearer \(token)"] }
    $0.followNetworkConditions()
    $0.decoders.add(decoder)
    $0.isCoalescingEnabled = false
    $0.log = { entry in print(entry) }
    $0.observers = [SignpostObserver()]
  }
  ImagePipeline.shared = pipeline
  return pipeline
}

func makeForNetwork() -> ImagePipeline {
  let pipeline = ImagePipeline { $0.followNetworkConditions() }
  return pipeline
}

func decode(_ data: Data) async throws {
  _ = try Bitmap(decoding: data, size: .points(100, 100, scale: 2))
  _ = try await Bitmap.byDecoding(data, size: .points(100, 100, scale: 2))
  var options = DecodeOptions()
  options.usesLinearLight = true
}

func play(_ request: ImageRequest, _ pipeline: ImagePipeline) async throws {
  let response = try await pipeline.imageTask(for: request).response
  if let animation = response.animation { print(animation.frameCount) }
}
