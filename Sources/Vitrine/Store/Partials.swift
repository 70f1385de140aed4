import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The store of partial downloads: the disk cache, or memory if no disk cache keeps them.
struct Partials: Sendable {
  enum Store: Sendable {
    case disk(DiskCache)
    case memory(PartialMemory)
  }

  let store: Store
  /// A Boolean value that indicates whether bytes in this store need not be stored elsewhere.
  let isWholeCache: Bool

  init(in cache: (any DataCaching)?, _ clock: any TimeSource) {
    if let disk = cache as? DiskCache {
      (store, isWholeCache) = (.disk(disk), true)
    } else if let disk = (cache as? any TieredDataCaching)?.partialStoring {
      (store, isWholeCache) = (.disk(disk), false)
    } else {
      (store, isWholeCache) = (.memory(PartialMemory(clock)), false)
    }
  }

  /// The store in memory; `nil` if the downloads are kept on disk.
  var memory: PartialMemory? { if case .memory(let memory) = store { memory } else { nil } }

  /// Returns `true` if a request may resume a partial download.
  func allowsReading(_ request: ImageRequest) -> Bool {
    request.keys.allowsResuming && request.cacheAccess.contains(memory == nil ? .diskReads : .memoryReads)
  }

  /// Returns `true` if a request may leave a partial download; `keepsOriginal` if its bytes are to be stored on disk.
  func allowsWriting(_ request: ImageRequest, keepsOriginal: Bool) -> Bool {
    memory == nil ? keepsOriginal : request.cacheAccess.contains(.memoryWrites)
  }

  /// Returns the number of bytes of a partial download; 0 for none.
  func count(for key: CacheKey) async -> Int {
    switch store {
    case .disk(let disk): await disk.partial(for: key)?.count ?? 0
    case .memory(let memory): memory.partial(for: key)?.bytes.count ?? 0
    }
  }

  func remove(_ key: CacheKey) async {
    switch store {
    case .disk(let disk): await disk.removePartial(for: key)
    case .memory(let memory): memory.remove(key)
    }
  }
}

/// Partial downloads in memory; new downloads evict the least recently used.
struct PartialMemory: Sendable {
  struct Partial: Sendable {
    let head: PartialHead
    let bytes: Data
    /// The checksum of the bytes, to be continued.
    let hash: ContentHash
  }

  /// The minimum number of bytes that are worth keeping.
  static let minimum = 16 << 10

  private let cache: MemoryCache<Partial>

  init(_ clock: any TimeSource) {
    // The lifetime is the same as on disk.
    let expiration = Expiration.after(.seconds(86_400))
    cache = MemoryCache(costLimit: 16 << 20, expiration: expiration, eviction: .leastRecentlyUsed, clock: clock)
  }

  func partial(for key: CacheKey) -> Partial? { cache.value(for: key) }

  func keep(_ bytes: Data, _ hash: ContentHash, _ head: PartialHead, for key: CacheKey) {
    guard bytes.count >= Self.minimum else { return remove(key) }
    cache.store(Partial(head: head, bytes: bytes, hash: hash), for: key, cost: bytes.count)
  }

  func remove(_ key: CacheKey) { cache.remove(key) }

  func removeAll() { cache.removeAll() }
}
