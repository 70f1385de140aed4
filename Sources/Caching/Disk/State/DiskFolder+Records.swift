import VitrineRuntime

/// Reads whole records and verifies them, or reads only their heads.
extension DiskFolder {
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
  func record(_ file: any DiskFile, at place: RecordPlace, cachedOnly: Bool = false) -> DiskRecord? {
    guard let block = block(file, at: place, cachedOnly: cachedOnly),
      let layout = block.layout(ofRecord: Int(place.length)),
      block.checksum(of: layout.contents) == layout.header.checksum
    else { return nil }
    return DiskRecord(
      header: layout.header,
      attributes: layout.attributes,
      key: block.bytes(layout.key),
      metadata: block.copy(layout.metadata),
      payload: block.data(layout.payload),
    )
  }

  /// Reads an entry from its record and its latest renewal.
  ///
  /// Allocates only the result.
  func entry(at place: Place, of key: CacheKey, cachedOnly: Bool = false) -> Reading<CachedData> {
    let entry = place.entry
    guard let block = block(place.segment.file, at: entry.record, cachedOnly: cachedOnly),
      let layout = block.layout(ofRecord: Int(entry.record.length)),
      block.checksum(of: layout.contents) == layout.header.checksum
    else { return .unreadable }
    switch head(in: block, layout, at: place, of: key, cachedOnly: cachedOnly) {
    case .otherKey: return .otherKey
    case .unreadable: return .unreadable
    case .found(let head):
      guard entry.isSpilled else { return .found(CachedData(head, block.data(layout.payload))) }
      return spilledBody(of: entry, layout.attributes).map { .found(CachedData(head, $0)) } ?? .unreadable
    }
  }

  /// Reads the record of an entry of any key with its latest renewal, or returns `nil` if it is damaged.
  ///
  /// Does not read a body in its own file.
  func renewedRecord(at place: Place) -> DiskRecord? {
    guard var record = record(place.segment.file, at: place.entry.record), isHeader(record.header, of: place),
      let metadata = metadata(at: place, cachedOnly: false, orElse: record.metadata)
    else { return nil }
    record.metadata = metadata
    return record
  }

  /// Reads all of an entry, and returns whether it is intact.
  func isWhole(at place: Place) -> Bool {
    guard let record = renewedRecord(at: place) else { return false }
    return !place.entry.isSpilled || spilledBody(of: place.entry, record.attributes) != nil
  }

  private func block(_ file: any DiskFile, at place: RecordPlace, cachedOnly: Bool) -> ReadBlock? {
    guard place.length >= RecordHeader.size else { return nil }
    return ReadBlock(file, at: Int(place.offset), Int(place.length), cachedOnly: cachedOnly)
  }

  /// Reads a body from its own file, or returns `nil` if it is damaged.
  private func spilledBody(of entry: DiskEntry, _ attributes: RecordAttributes?) -> Data? {
    let length = Int(entry.bodyLength)
    guard
      let file = try? open(bodyName(entry.sequence)),
      // The size is checked before that much memory is allocated.
      (try? file.size()) == length,
      let block = ReadBlock(file, at: 0, length, cachedOnly: false),
      block.checksum(of: 0..<length) == attributes?.bodyChecksum
    else { return nil }
    return block.data(0..<length)
  }

  // MARK: - Without the bytes

  /// Reads an entry without its body.
  ///
  /// Verifies the header and the attributes, and compares the key. Does not verify the metadata, which shares a
  /// checksum with the body.
  func head(at place: Place, of key: CacheKey, cachedOnly: Bool = false) -> Reading<CachedDataHead> {
    guard let block = headBlock(at: place, cachedOnly: cachedOnly),
      let layout = block.layout(ofRecord: Int(place.entry.record.length))
    else { return .unreadable }
    return head(in: block, layout, at: place, of: key, cachedOnly: cachedOnly)
  }

  private func head(
    in block: borrowing ReadBlock,
    _ layout: RecordLayout,
    at place: Place,
    of key: CacheKey,
    cachedOnly: Bool,
  ) -> Reading<CachedDataHead> {
    guard isHeader(layout.header, of: place), let attributes = layout.attributes else { return .unreadable }
    guard block.isEqual(layout.key, to: key) else { return .otherKey }
    let own = place.entry.isRenewed ? Data() : block.copy(layout.metadata)
    guard let metadata = metadata(at: place, cachedOnly: cachedOnly, orElse: own) else { return .unreadable }
    return .found(
      CachedDataHead(
        kind: place.entry.kind,
        byteCount: Int(place.entry.bodyLength),
        metadata: metadata,
        contentID: attributes.contentID,
        expires: place.entry.expiryDate,
        stored: place.entry.storedDate,
      )
    )
  }

  /// Reads the summary of an entry without its body, or returns `nil` if the header is damaged.
  func summary(at place: Place) -> DataCacheEntry? {
    guard let block = headBlock(at: place, cachedOnly: false),
      let layout = block.layout(ofRecord: Int(place.entry.record.length)), isHeader(layout.header, of: place)
    else { return nil }
    return DataCacheEntry(
      key: CacheKey(bytes: block.bytes(layout.key)),
      kind: place.entry.kind,
      byteCount: Int(place.entry.bodyLength),
      stored: place.entry.storedDate,
      expires: place.entry.expiryDate,
      hits: Int(place.entry.hits),
    )
  }

  /// Reads the part of a record before the body, and as much as its padding.
  private func headBlock(at place: Place, cachedOnly: Bool) -> ReadBlock? {
    let entry = place.entry
    let count = Int(entry.record.length) - (entry.isSpilled ? 0 : Int(entry.bodyLength))
    guard count >= RecordHeader.size + RecordAttributes.size else { return nil }
    return ReadBlock(place.segment.file, at: Int(entry.record.offset), count, cachedOnly: cachedOnly)
  }

  private func isHeader(_ header: RecordHeader, of place: Place) -> Bool {
    let entry = place.entry
    return header.hasAttributes && header.hash == place.hash && header.sequence == entry.sequence
      && header.lane == Int(entry.lane) && header.payloadLength == Int(entry.bodyLength)
      && (header.kind == .spilled) == entry.isSpilled
  }

  /// Returns the metadata of the latest renewal, `own` if there is none, or `nil` if it cannot be read.
  private func metadata(at place: Place, cachedOnly: Bool, orElse own: Data) -> Data? {
    guard place.entry.isRenewed else { return own }
    guard let file = place.renewalSegment?.file,
      let renewal = record(file, at: place.entry.renewal, cachedOnly: cachedOnly),
      renewal.header.kind == .renewal, renewal.header.hash == place.hash
    else { return nil }
    return renewal.metadata
  }
}
