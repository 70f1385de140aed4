public import VitrineRuntime

/// Bytes as a cache keeps them, with what their owner has to know about them.
public struct CachedData: Sendable, Hashable {
  /// What the bytes are, which decides whose budget they count towards.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// As they came from their source.
    case original = 0
    /// An image that was made of an original.
    case finished = 1
  }

  /// The bytes.
  public var data: Data
  /// What the bytes are.
  public var kind: Kind
  /// A few bytes more whose meaning is their owner's: validators, headers.
  public var metadata: Data
  /// What the bytes are known by, wherever they are kept or made into something.
  public var contentID: ContentID
  /// Until when they are fresh; `nil` if for ever.
  ///
  /// A cache returns them afterwards too: who asks may renew them.
  public var expires: Date?
  /// When they were stored.
  public var stored: Date

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - kind: What they are; an original by default.
  ///   - metadata: A few bytes more; none by default.
  ///   - contentID: What the bytes are known by.
  ///   - expires: Until when they are fresh; for ever by default.
  ///   - stored: When they were stored.
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
