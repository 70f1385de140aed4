import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The store of partial downloads: the disk cache, or memory if no disk cache keeps them.
struct Partials: Sendable {
  enum Store: Sendable {
    case disk(any PartialStoring)
    case memory(PartialMemory)
  }

  let store: Store
  /// A Boolean value that indicates whether bytes in this store need not be stored elsewhere.
  let isWholeCache: Bool

  init(in cache: (any DataCaching)?) {
    if let disk = cache as? any PartialStoring {
      (store, isWholeCache) = (.disk(disk), true)
    } else if let disk = (cache as? any TieredDataCaching)?.partialStoring {
      (store, isWholeCache) = (.disk(disk), false)
    } else {
      (store, isWholeCache) = (.memory(PartialMemory()), false)
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
  func count(for key: CacheKey, now: Date) async -> Int {
    switch store {
    case .disk(let disk): await disk.partial(for: key)?.count ?? 0
    case .memory(let memory): memory.partial(for: key, now: now)?.bytes.count ?? 0
    }
  }

  func remove(_ key: CacheKey) async {
    switch store {
    case .disk(let disk): await disk.removePartial(for: key)
    case .memory(let memory): memory.remove(key)
    }
  }
}

/// Partial downloads in memory; new downloads evict the oldest.
final class PartialMemory: Sendable {
  struct Partial: Sendable {
    let head: PartialHead
    let bytes: Data
    /// The checksum of the bytes, to be continued.
    let hash: ContentHash
    fileprivate let kept: Date
    fileprivate let number: Int
  }

  private struct State {
    var partials: [CacheKey: Partial] = [:]
    var byteCount = 0
    var nextNumber = 0

    /// Removes a partial download and returns it, so that its bytes are released with no lock held.
    mutating func remove(_ key: CacheKey) -> Partial? {
      guard let old = partials.removeValue(forKey: key) else { return nil }
      byteCount -= old.bytes.count
      return old
    }
  }

  /// The maximum number of bytes of all downloads together.
  private static let byteLimit = 16 << 20
  /// The minimum number of bytes that are worth keeping.
  static let minimum = 16 << 10
  /// The lifetime, the same as on disk.
  private static let lifetime = 86_400.0

  private let state = Lock(State())

  func partial(for key: CacheKey, now: Date) -> Partial? {
    guard let partial = state.withLock({ $0.partials[key] }) else { return nil }
    return now.timeIntervalSince(partial.kept) < Self.lifetime ? partial : nil
  }

  func keep(_ bytes: Data, _ hash: ContentHash, _ head: PartialHead, for key: CacheKey, now: Date) {
    guard bytes.count >= Self.minimum, bytes.count <= Self.byteLimit else { return remove(key) }
    _ = state.withLock { state -> [Partial?] in
      var removed = [state.remove(key)]
      let number = state.nextNumber
      state.nextNumber += 1
      state.partials[key] = Partial(head: head, bytes: bytes, hash: hash, kept: now, number: number)
      state.byteCount += bytes.count
      while state.byteCount > Self.byteLimit,
        let oldest = state.partials.min(by: { $0.value.number < $1.value.number })
      {
        removed.append(state.remove(oldest.key))
      }
      return removed
    }
  }

  func remove(_ key: CacheKey) { _ = state.withLock { $0.remove(key) } }

  func removeAll() {
    _ = state.withLock { state in
      let old = state
      state = State()
      return old
    }
  }
}
