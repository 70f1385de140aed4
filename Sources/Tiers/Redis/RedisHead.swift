import VitrineCaching
import VitrineRuntime

/// The head of an entry as a server stores it, with checksums of itself, of its key and of the body.
struct RedisHead: Sendable, Hashable {
  private static let mark = Data("VT1".utf8)
  private static let fixedCount = mark.count + 1 + 7 * 8
  private static let sumCount = 16

  var kind: CachedData.Kind
  var contentID: ContentID
  /// The checksum of the body.
  ///
  /// The identity of a variant is not one, since it identifies the original.
  var bodySum: ContentID
  var byteCount: Int
  var stored: Date
  var expires: Date?
  var metadata: Data

  init(_ entry: CachedData) {
    (kind, contentID, bodySum) = (entry.kind, entry.contentID, ContentID(of: entry.data))
    (byteCount, stored, expires, metadata) = (entry.data.count, entry.stored, entry.expires, entry.metadata)
  }

  /// Returns the bytes to store for a key.
  func encoded(for key: CacheKey) -> Data {
    var bytes = Self.mark
    bytes.append(kind.rawValue)
    let dates = [stored.timeIntervalSinceReferenceDate, expires?.timeIntervalSinceReferenceDate ?? .infinity]
    let words =
      [contentID.low, contentID.high, bodySum.low, bodySum.high, UInt64(byteCount)] + dates.map(\.bitPattern)
    for word in words { Self.append(word, to: &bytes) }
    bytes.append(metadata)
    let sum = Self.sum(bytes, key)
    Self.append(sum.low, to: &bytes)
    Self.append(sum.high, to: &bytes)
    return bytes
  }

  /// Decodes the bytes of ``encoded(for:)`` for the same key, or returns `nil` for any other bytes.
  init?(_ bytes: Data, for key: CacheKey) {
    let bytes = Data(bytes)
    let end = bytes.count - Self.sumCount
    guard end >= Self.fixedCount, bytes.starts(with: Self.mark),
      let kind = CachedData.Kind(rawValue: bytes[Self.mark.count])
    else { return nil }
    let sum = ContentID(low: Self.word(bytes, at: end), high: Self.word(bytes, at: end + 8))
    guard sum == Self.sum(bytes.prefix(end), key) else { return nil }
    let words = (0..<7).map { Self.word(bytes, at: Self.mark.count + 1 + 8 * $0) }
    guard let byteCount = Int(exactly: words[4]) else { return nil }
    let dates = words[5...].map { Double(bitPattern: $0) }
    guard dates[0].isFinite else { return nil }
    self.kind = kind
    contentID = ContentID(low: words[0], high: words[1])
    bodySum = ContentID(low: words[2], high: words[3])
    self.byteCount = byteCount
    stored = Date(timeIntervalSinceReferenceDate: dates[0])
    expires = dates[1].isFinite ? Date(timeIntervalSinceReferenceDate: dates[1]) : nil
    metadata = Data(bytes[Self.fixedCount..<end])
  }

  /// Returns the entry with a body, or `nil` if the body does not match the head.
  func entry(_ body: Data) -> CachedData? {
    guard body.count == byteCount, ContentID(of: body) == bodySum else { return nil }
    return CachedData(
      data: body,
      kind: kind,
      metadata: metadata,
      contentID: contentID,
      expires: expires,
      stored: stored,
    )
  }

  var cached: CachedDataHead {
    CachedDataHead(
      kind: kind,
      byteCount: byteCount,
      metadata: metadata,
      contentID: contentID,
      expires: expires,
      stored: stored,
    )
  }

  private static func sum(_ bytes: Data, _ key: CacheKey) -> ContentID {
    var hash = ContentHash()
    hash.append(bytes)
    hash.append(Data(key.bytes))
    return hash.value
  }

  private static func append(_ word: UInt64, to bytes: inout Data) {
    for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(byte)))) }
  }

  private static func word(_ bytes: Data, at offset: Int) -> UInt64 {
    (0..<8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[offset + $1]) }
  }
}
