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
    guard let header = unsafe bytes.withRest({ unsafe RecordHeader($0) }) else { return nil }
    self = header
  }

  /// Reads a header where it lies; `nil` if it is damaged or none.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size else { return nil }
    // As many bytes are there, as just checked, and the checksum is of those before it.
    unsafe self.init(checked: UnsafeRawBufferPointer(rebasing: bytes[..<Self.size]))
  }

  private init?(checked bytes: UnsafeRawBufferPointer) {
    // All of these lie within the 48 bytes.
    guard
      unsafe bytes.number(at: 0, as: UInt16.self) == Self.magic,
      unsafe bytes.number(at: 44, as: UInt32.self)
        == CRC32C.of(UnsafeRawBufferPointer(rebasing: bytes[..<(Self.size - 4)])),
      let kind = unsafe RecordKind(rawValue: bytes[2])
    else { return nil }
    let lane = unsafe Int(bytes[3])
    guard lane < 2 else { return nil }
    let hash = unsafe KeyHash(low: bytes.number(at: 8, as: UInt64.self), high: bytes.number(at: 16, as: UInt64.self))
    unsafe self.init(kind: kind, lane: lane, hash: hash, sequence: bytes.number(at: 24, as: UInt64.self))
    keyLength = unsafe Int(bytes.number(at: 4, as: UInt32.self))
    metadataLength = unsafe Int(bytes.number(at: 32, as: UInt32.self))
    payloadLength = unsafe Int(bytes.number(at: 36, as: UInt32.self))
    checksum = unsafe bytes.number(at: 40, as: UInt32.self)
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

  static func read(_ bytes: ByteReader) -> RecordAttributes? { unsafe bytes.withRest { unsafe read($0) } }

  /// Reads attributes where they lie; `nil` if they are damaged.
  static func read(_ bytes: UnsafeRawBufferPointer) -> RecordAttributes? {
    // As many bytes are there as are read, which is checked first.
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

/// Where the parts of a record lie, as its header says.
struct RecordLayout {
  let header: RecordHeader
  /// `nil` where records of the kind have none.
  let attributes: RecordAttributes?
  let key: Range<Int>
  let metadata: Range<Int>
  /// Empty where the bytes are a file of their own.
  let payload: Range<Int>

  /// What the checksum of the contents is of.
  var contents: Range<Int> { key.lowerBound..<payload.upperBound }

  /// Reads the beginning of a record of a known length; `nil` if that is damaged, or more than `bytes`.
  ///
  /// The contents need not be there, and nothing says whether they are whole.
  init?(_ bytes: UnsafeRawBufferPointer, length: Int) {
    guard let header = unsafe RecordHeader(bytes), header.length == length else { return nil }
    self.header = header
    var start = RecordHeader.size
    if header.hasAttributes {
      // Not below what is there, since a header was read.
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
      guard let attributes = unsafe RecordAttributes.read(rest) else { return nil }
      self.attributes = attributes
      start += RecordAttributes.size
    } else {
      attributes = nil
    }
    // Within the length of the record, as that is made of these.
    key = start..<start + header.keyLength
    metadata = key.upperBound..<key.upperBound + header.metadataLength
    payload = metadata.upperBound..<metadata.upperBound + (header.kind == .spilled ? 0 : header.payloadLength)
  }
}

extension UnsafeRawBufferPointer {
  /// A little-endian number; the caller has checked that it lies within.
  fileprivate func number<Number: FixedWidthInteger>(at offset: Int, as _: Number.Type) -> Number {
    unsafe Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
