import VitrineCaching
import VitrineRuntime

/// The head of an entry as a server stores it, with checksums of itself, of its key and of the body.
///
/// The marked first version is the only one; servers may have heads of it from any version of the program.
struct RedisHead: Sendable, Hashable {
  private static let mark = "VT1"
  private static let sumCount = 16

  /// The head of the entry, without its body.
  var cached: CachedDataHead
  /// The checksum of the body.
  ///
  /// The identity of a variant is not one, since it identifies the original.
  let bodySum: ContentID

  init(_ entry: CachedData) {
    cached = CachedDataHead(entry)
    cached.data = nil
    bodySum = ContentID(of: entry.data)
  }

  /// Returns the bytes to store for a key.
  func encoded(for key: CacheKey) -> Data {
    var head = HeadWriter(capacity: 76 + cached.metadata.count)
    head.append(Self.mark)
    head.append(cached.kind.rawValue)
    head.append(cached.contentID)
    head.append(bodySum)
    head.append(count: cached.byteCount)
    head.append(seconds: cached.stored.timeIntervalSinceReferenceDate)
    head.append(seconds: cached.expires?.timeIntervalSinceReferenceDate ?? .infinity)
    head.append(cached.metadata)
    head.append(Self.sum(head.data, key))
    return head.data
  }

  /// Decodes the bytes of ``encoded(for:)`` for the same key, or returns `nil` for any other bytes.
  init?(_ bytes: Data, for key: CacheKey) {
    let end = bytes.count - Self.sumCount
    var reader = HeadReader([UInt8](bytes))
    guard reader.data(Self.mark.utf8.count) == Data(Self.mark.utf8),
      let kind = reader.uint8().flatMap({ CachedData.Kind(rawValue: $0) }), let contentID = reader.contentID(),
      let bodySum = reader.contentID(), let byteCount = reader.count(), let stored = reader.seconds(), stored.isFinite,
      let expires = reader.seconds(), let metadata = reader.data(end - reader.offset),
      reader.contentID() == Self.sum(bytes.prefix(end), key)
    else { return nil }
    cached = CachedDataHead(
      kind: kind,
      byteCount: byteCount,
      metadata: metadata,
      contentID: contentID,
      expires: expires.isFinite ? Date(timeIntervalSinceReferenceDate: expires) : nil,
      stored: Date(timeIntervalSinceReferenceDate: stored),
    )
    self.bodySum = bodySum
  }

  /// Returns the entry with a body, or `nil` if the body does not match the head.
  func entry(_ body: Data) -> CachedData? {
    body.count == cached.byteCount && ContentID(of: body) == bodySum ? CachedData(cached, body) : nil
  }

  private static func sum(_ bytes: Data, _ key: CacheKey) -> ContentID {
    var hash = ContentHash()
    hash.append(bytes)
    hash.append(Data(key.bytes))
    return hash.value
  }
}
