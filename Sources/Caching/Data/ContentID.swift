public import VitrineRuntime

/// A 128-bit identity of some content.
public struct ContentID: Hashable, Sendable {
  /// The lower half.
  public var low: UInt64
  /// The upper half.
  public var high: UInt64

  /// Creates an identity from its two halves.
  public init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Creates the identity of some bytes.
  ///
  /// It is the same on every machine and in every run. Accidental collisions are negligible, but collisions can be
  /// constructed on purpose. Complexity: O(count), about 0.15 nanoseconds a byte.
  public init(of data: Data) {
    var hash = ContentHash()
    hash.append(data)
    self = hash.value
  }
}

extension HeadReader {
  /// Reads an identity, or returns `nil` if too few bytes are left.
  package mutating func contentID() -> ContentID? {
    guard let low = uint64(), let high = uint64() else { return nil }
    return ContentID(low: low, high: high)
  }
}

extension HeadWriter {
  package mutating func append(_ contentID: ContentID) {
    append(contentID.low)
    append(contentID.high)
  }
}
