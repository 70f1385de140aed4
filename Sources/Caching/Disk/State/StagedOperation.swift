import VitrineRuntime

/// A change that is not written yet.
enum DiskOperation: Sendable {
  case put(CacheKey, CachedData)
  case renew(target: UInt64, expires: Double, metadata: Data)
  case remove
}

struct StagedOperation: Sendable {
  var hash: KeyHash
  var sequence: UInt64
  var operation: DiskOperation
  /// The body of an entry that has been streamed into a file of its own; the entry itself then has no bytes.
  var body: StreamedBody?

  var byteCount: Int {
    switch operation {
    case .put(let key, let entry): 256 + key.bytes.count + entry.metadata.count + entry.data.count
    case .renew(_, _, let metadata): 256 + metadata.count
    case .remove: 256
    }
  }
}

/// The state of a key with its staged operations, as readers see it.
struct StagedView: Sendable {
  /// The sequence of the latest operation.
  var sequence: UInt64
  /// The sequence of the entry that it belongs to, or 0 if there is none.
  var entrySequence: UInt64
  /// An entry, its removal, or the renewal of the entry on disk.
  var content: DiskOperation
  var lastUse: UInt32
  var hits: UInt32
}
