public import VitrineRuntime

/// Bytes as a cache keeps them, with the facts that their owner needs.
public struct CachedData: Sendable, Hashable {
  /// The kind of the bytes, which decides whose budget they count towards.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// Bytes as they came from their source.
    case original = 0
    /// An image that was made of an original.
    case finished = 1
  }

  /// The bytes.
  public var data: Data
  /// The kind of the bytes.
  public var kind: Kind
  /// A few more bytes whose meaning is their owner's: validators, headers.
  public var metadata: Data
  /// The identity of the bytes, wherever they are kept or made into something.
  public var contentID: ContentID
  /// The time at which they expire; `nil` for never.
  ///
  /// A cache returns them afterwards too: the caller may renew them.
  public var expires: Date?
  /// The time at which they were stored.
  public var stored: Date

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - kind: The kind of the bytes. Defaults to an original.
  ///   - metadata: A few more bytes. Defaults to none.
  ///   - contentID: The identity of the bytes.
  ///   - expires: The time at which they expire. Defaults to never.
  ///   - stored: The time at which they were stored.
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
