public import VitrineRuntime

/// A cached body with its expiry, identity and metadata.
public struct CachedData: Sendable, Hashable {
  /// The kind of the bytes, each with its own share of a disk cache's limit.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// The bytes as they came from the source.
    case original = 0
    /// A finished image: decoded, resized and processed.
    case finished = 1
  }

  /// The bytes.
  public var data: Data
  /// The kind of the bytes.
  public var kind: Kind
  /// The owner's own bytes, such as validators and headers.
  public var metadata: Data
  /// The identity of the bytes, the same wherever they are stored.
  public var contentID: ContentID
  /// The time at which the entry expires, or `nil` for never.
  ///
  /// A cache also returns expired entries, so that the caller can revalidate them.
  public var expires: Date?
  /// The time at which the entry was stored; of an image from a server, the time of the request that brought it.
  ///
  /// Remote tiers refuse what is older than a removal.
  public var stored: Date
  /// A Boolean value that indicates whether the bytes are useful to this machine only, such as raw pixels.
  ///
  /// Remote tiers do not store them. Defaults to `false`. A cache on disk does not keep it.
  package var isMachineLocal = false
  /// A Boolean value that indicates whether shared caches must not store the bytes (`Cache-Control: private`).
  ///
  /// Remote tiers do not store them, and remove an older entry of the key. Defaults to `false`. A cache on disk does not
  /// keep it.
  package var isPrivate = false

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - kind: The kind of the bytes. Defaults to ``Kind/original``.
  ///   - metadata: The owner's own bytes. Defaults to none.
  ///   - contentID: The identity of the bytes.
  ///   - expires: The time at which the entry expires. Defaults to `nil`, never.
  ///   - stored: The time at which the entry was stored.
  public init(
    data: Data,
    kind: Kind = .original,
    metadata: Data = Data(),
    contentID: ContentID,
    expires: Date? = nil,
    stored: Date,
  ) {
    self.data = data
    self.kind = kind
    self.metadata = metadata
    self.contentID = contentID
    self.expires = expires
    self.stored = stored
  }
}
