public import VitrineRuntime

/// An entry of a cache without its bytes.
public struct CachedDataHead: Sendable, Hashable {
  /// The kind of the bytes.
  public var kind: CachedData.Kind
  /// The number of bytes, metadata not counted.
  public var byteCount: Int
  /// A few more bytes whose meaning is their owner's: validators, headers.
  public var metadata: Data
  /// The identity of the bytes.
  public var contentID: ContentID
  /// The time at which they expire; `nil` for never.
  public var expires: Date?
  /// The time at which they were stored.
  public var stored: Date
  /// The bytes, where the cache had them at hand anyway; `nil` where they are read only when asked for.
  public var data: Data?

  /// Creates a head; for caches of your own.
  ///
  /// - Parameters:
  ///   - kind: The kind of the bytes.
  ///   - byteCount: The number of bytes, metadata not counted.
  ///   - metadata: A few more bytes.
  ///   - contentID: The identity of the bytes.
  ///   - expires: The time at which they expire; `nil` for never.
  ///   - stored: The time at which they were stored.
  ///   - data: The bytes, where they are at hand anyway. Defaults to `nil`.
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

  /// Creates the head of an entry, with its bytes.
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
