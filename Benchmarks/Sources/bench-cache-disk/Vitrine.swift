import Foundation
import VitrineCaching

/// The cache of this package, including the content hash of each entry and the checksum of each read.
final class VitrineStore: Store {
  static let name = "**Vitrine**"
  let cache: DiskCache

  init(in folder: URL) async throws {
    cache = try DiskCache(directory: folder, sizeLimit: 4 << 30)
    _ = await cache.statistics()
  }

  func put(_ bytes: Data, _ key: String) async throws {
    let entry = CachedData(
      data: bytes,
      contentID: ContentID(of: bytes),
      stored: Date(timeIntervalSinceReferenceDate: 0),
    )
    await cache.store(entry, for: CacheKey { $0.append(key) })
  }

  // Trimming waits for pending writes, and writes the index.
  func finishWriting() async throws { await cache.trim(to: .max) }

  func get(_ key: String) async throws -> Data? { await cache.entry(for: CacheKey { $0.append(key) })?.data }

  func evictQuarter(of keys: [String]) async throws {
    let bytes = await cache.statistics().bytes
    await cache.trim(to: bytes / 4 * 3)
  }

  func close() async throws { await cache.close() }
}
