import VitrineRuntime

/// Reads whole records and verifies them, or reads only their heads.
extension DiskFolder {
  struct Record {
    var header: RecordHeader
    var attributes: RecordAttributes?
    var key: [UInt8]
    var metadata: Data
    var payload: Data
  }

  /// The outcome of reading an entry of the index.
  enum Reading<Found: Sendable>: Sendable {
    case found(Found)
    /// The record is intact but has another key with the same hash.
    case otherKey
    /// The record is damaged, or the read would have had to wait and must not.
    case unreadable
  }

  /// An entry of the index with its files.
  struct Place: Sendable {
    var entry: DiskEntry
    var hash: KeyHash
    var segment: Segment
    var renewalSegment: Segment?
  }

  /// Reads a record, or returns `nil` if it is damaged, or if the read must not wait and would have to.
  ///
  /// The payload is not copied unless it is small.
  func record(_ file: any DiskFile, at offset: Int, length: Int, cachedOnly: Bool = false) -> Record? {
    guard length >= RecordHeader.size, let block = ReadBlock(file, at: offset, length, cachedOnly: cachedOnly),
      let layout = block.layout(ofRecord: length), block.checksum(of: layout.contents) == layout.header.checksum
    else { return nil }
    return Record(
      header: layout.header,
      attributes: layout.attributes,
      key: block.bytes(layout.key),
      metadata: block.copy(layout.metadata),
      payload: block.data(layout.payload),
    )
  }

  /// Reads a body from its own file, or returns `nil` if it is damaged.
  func body(_ sequence: UInt64, length: Int, checksum: UInt32) -> Data? {
    guard
      let file = try? files.open(path(bodyName(sequence)), isWritable: false, isCreated: false),
      // The size is checked before that much memory is allocated.
      (try? file.size()) == length,
      let block = ReadBlock(file, at: 0, length, cachedOnly: false), block.checksum(of: 0..<length) == checksum
    else { return nil }
    return block.data(0..<length)
  }

  /// Reads an entry from its record and its latest renewal.
  ///
  /// Allocates only the result.
  func entry(at place: Place, of key: CacheKey, cachedOnly: Bool = false) -> Reading<CachedData> {
    let entry = place.entry
    let length = Int(entry.length)
    guard length >= RecordHeader.size,
      let block = ReadBlock(place.segment.file, at: Int(entry.offset), length, cachedOnly: cachedOnly),
      let layout = block.layout(ofRecord: length), block.checksum(of: layout.contents) == layout.header.checksum,
      isHeader(layout.header, of: place), let attributes = layout.attributes
    else { return .unreadable }
    guard block.isEqual(layout.key, to: key) else { return .otherKey }
    guard let metadata = renewedMetadata(at: place, cachedOnly: cachedOnly) ?? block.copyUnlessRenewed(entry, layout)
    else { return .unreadable }
    if entry.isSpilled {
      guard let payload = spilledBody(of: entry, attributes) else { return .unreadable }
      return .found(data(entry, attributes, metadata, payload))
    }
    return .found(data(entry, attributes, metadata, block.data(layout.payload)))
  }

  /// Reads an entry of any key from its record and its latest renewal, or returns `nil` if it is damaged.
  func entry(at place: Place) -> (key: [UInt8], data: CachedData, attributes: RecordAttributes)? {
    let entry = place.entry
    guard let record = record(place.segment.file, at: Int(entry.offset), length: Int(entry.length)),
      isHeader(record.header, of: place), let attributes = record.attributes,
      let metadata = entry.renewalLength > 0 ? renewedMetadata(at: place, cachedOnly: false) : record.metadata,
      let payload = entry.isSpilled ? spilledBody(of: entry, attributes) : record.payload
    else { return nil }
    return (record.key, data(entry, attributes, metadata, payload), attributes)
  }

  private func spilledBody(of entry: DiskEntry, _ attributes: RecordAttributes) -> Data? {
    body(entry.sequence, length: Int(entry.bodyLength), checksum: attributes.bodyChecksum)
  }

  private func data(
    _ entry: DiskEntry,
    _ attributes: RecordAttributes,
    _ metadata: Data,
    _ payload: Data,
  ) -> CachedData {
    CachedData(
      data: payload,
      kind: CachedData.Kind(rawValue: entry.lane) ?? .original,
      metadata: metadata,
      contentID: attributes.contentID,
      expires: entry.expiryDate,
      stored: Date(timeIntervalSinceReferenceDate: entry.stored),
    )
  }

  // MARK: - Without the bytes

  /// Reads an entry without its body.
  ///
  /// Verifies the header and the attributes, and compares the key. Does not verify the metadata, which shares a
  /// checksum with the body.
  func head(at place: Place, of key: CacheKey, cachedOnly: Bool = false) -> Reading<CachedDataHead> {
    let entry = place.entry
    guard let block = headBlock(at: place, cachedOnly: cachedOnly),
      let layout = block.layout(ofRecord: Int(entry.length)),
      isHeader(layout.header, of: place), let attributes = layout.attributes
    else { return .unreadable }
    guard block.isEqual(layout.key, to: key) else { return .otherKey }
    guard let metadata = renewedMetadata(at: place, cachedOnly: cachedOnly) ?? block.copyUnlessRenewed(entry, layout)
    else { return .unreadable }
    return .found(
      CachedDataHead(
        kind: CachedData.Kind(rawValue: entry.lane) ?? .original,
        byteCount: Int(entry.bodyLength),
        metadata: metadata,
        contentID: attributes.contentID,
        expires: entry.expiryDate,
        stored: Date(timeIntervalSinceReferenceDate: entry.stored),
      )
    )
  }

  /// Reads the key of an entry without its body, or returns `nil` if the header is damaged.
  func key(at place: Place) -> [UInt8]? {
    guard let block = headBlock(at: place, cachedOnly: false),
      let layout = block.layout(ofRecord: Int(place.entry.length)), isHeader(layout.header, of: place)
    else { return nil }
    return block.bytes(layout.key)
  }

  func summary(at place: Place) -> DataCacheEntry? {
    guard let key = key(at: place) else { return nil }
    return DataCacheEntry(
      key: CacheKey(bytes: key),
      kind: CachedData.Kind(rawValue: place.entry.lane) ?? .original,
      byteCount: Int(place.entry.bodyLength),
      stored: Date(timeIntervalSinceReferenceDate: place.entry.stored),
      expires: place.entry.expiryDate,
      hits: Int(place.entry.hits),
    )
  }

  /// Reads the part of a record before the body, and as much as its padding.
  private func headBlock(at place: Place, cachedOnly: Bool) -> ReadBlock? {
    let entry = place.entry
    let count = Int(entry.length) - (entry.isSpilled ? 0 : Int(entry.bodyLength))
    guard count >= RecordHeader.size + RecordAttributes.size else { return nil }
    return ReadBlock(place.segment.file, at: Int(entry.offset), count, cachedOnly: cachedOnly)
  }

  private func isHeader(_ header: RecordHeader, of place: Place) -> Bool {
    let entry = place.entry
    return header.hasAttributes && header.hash == place.hash && header.sequence == entry.sequence
      && header.lane == Int(entry.lane) && header.payloadLength == Int(entry.bodyLength)
      && (header.kind == .spilled) == entry.isSpilled
  }

  /// Returns the metadata of the latest renewal, or `nil` if there is none or it cannot be read.
  private func renewedMetadata(at place: Place, cachedOnly: Bool) -> Data? {
    let entry = place.entry
    guard entry.renewalLength > 0, let file = place.renewalSegment?.file,
      let renewal = record(
        file,
        at: Int(entry.renewalOffset),
        length: Int(entry.renewalLength),
        cachedOnly: cachedOnly,
      ),
      renewal.header.kind == .renewal, renewal.header.hash == place.hash
    else { return nil }
    return renewal.metadata
  }
}

extension ReadBlock {
  /// Returns the metadata of a record, or `nil` if a renewal has replaced it.
  fileprivate func copyUnlessRenewed(_ entry: DiskEntry, _ layout: RecordLayout) -> Data? {
    entry.renewalLength > 0 ? nil : copy(layout.metadata)
  }
}
