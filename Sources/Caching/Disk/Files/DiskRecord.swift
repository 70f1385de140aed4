import VitrineRuntime

/// The kind of a record.
///
/// DiskFormat.md has the layout, and any change here needs a new version there.
enum RecordKind: UInt8 {
  /// An entry with its body.
  case entry = 1
  /// An entry whose body is a file of its own.
  case spilled = 2
  /// A removal of the key's earlier entries.
  case removal = 3
  /// New expiry and metadata of an existing entry.
  case renewal = 4
  /// The times and numbers of uses of entries.
  case uses = 5
  /// A record in the journal of a partial body.
  case partial = 6
}

/// The 48 bytes at the beginning of every record.
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

  /// The number of bytes that follow the header.
  var contentLength: Int {
    (hasAttributes ? RecordAttributes.size : 0) + keyLength + metadataLength + (kind == .spilled ? 0 : payloadLength)
  }

  /// The length of the record in bytes, padded to a multiple of eight.
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

  /// Reads a header, or returns `nil` if it is damaged or there is none.
  init?(_ bytes: ByteReader) {
    guard let header = unsafe bytes.withRest({ unsafe RecordHeader($0) }) else { return nil }
    self = header
  }

  /// Reads a header in place, or returns `nil` if it is damaged or there is none.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size else { return nil }
    // The guard leaves `size` bytes.
    unsafe self.init(checked: UnsafeRawBufferPointer(rebasing: bytes[..<Self.size]))
  }

  private init?(checked bytes: UnsafeRawBufferPointer) {
    // All offsets lie within the 48 bytes.
    guard
      unsafe bytes.number(at: 0, as: UInt16.self) == Self.magic,
      unsafe bytes.number(at: 44, as: UInt32.self)
        == CRC32C.of(UnsafeRawBufferPointer(rebasing: bytes[..<(Self.size - 4)])),
      let kind = unsafe RecordKind(rawValue: bytes[2])
    else { return nil }
    let lane = unsafe Int(bytes[3])
    guard lane < 2 else { return nil }
    let hash = unsafe KeyHash(low: bytes.number(at: 8, as: UInt64.self), high: bytes.number(at: 16, as: UInt64.self))
    let sequence = unsafe bytes.number(at: 24, as: UInt64.self)
    guard sequence <= DiskFolder.sequenceLimit else { return nil }
    self.init(kind: kind, lane: lane, hash: hash, sequence: sequence)
    keyLength = unsafe Int(bytes.number(at: 4, as: UInt32.self))
    metadataLength = unsafe Int(bytes.number(at: 32, as: UInt32.self))
    payloadLength = unsafe Int(bytes.number(at: 36, as: UInt32.self))
    checksum = unsafe bytes.number(at: 40, as: UInt32.self)
  }
}

/// The attributes of an entry, which follow the header.
struct RecordAttributes {
  static let size = 56

  var contentID: ContentID
  /// Seconds since the reference date.
  var stored: Double
  /// Seconds since the reference date, infinite for never.
  var expires: Double
  /// The sequence of the latest renewal merged into the record, or of the entry itself.
  var revision: UInt64
  var lastUse: UInt32
  var hits: UInt32
  /// The checksum of a body in its own file.
  var bodyChecksum: UInt32

  static func read(_ bytes: ByteReader) -> RecordAttributes? { unsafe bytes.withRest { unsafe read($0) } }

  /// Reads attributes in place, or returns `nil` if they are damaged.
  static func read(_ bytes: UnsafeRawBufferPointer) -> RecordAttributes? {
    // The first condition checks the count.
    guard
      bytes.count >= size,
      unsafe bytes.number(at: 52, as: UInt32.self) == CRC32C.of(UnsafeRawBufferPointer(rebasing: bytes[..<(size - 4)]))
    else { return nil }
    return unsafe RecordAttributes(
      contentID: ContentID(low: bytes.number(at: 0, as: UInt64.self), high: bytes.number(at: 8, as: UInt64.self)),
      stored: Double(bitPattern: bytes.number(at: 16, as: UInt64.self)),
      expires: Double(bitPattern: bytes.number(at: 24, as: UInt64.self)),
      revision: bytes.number(at: 32, as: UInt64.self),
      lastUse: bytes.number(at: 40, as: UInt32.self),
      hits: bytes.number(at: 44, as: UInt32.self),
      bodyChecksum: bytes.number(at: 48, as: UInt32.self),
    )
  }
}

/// The places of a record's parts.
struct RecordLayout {
  let header: RecordHeader
  /// The attributes, or `nil` if the kind has none.
  let attributes: RecordAttributes?
  let key: Range<Int>
  let metadata: Range<Int>
  /// The payload, empty if the body is a file of its own.
  let payload: Range<Int>

  /// The bytes that the checksum of the contents covers.
  var contents: Range<Int> { key.lowerBound..<payload.upperBound }

  /// Reads the beginning of a record of a known length, or returns `nil` if it is damaged or exceeds `bytes`.
  ///
  /// The contents may be missing and are not verified.
  init?(_ bytes: UnsafeRawBufferPointer, length: Int) {
    guard let header = unsafe RecordHeader(bytes), header.length == length else { return nil }
    self.header = header
    var start = RecordHeader.size
    if header.hasAttributes {
      // `bytes` has at least a header.
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
      guard let attributes = unsafe RecordAttributes.read(rest) else { return nil }
      self.attributes = attributes
      start += RecordAttributes.size
    } else {
      attributes = nil
    }
    // Within the length of the record, which is made of these lengths.
    key = start..<start + header.keyLength
    metadata = key.upperBound..<key.upperBound + header.metadataLength
    payload = metadata.upperBound..<metadata.upperBound + (header.kind == .spilled ? 0 : header.payloadLength)
  }
}

extension UnsafeRawBufferPointer {
  /// Reads a little-endian number, of which the caller has checked that it lies within the buffer.
  fileprivate func number<Number: FixedWidthInteger>(at offset: Int, as _: Number.Type) -> Number {
    unsafe Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
