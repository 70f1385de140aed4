import Contest
import Foundation
import Vitrine
import VitrineTesting

/// A value for `NSCache`, which takes only objects.
private final class Box {
  let image: Bitmap
  init(_ image: Bitmap) { self.image = image }
}

/// A dictionary behind a lock: the common handwritten cache, and the minimum cost of any.
private final class LockedDictionary<Key: Hashable>: @unchecked Sendable {
  // @unchecked: guarded by `mutex`.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var values: [Key: Bitmap]

  init(_ values: [Key: Bitmap]) {
    self.values = values
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  subscript(key: Key) -> Bitmap? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return values[key]
  }
}

/// Images in memory, in random order.
///
/// A gallery shows some hundreds, and the processor's cache holds what it needs for them. With ten thousand, each
/// object that a hit touches is a wait for memory.
func benchMemory(_ entryCount: Int, rounds: Int) async throws -> [String] {
  func image() -> Bitmap { .solid(SIMD4(200, 100, 50, 255), width: 8, height: 8) }
  let bytes = try image().encoded(as: .png)
  let urls = (0..<entryCount).map { "https://example.org/photographs/\($0)/large.jpg?w=300" }
  let order = (0..<entryCount).shuffled()

  let parts = PipelineParts()
  parts.loader.answer("*", with: bytes, headers: ["Cache-Control": "max-age=86400"])
  let pipeline = ImagePipeline.testing(parts) {
    $0.diskCache = nil
    $0.clock = .system
    $0.memoryCache = MemoryCache(costLimit: 1 << 30)
  }
  let size = TargetSize.pixels(300, 300, .fill)
  let requests = urls.map { ImageRequest(url: $0, size: size) }
  for request in requests { _ = try await pipeline.image(for: request) }
  let shuffled = order.map { requests[$0] }
  let addresses = try order.map { index in
    guard let url = URL(string: urls[index]) else { throw BenchmarkError("invalid URL: \(urls[index])") }
    return url
  }

  let keys = urls.map { url in CacheKey { $0.append(url) } }
  let cache = MemoryCache<Bitmap>(costLimit: 1 << 30)
  let nsCache = NSCache<NSString, Box>()
  let dictionary = LockedDictionary(Dictionary(uniqueKeysWithValues: keys.map { ($0, image()) }))
  let strings = LockedDictionary(Dictionary(uniqueKeysWithValues: urls.map { ($0, image()) }))
  let nsStrings = urls.map { $0 as NSString }
  // Each cache has its own images, so that none profits from the accesses of another.
  for key in keys { cache.store(image(), for: key, cost: 256) }
  for key in nsStrings { nsCache.setObject(Box(image()), forKey: key) }
  let shuffledKeys = order.map { keys[$0] }
  let shuffledStrings = order.map { urls[$0] }
  let shuffledNSStrings = order.map { nsStrings[$0] }

  func expect(_ isHit: Bool) throws {
    guard isHit else { throw BenchmarkError("a miss, although everything should be in memory") }
  }

  return try await contest(
    "In memory: \(entryCount) images, in random order",
    [
      Contestant(name: "`pipeline.cachedImage(for:)`, prepared request", target: 300, allocationLimit: 0) { count in
        for index in 0..<count { try expect(pipeline.cachedImage(for: shuffled[index % entryCount]) != nil) }
      },
      Contestant(name: "`await pipeline.image(for:)`, prepared request", target: 1500, allocationLimit: 0) { count in
        for index in 0..<count { try expect(await pipeline.image(for: shuffled[index % entryCount]).width > 0) }
      },
      Contestant(name: "`pipeline.cachedImage(for:)`, new request from a `URL`", target: 600, allocationLimit: 2) {
        count in
        for index in 0..<count {
          let request = ImageRequest(url: addresses[index % entryCount], size: size)
          try expect(pipeline.cachedImage(for: request) != nil)
        }
      },
      Contestant(name: "`MemoryCache.value(for:)`", allocationLimit: 0) { count in
        for index in 0..<count { try expect(cache.value(for: shuffledKeys[index % entryCount]) != nil) }
      },
      Contestant(name: "dictionary of `CacheKey` behind a lock") { count in
        for index in 0..<count { try expect(dictionary[shuffledKeys[index % entryCount]] != nil) }
      },
      Contestant(name: "dictionary of `String` behind a lock") { count in
        for index in 0..<count { try expect(strings[shuffledStrings[index % entryCount]] != nil) }
      },
      Contestant(name: "`NSCache`, prepared `NSString`") { count in
        for index in 0..<count {
          try expect(nsCache.object(forKey: shuffledNSStrings[index % entryCount])?.image != nil)
        }
      },
      Contestant(name: "`NSCache`, `NSString` made of a `String`") { count in
        for index in 0..<count {
          let key = shuffledStrings[index % entryCount] as NSString
          try expect(nsCache.object(forKey: key)?.image != nil)
        }
      },
    ],
    count: 40_000,
    rounds: rounds,
  )
}
