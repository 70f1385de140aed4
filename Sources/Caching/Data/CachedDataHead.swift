public import VitrineRuntime

/// A cache entry without its body.
public struct CachedDataHead: Sendable, Hashable {
  /// The kind of the bytes.
  public var kind: CachedData.Kind
  /// The length of the body in bytes, without metadata.
  public var byteCount: Int
  /// The owner's own bytes, such as validators and headers.
  public var metadata: Data
  /// The identity of the bytes.
  public var contentID: ContentID
  /// The time at which the entry expires, or `nil` for never.
  public var expires: Date?
  /// The time at which the entry was stored.
  public var stored: Date
  /// The body if the cache already has it in memory, otherwise `nil`.
  public var data: Data?

  /// Creates a head, for custom caches.
  ///
  /// - Parameters:
  ///   - kind: The kind of the bytes.
  ///   - byteCount: The length of the body in bytes, without metadata.
  ///   - metadata: The owner's own bytes.
  ///   - contentID: The identity of the bytes.
  ///   - expires: The time at which the entry expires, or `nil` for never.
  ///   - stored: The time at which the entry was stored.
  ///   - data: The body, if it is in memory already. Defaults to `nil`.
  public init(
    kind: CachedData.Kind,
    byteCount: Int,
    metadata: Data,
    contentID: ContentID,
    expires: Date?,
    stored: Date,
    data: Data? = nil,
  ) {
    self.kind = kind
    self.byteCount = byteCount
    self.metadata = metadata
    self.contentID = contentID
    self.expires = expires
    self.stored = stored
    self.data = data
  }

  /// Creates the head of an entry, including its body.
  public init(_ entry: CachedData) {
    self.init(
      kind: entry.kind,
      byteCount: entry.data.count,
      metadata: entry.metadata,
      contentID: entry.contentID,
      expires: entry.expires,
      stored: entry.stored,
      data: entry.data,
    )
  }
}

extension CachedData {
  /// Creates the entry of a head and its body.
  package init(_ head: CachedDataHead, _ data: Data) {
    self.init(
      data: data,
      kind: head.kind,
      metadata: head.metadata,
      contentID: head.contentID,
      expires: head.expires,
      stored: head.stored,
    )
  }
}
