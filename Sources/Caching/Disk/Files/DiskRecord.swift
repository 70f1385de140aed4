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

/// The place of a record in the log; its length is 0 if there is none.
struct RecordPlace: Sendable, Hashable {
  var segment: UInt32 = 0
  var offset: UInt32 = 0
  var length: UInt32 = 0

  /// The offset behind the record.
  var end: Int { Int(offset) + Int(length) }
}

extension RecordPlace {
  /// Creates a place, or returns `nil` if the file is longer than any segment can be.
  init?(_ segment: UInt32, _ offset: Int, _ length: Int) {
    guard let offset = UInt32(exactly: offset), let length = UInt32(exactly: length) else { return nil }
    self.init(segment: segment, offset: offset, length: length)
  }
}

/// A record with its parts.
struct DiskRecord {
  var header: RecordHeader
  var attributes: RecordAttributes?
  var key: [UInt8] = []
  var metadata = Data()
  /// The payload, empty if the body is a file of its own.
  var payload = Data()

  /// Returns the record with the lengths of its parts in the header, and of a body in its own file if it has one.
  func measured(spilledLength: Int? = nil) -> DiskRecord {
    var record = self
    (record.header.keyLength, record.header.metadataLength) = (key.count, metadata.count)
    record.header.payloadLength = spilledLength ?? payload.count
    return record
  }
}

/// The 48 bytes at the beginning of every record.
struct RecordHeader {
  static let size = 48
  static let magic: UInt16 = 0x0156  // "V", format 1
  /// The highest sequence number that is accepted from a file.
  static let sequenceLimit = UInt64.max / 2

  var kind: RecordKind
  var lane: Int
  var hash: KeyHash
  var sequence: UInt64
  var keyLength = 0
  var metadataLength = 0
  var payloadLength = 0
  var checksum: UInt32 = 0

  var hasAttributes: Bool { kind == .entry || kind == .spilled }

  /// The number of bytes that follow the header.
  var contentLength: Int {
    (hasAttributes ? RecordAttributes.size : 0) + keyLength + metadataLength + (kind == .spilled ? 0 : payloadLength)
  }

  /// The length of the record in bytes, padded to a multiple of eight.
  var length: Int { (Self.size + contentLength + 7) & ~7 }
}

extension RecordHeader {
  /// Reads a header, or returns `nil` if it is damaged or there is none.
  init?(_ bytes: HeadReader) {
    guard let header = unsafe bytes.withRest({ unsafe RecordHeader($0) }) else { return nil }
    self = header
  }

  /// Reads a header in place, or returns `nil` if it is damaged or there is none.
  init?(_ bytes: UnsafeRawBufferPointer) {
    // The first condition leaves `size` bytes, and all offsets lie within them.
    guard bytes.count >= Self.size, unsafe bytes.number(at: 0, as: UInt16.self) == Self.magic,
      unsafe bytes.hasChecksum(ofFirst: Self.size - 4), let kind = unsafe RecordKind(rawValue: bytes[2])
    else { return nil }
    self.kind = kind
    lane = unsafe Int(bytes[3])
    keyLength = unsafe Int(bytes.number(at: 4, as: UInt32.self))
    hash = unsafe KeyHash(low: bytes.number(at: 8, as: UInt64.self), high: bytes.number(at: 16, as: UInt64.self))
    sequence = unsafe bytes.number(at: 24, as: UInt64.self)
    metadataLength = unsafe Int(bytes.number(at: 32, as: UInt32.self))
    payloadLength = unsafe Int(bytes.number(at: 36, as: UInt32.self))
    checksum = unsafe bytes.number(at: 40, as: UInt32.self)
    guard lane < 2, sequence <= Self.sequenceLimit else { return nil }
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

  /// Reads attributes, or returns `nil` if they are damaged.
  static func read(_ bytes: HeadReader) -> RecordAttributes? { unsafe bytes.withRest { unsafe read($0) } }

  /// Reads attributes in place, or returns `nil` if they are damaged.
  static func read(_ bytes: UnsafeRawBufferPointer) -> RecordAttributes? {
    // The first condition checks the count.
    guard bytes.count >= size, unsafe bytes.hasChecksum(ofFirst: size - 4) else { return nil }
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

extension RecordAttributes {
  /// Creates the attributes of a new entry.
  init(_ data: CachedData, sequence: UInt64, lastUse: UInt32, hits: UInt32 = 1, bodyChecksum: UInt32?) {
    self.init(
      contentID: data.contentID,
      stored: data.stored.timeIntervalSinceReferenceDate,
      expires: data.expires.expirySeconds,
      revision: sequence,
      lastUse: lastUse,
      hits: hits,
      bodyChecksum: bodyChecksum ?? 0,
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
  func number<Number: FixedWidthInteger>(at offset: Int, as _: Number.Type) -> Number {
    unsafe Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  /// Checks the checksum behind the first `count` bytes, of which the caller has checked that both are there.
  func hasChecksum(ofFirst count: Int) -> Bool {
    unsafe number(at: count, as: UInt32.self) == CRC32C.of(UnsafeRawBufferPointer(rebasing: self[..<count]))
  }
}

extension HeadWriter {
  /// Returns the checksum of the bytes from `start`, an earlier count of the writer.
  func checksum(from start: Int) -> UInt32 {
    // The bytes are only read while the closure runs.
    unsafe bytes.withUnsafeBytes { unsafe CRC32C.of(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }

  /// Appends a record with its checksums.
  mutating func append(_ record: DiskRecord) {
    var contents = CRC32C()
    // The bytes are only read while the closure runs.
    unsafe record.key.withUnsafeBytes { unsafe contents.append($0) }
    contents.append(record.metadata)
    contents.append(record.payload)
    let (start, header) = (count, record.header)
    append(RecordHeader.magic)
    append(header.kind.rawValue)
    append(UInt8(header.lane))
    append(UInt32(header.keyLength))
    append(header.hash.low)
    append(header.hash.high)
    append(header.sequence)
    append(UInt32(header.metadataLength))
    append(UInt32(header.payloadLength))
    append(contents.value)
    append(checksum(from: start))
    if let attributes = record.attributes {
      let start = count
      append(attributes.contentID)
      append(seconds: attributes.stored)
      append(seconds: attributes.expires)
      append(attributes.revision)
      append(attributes.lastUse)
      append(attributes.hits)
      append(attributes.bodyChecksum)
      append(checksum(from: start))
    }
    append(record.key)
    append(record.metadata)
    append(record.payload)
    while count < start + header.length { append(UInt8(0)) }
  }
}
