import VitrineRuntime

/// What a record of a segment is; DiskFormat.md has the layout, and nothing here may change without a new version there.
enum RecordKind: UInt8 {
  /// An entry with its bytes.
  case entry = 1
  /// An entry whose bytes are a file of their own.
  case spilled = 2
  /// What was stored for the key before counts no more.
  case removal = 3
  /// Expiry and metadata of an entry that is there already.
  case renewal = 4
  /// When and how often entries were used.
  case uses = 5
  /// Kept for the part of a body whose rest is to be loaded.
  case partial = 6
}

/// The 48 bytes that every record begins with.
struct RecordHeader {
  static let size = 48
  static let magic: UInt16 = 0x0156  // "V", format 1

  var kind: RecordKind
  var lane: Int
  var keyLength: Int
  var hash: KeyHash
  var sequence: UInt64
  var metadataLength: Int
  var payloadLength: Int
  var checksum: UInt32

  var hasAttributes: Bool { kind == .entry || kind == .spilled }

  /// The bytes that follow the header.
  var contentLength: Int {
    (hasAttributes ? RecordAttributes.size : 0) + keyLength + metadataLength + (kind == .spilled ? 0 : payloadLength)
  }

  /// The bytes that the record takes up; the next one begins at a multiple of eight.
  var length: Int { (Self.size + contentLength + 7) & ~7 }

  init(kind: RecordKind, lane: Int, hash: KeyHash, sequence: UInt64) {
    self.kind = kind
    self.lane = lane
    self.hash = hash
    self.sequence = sequence
    keyLength = 0
    metadataLength = 0
    payloadLength = 0
    checksum = 0
  }

  /// Reads a header; `nil` if it is damaged or none.
  init?(_ bytes: ByteReader) {
    var bytes = bytes
    let start = bytes
    guard
      let magic = bytes.uint16(), magic == Self.magic, let rawKind = bytes.uint8(), let lane = bytes.uint8(),
      let keyLength = bytes.uint32(), let low = bytes.uint64(), let high = bytes.uint64(),
      let sequence = bytes.uint64(),
      let metadataLength = bytes.uint32(), let payloadLength = bytes.uint32(), let checksum = bytes.uint32(),
      let headerChecksum = bytes.uint32(), headerChecksum == start.checksum(ofFirst: Self.size - 4),
      let kind = RecordKind(rawValue: rawKind), lane < 2
    else { return nil }
    self.init(kind: kind, lane: Int(lane), hash: KeyHash(low: low, high: high), sequence: sequence)
    self.keyLength = Int(keyLength)
    self.metadataLength = Int(metadataLength)
    self.payloadLength = Int(payloadLength)
    self.checksum = checksum
  }
}

/// What an entry's record says about it, after the header.
struct RecordAttributes {
  static let size = 56

  var contentID: ContentID
  /// Seconds since the reference date.
  var stored: Double
  /// Seconds since the reference date; infinite for never.
  var expires: Double
  /// The sequence of the latest renewal that is in here, or of the entry itself.
  var revision: UInt64
  var lastUse: UInt32
  var hits: UInt32
  /// Of a body that is a file of its own.
  var bodyChecksum: UInt32

  static func read(_ bytes: ByteReader) -> RecordAttributes? {
    var bytes = bytes
    let start = bytes
    guard
      let low = bytes.uint64(), let high = bytes.uint64(), let stored = bytes.uint64(), let expires = bytes.uint64(),
      let revision = bytes.uint64(), let lastUse = bytes.uint32(), let hits = bytes.uint32(),
      let bodyChecksum = bytes.uint32(), let checksum = bytes.uint32(),
      checksum == start.checksum(ofFirst: size - 4)
    else { return nil }
    return RecordAttributes(
      contentID: ContentID(low: low, high: high),
      stored: Double(bitPattern: stored),
      expires: Double(bitPattern: expires),
      revision: revision,
      lastUse: lastUse,
      hits: hits,
      bodyChecksum: bodyChecksum,
    )
  }
}
