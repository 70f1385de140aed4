import VitrineRuntime

/// The folder of a ``DiskCache``: the names in it, and reading whole, checked records.
struct DiskFolder: Sendable {
  static let formatMagic: UInt64 = 0x434E_5254_4956_0A0D
  static let formatVersion: UInt32 = 1

  let path: String
  let files: any DiskFileSystem

  func path(_ name: String) -> String { "\(path)/\(name)" }

  func segmentName(_ id: UInt32, lane: Int) -> String {
    "\(lane == 0 ? "o" : "f")\(Self.hex(UInt64(id), digits: 8)).segment"
  }

  func bodyName(_ sequence: UInt64) -> String {
    Self.hex(sequence, digits: 16) + Self.bodySuffix
  }

  static func segment(named name: String) -> (id: UInt32, lane: Int)? {
    guard name.hasSuffix(".segment"), name.utf8.count == 17, let first = name.first, first == "o" || first == "f" else {
      return nil
    }
    guard let id = UInt32(name.dropFirst().dropLast(8), radix: 16), id > 0 else { return nil }
    return (id, first == "o" ? 0 : 1)
  }

  static let bodySuffix = ".body"
  static let partialSuffix = ".partial"
  static let journalSuffix = ".progress"

  func partialName(_ number: UInt64) -> String { Self.hex(number, digits: 16) + Self.partialSuffix }
  func journalName(_ number: UInt64) -> String { Self.hex(number, digits: 16) + Self.journalSuffix }
  /// Of a body that is of no use unless whoever writes it comes to its end.
  func temporaryBodyName(_ number: UInt64) -> String { "\(bodyName(number)).tmp" }

  static func number(in name: String, _ suffix: String) -> UInt64? {
    guard name.hasSuffix(suffix), name.utf8.count == 16 + suffix.utf8.count else { return nil }
    return UInt64(name.dropLast(suffix.utf8.count), radix: 16)
  }

  private static func hex(_ number: UInt64, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }

  // MARK: - The file that says what the folder is

  enum Format {
    case missing, damaged, unknown(UInt32), known(SipHash.Secret)
  }

  func readFormat() -> Format {
    guard let file = try? files.open(path("format"), isWritable: false, isCreated: false) else { return .missing }
    guard let bytes = try? file.bytes(64, at: 0) else { return .damaged }
    let start = ByteReader(bytes)
    var reader = start
    guard
      reader.uint64() == Self.formatMagic, let version = reader.uint32(), let low = reader.uint64(),
      let high = reader.uint64(), let checksum = reader.uint32(), checksum == start.checksum(ofFirst: 28)
    else { return .damaged }
    return version == Self.formatVersion ? .known(SipHash.Secret(low: low, high: high)) : .unknown(version)
  }

  func writeFormat(_ secret: SipHash.Secret) throws(FileError) {
    var writer = ByteWriter()
    writer.append(Self.formatMagic)
    writer.append(Self.formatVersion)
    writer.append(secret.low)
    writer.append(secret.high)
    writer.append(writer.checksum(from: 0))
    try replace("format", writer.bytes)
  }

  /// Puts a whole file in place of an older one, or leaves that.
  func replace(_ name: String, _ bytes: [UInt8]) throws(FileError) {
    let temporary = path("\(name).tmp")
    do throws(FileError) {
      let file = try files.open(temporary, isWritable: true, isCreated: true)
      try file.truncate(to: 0)
      try file.write(bytes, at: 0)
      try file.sync()
      try files.rename(temporary, to: path(name))
    } catch {
      try? files.remove(temporary)
      throw error
    }
  }

  // MARK: - Records

  struct Record {
    var header: RecordHeader
    var attributes: RecordAttributes?
    var key: [UInt8]
    var metadata: Data
    var payload: Data
  }

  /// Reads a record; `nil` if it is damaged in any way, or the disk would have to be waited for and may not be.
  ///
  /// The payload is not copied: it lies where it was read to, unless it is small.
  func record(_ file: any DiskFile, at offset: Int, length: Int, cachedOnly: Bool = false) -> Record? {
    guard length >= RecordHeader.size, let block = ReadBlock(file, at: offset, length, cachedOnly: cachedOnly),
      let header = RecordHeader(ByteReader(block.bytes(0..<RecordHeader.size))), header.length == length
    else { return nil }
    let inside = header.kind == .spilled ? 0 : header.payloadLength
    let start = RecordHeader.size + (header.hasAttributes ? RecordAttributes.size : 0)
    let payload = start + header.keyLength + header.metadataLength
    // All of that is within the length of the record, which the header was just compared with.
    guard block.checksum(of: start..<payload + inside) == header.checksum else { return nil }
    var reader = ByteReader(block.bytes(RecordHeader.size..<payload))
    var attributes: RecordAttributes?
    if header.hasAttributes {
      attributes = RecordAttributes.read(reader)
      guard attributes != nil, reader.skip(RecordAttributes.size) else { return nil }
    }
    guard let key = reader.data(header.keyLength), let metadata = reader.data(header.metadataLength) else { return nil }
    return Record(
      header: header,
      attributes: attributes,
      key: Array(key),
      metadata: metadata,
      payload: block.data(payload..<payload + inside),
    )
  }

  /// Reads a body that is a file of its own; `nil` if it is damaged in any way.
  func body(_ sequence: UInt64, length: Int, checksum: UInt32) -> Data? {
    guard
      let file = try? files.open(path(bodyName(sequence)), isWritable: false, isCreated: false),
      // Before so much is allocated.
      (try? file.size()) == length,
      let bytes = try? file.bytes(length, at: 0), bytes.count == length
    else { return nil }
    let data = Data(bytes)
    var actual = CRC32C()
    actual.append(data)
    return actual.value == checksum ? data : nil
  }

  /// An entry as its record and its latest renewal say; `nil` as with ``record(_:at:length:cachedOnly:)``.
  func entry(
    _ entry: DiskEntry,
    hash: KeyHash,
    in segment: Segment,
    renewalIn renewalSegment: Segment?,
    cachedOnly: Bool = false,
  ) -> (key: [UInt8], data: CachedData, attributes: RecordAttributes)? {
    guard
      let record = record(
        segment.file,
        at: Int(entry.offset),
        length: Int(entry.length),
        cachedOnly: cachedOnly,
      ),
      record.header.hash == hash, record.header.sequence == entry.sequence,
      let attributes = record.attributes, let kind = CachedData.Kind(rawValue: UInt8(record.header.lane)),
      record.header.payloadLength == Int(entry.bodyLength), (record.header.kind == .spilled) == entry.isSpilled
    else { return nil }
    var metadata = record.metadata
    if entry.renewalLength > 0 {
      guard
        let renewalSegment,
        let renewal = self.record(
          renewalSegment.file,
          at: Int(entry.renewalOffset),
          length: Int(entry.renewalLength),
          cachedOnly: cachedOnly,
        ),
        renewal.header.kind == .renewal, renewal.header.hash == hash
      else { return nil }
      metadata = renewal.metadata
    }
    var payload = record.payload
    if entry.isSpilled {
      guard let body = body(entry.sequence, length: Int(entry.bodyLength), checksum: attributes.bodyChecksum) else {
        return nil
      }
      payload = body
    }
    let data = CachedData(
      data: payload,
      kind: kind,
      metadata: metadata,
      contentID: attributes.contentID,
      expires: entry.expires == .infinity ? nil : Date(timeIntervalSinceReferenceDate: entry.expires),
      stored: Date(timeIntervalSinceReferenceDate: entry.stored),
    )
    return (record.key, data, attributes)
  }
}

extension DiskFolder {
  /// Reads what an entry is, and not its bytes; `nil` if it is damaged.
  func identity(
    of entry: DiskEntry,
    hash: KeyHash,
    in segment: Segment,
  ) -> (key: [UInt8], contentID: ContentID)? {
    let start = RecordHeader.size + RecordAttributes.size
    guard let head = try? segment.file.bytes(start, at: Int(entry.offset)) else { return nil }
    var reader = ByteReader(head)
    guard
      let header = RecordHeader(reader), header.hash == hash, header.sequence == entry.sequence,
      reader.skip(RecordHeader.size), let attributes = RecordAttributes.read(reader),
      header.length == Int(entry.length),
      let key = try? segment.file.bytes(header.keyLength, at: Int(entry.offset) + start), key.count == header.keyLength
    else { return nil }
    return (key, attributes.contentID)
  }

  func summary(of entry: DiskEntry, hash: KeyHash, in segment: Segment) -> DataCacheEntry? {
    guard let identity = identity(of: entry, hash: hash, in: segment) else { return nil }
    return DataCacheEntry(
      key: CacheKey(bytes: identity.key),
      kind: CachedData.Kind(rawValue: entry.lane) ?? .original,
      byteCount: Int(entry.bodyLength),
      stored: Date(timeIntervalSinceReferenceDate: entry.stored),
      expires: entry.expires == .infinity ? nil : Date(timeIntervalSinceReferenceDate: entry.expires),
      hits: Int(entry.hits),
    )
  }
}
