import VitrineRuntime

/// Bytes that gzip has compressed (RFC 1952).
package enum Gzip {
  /// The first bytes of a file.
  package static let signature: [UInt8] = [0x1F, 0x8B]

  /// The end of the inflated bytes.
  package enum End: Sendable {
    /// The end of the compressed stream, whose checksum is right.
    case whole
    /// The end of the file, within the stream.
    case truncated
    case damaged
    /// The limit.
    case limit
  }

  /// Inflates a file up to a limit in bytes.
  ///
  /// Complexity: O(inflated bytes).
  package static func inflate(_ file: ByteReader, limit: Int) -> (bytes: [UInt8], end: End) {
    inflate(file, limit: limit) { inflate($0, room: $1) }
  }

  /// Inflates a file up to a limit with `inflater`, which takes the room for the result, in bytes.
  static func inflate(
    _ file: ByteReader,
    limit: Int,
    by inflater: (ByteReader, Int) -> (bytes: [UInt8], end: End),
  ) -> (bytes: [UInt8], end: End) {
    // Ordinary text fits, and no more room than that is held for it.
    var room = min(limit, max(64, file.count.multipliedSaturating(by: 8)))
    while true {
      let (bytes, end) = inflater(file, room)
      guard end == .limit, room < limit else { return (bytes, end) }
      room = min(limit, room.multipliedSaturating(by: 8))
    }
  }
}
