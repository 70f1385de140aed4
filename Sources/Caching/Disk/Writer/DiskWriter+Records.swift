import VitrineRuntime

/// Turns operations into records at the end of a lane's log.
extension DiskWriter {
  func append(
    _ operation: StagedOperation,
    _ bodies: [UInt64: UInt32],
  ) throws(FileError) -> Outcome {
    switch operation.operation {
    case .put(let key, let data):
      let lane = Int(data.kind.rawValue)
      // An older record in the other lane would return if this entry were evicted, so that lane gets a removal.
      let older = shared.withLock { $0.index[operation.hash] }
      if let older, Int(older.lane) != lane {
        owedMoves.append((operation.hash, operation.sequence - 1, Int(older.lane)))
      }
      let bodyChecksum = bodies[operation.sequence]
      guard bodyChecksum != nil || data.data.count <= options.spillThreshold else { return .refused }
      let attributes = RecordAttributes(
        contentID: data.contentID,
        stored: data.stored.timeIntervalSinceReferenceDate,
        expires: data.expires?.timeIntervalSinceReferenceDate ?? .infinity,
        revision: operation.sequence,
        lastUse: shared.withLock { $0.tick },
        hits: 1,
        bodyChecksum: bodyChecksum ?? 0,
      )
      return .put(
        try append(
          key: key.bytes,
          data,
          attributes,
          hash: operation.hash,
          sequence: operation.sequence,
          spilledLength: bodyChecksum == nil ? nil : data.data.count,
        )
      )
    case .renew(let target, let expires, let metadata):
      let lane = shared.withLock { Int($0.index[operation.hash]?.lane ?? 0) }
      let place = try appendRenewal(
        of: operation.hash,
        target: target,
        expires: expires,
        metadata: metadata,
        revision: operation.sequence,
        lane: lane,
      )
      return .renewal(
        target: target,
        expires: expires,
        segment: place.segment,
        offset: place.offset,
        length: place.length,
      )
    case .remove:
      try appendRemoval(of: operation.hash, sequence: operation.sequence)
      return .removal
    }
  }

  func append(
    key: [UInt8],
    _ data: CachedData,
    _ attributes: RecordAttributes,
    hash: KeyHash,
    sequence: UInt64,
    spilledLength: Int?,
  ) throws(FileError) -> DiskEntry {
    let lane = Int(data.kind.rawValue)
    var header = RecordHeader(
      kind: spilledLength != nil ? .spilled : .entry,
      lane: lane,
      hash: hash,
      sequence: sequence,
    )
    header.keyLength = key.count
    header.metadataLength = data.metadata.count
    header.payloadLength = spilledLength ?? data.data.count
    let payload = spilledLength == nil ? data.data : Data()
    let place = try append(header, attributes, key: key, metadata: data.metadata, payload: payload)
    return DiskEntry(
      segment: place.segment,
      offset: place.offset,
      length: place.length,
      bodyLength: UInt32(header.payloadLength),
      sequence: sequence,
      revision: attributes.revision,
      stored: attributes.stored,
      expires: attributes.expires,
      lastUse: attributes.lastUse,
      hits: attributes.hits,
      lane: UInt8(lane),
      isSpilled: spilledLength != nil,
    )
  }

  func appendRenewal(
    of hash: KeyHash,
    target: UInt64,
    expires: Double,
    metadata: Data,
    revision: UInt64,
    lane: Int,
  ) throws(FileError) -> (segment: UInt32, offset: UInt32, length: UInt32) {
    var header = RecordHeader(kind: .renewal, lane: lane, hash: hash, sequence: revision)
    var payload = ByteWriter()
    payload.append(target)
    payload.append(expires.bitPattern)
    header.metadataLength = metadata.count
    header.payloadLength = payload.count
    return try append(header, nil, key: [], metadata: metadata, payload: Data(payload.bytes))
  }

  /// Appends a removal of older records of a key, to the given lane or to every lane that may have such records.
  func appendRemoval(of hash: KeyHash, sequence: UInt64, lane: Int? = nil) throws(FileError) {
    for target in lane.map({ [$0] }) ?? [0, 1] {
      let isEmpty = shared.withLock { $0.segments.counts[target] == 0 }
      if isEmpty, lanes[target].segment == nil { continue }
      let header = RecordHeader(kind: .removal, lane: target, hash: hash, sequence: sequence)
      _ = try append(header, nil, key: [], metadata: Data(), payload: Data())
    }
  }

  func appendUses() throws(FileError) {
    var uses: [(hash: KeyHash, lastUse: UInt32, hits: UInt32)] = []
    var part = 0
    while part < DiskIndex.partCount {
      // The index is visited in steps, since readers wait for the lock.
      shared.withLock { state in
        let enough = uses.count + Self.stepCount
        while part < DiskIndex.partCount, uses.count < enough {
          uses += state.index.takeUsed(part)
          part += 1
        }
      }
    }
    guard !uses.isEmpty, !lanes.allSatisfy({ $0.segment == nil }) else { return }
    var payload = ByteWriter()
    for (hash, lastUse, hits) in uses {
      payload.append(hash.low)
      payload.append(hash.high)
      payload.append(lastUse)
      payload.append(hits)
    }
    let lane = lanes[0].segment == nil ? 1 : 0
    var header = RecordHeader(kind: .uses, lane: lane, hash: KeyHash(low: 0, high: 0), sequence: 0)
    header.payloadLength = payload.count
    _ = try append(header, nil, key: [], metadata: Data(), payload: Data(payload.bytes))
  }

  func append(
    _ header: RecordHeader,
    _ attributes: RecordAttributes?,
    key: [UInt8],
    metadata: Data,
    payload: Data,
  ) throws(FileError) -> (segment: UInt32, offset: UInt32, length: UInt32) {
    let lane = header.lane
    let end = lanes[lane].tail + lanes[lane].buffer.count
    if lanes[lane].segment == nil || (end > 0 && end + header.length > options.segmentSize) {
      try flush(lane)
      try roll(lane)
    }
    guard let segment = lanes[lane].segment else { throw FileError("no segment") }
    let offset = lanes[lane].tail + lanes[lane].buffer.count
    lanes[lane].buffer.append(header, attributes, key: key, metadata: metadata, payload: payload)
    return (segment, UInt32(offset), UInt32(header.length))
  }
}
