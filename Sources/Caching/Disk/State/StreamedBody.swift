import VitrineRuntime

/// A body on its way to the disk, piece by piece.
@safe
final class StreamedBody: @unchecked Sendable {
  // Sendable, since all mutable state is touched on the writer's queue only, and `failure` is a lock.

  enum End: Sendable {
    case sealed(ContentID)
    /// A body so small that it is stored like any other.
    case small(Data)
    case refused
  }

  let key: CacheKey
  let hash: KeyHash
  let isPartial: Bool
  let metadata: Data
  private let failure = Lock(false)

  var number: UInt64 = 0
  var epoch = 0
  var file: (any DiskFile)?
  var journal: (any DiskFile)?
  var journalEnd = 0
  var count = 0
  var checksum = CRC32C()
  var contentHash = ContentHash()
  /// The bytes, if another cache writes to the folder and there is no file.
  var memory = Data()

  init(_ key: CacheKey, _ hash: KeyHash, isPartial: Bool, metadata: Data) {
    (self.key, self.hash, self.isPartial, self.metadata) = (key, hash, isPartial, metadata)
  }

  /// A Boolean value that indicates whether the body failed and will not be stored.
  var hasFailed: Bool { failure.withLock { $0 } }

  func fail() { failure.withLock { $0 = true } }
}
