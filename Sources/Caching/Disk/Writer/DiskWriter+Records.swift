import VitrineRuntime

/// Turns operations into records at the end of a lane's log.
extension DiskWriter {
  func append(_ operation: StagedOperation, _ bodies: [UInt64: UInt32]) throws(FileError) -> Outcome {
    switch operation.operation {
    case .put(let key, let data):
      let older = shared.withLock { $0.index[operation.hash] }
      if let older, older.lane != data.kind.rawValue {
        // The older record in the other lane would return if the new entry were evicted.
        owedMoves.append((operation.hash, operation.sequence - 1, Int(older.lane)))
      }
      let bodyChecksum = bodies[operation.sequence]
      guard bodyChecksum != nil || data.data.count <= options.spillThreshold else { return .refused }
      let attributes = RecordAttributes(
        data,
        sequence: operation.sequence,
        lastUse: shared.withLock { $0.tick },
        // The uses of a staged entry are in its view, and a streamed one was not staged.
        hits: operation.body == nil ? 1 : (older?.hits ?? 0) &+ 1,
        bodyChecksum: bodyChecksum,
      )
      let (kind, lane) = (bodyChecksum == nil ? RecordKind.entry : .spilled, Int(data.kind.rawValue))
      let header = RecordHeader(kind: kind, lane: lane, hash: operation.hash, sequence: operation.sequence)
      var record = DiskRecord(header: header, attributes: attributes, key: key.bytes, metadata: data.metadata)
      if bodyChecksum == nil { record.payload = data.data }
      let spilledLength = bodyChecksum == nil ? nil : operation.body?.count ?? data.data.count
      return .put(try append(record.measured(spilledLength: spilledLength), attributes))
    case .renew(let target, let expires, let metadata):
      let lane = shared.withLock { Int($0.index[operation.hash]?.lane ?? 0) }
      let renewal = DiskRenewal(target: target, expires: expires, revision: operation.sequence)
      return .renewal(try append(renewal, of: operation.hash, metadata: metadata, lane: lane))
    case .remove:
      try appendRemoval(of: operation.hash, sequence: operation.sequence)
      return .removal
    }
  }

  /// Appends the record of an entry.
  func append(_ record: DiskRecord, _ attributes: RecordAttributes) throws(FileError) -> DiskEntry {
    DiskEntry(record.header, attributes, at: try append(record))
  }

  /// Appends a renewal, and returns it with its place.
  func append(
    _ renewal: DiskRenewal,
    of hash: KeyHash,
    metadata: Data,
    lane: Int,
  ) throws(FileError) -> DiskRenewal {
    let header = RecordHeader(kind: .renewal, lane: lane, hash: hash, sequence: renewal.revision)
    var payload = HeadWriter()
    payload.append(renewal.target)
    payload.append(seconds: renewal.expires)
    var renewal = renewal
    renewal.place = try append(DiskRecord(header: header, metadata: metadata, payload: payload.data).measured())
    return renewal
  }

  /// Appends a removal of older records of a key, to the given lane or to every lane that may have such records.
  func appendRemoval(of hash: KeyHash, sequence: UInt64, lane: Int? = nil) throws(FileError) {
    for target in lane.map({ [$0] }) ?? [0, 1] {
      let isEmpty = shared.withLock { $0.segments.counts[target] == 0 }
      if isEmpty, lanes[target].segment == nil { continue }
      let header = RecordHeader(kind: .removal, lane: target, hash: hash, sequence: sequence)
      _ = try append(DiskRecord(header: header))
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
    var payload = HeadWriter()
    for (hash, lastUse, hits) in uses {
      payload.append(hash.low)
      payload.append(hash.high)
      payload.append(lastUse)
      payload.append(hits)
    }
    let lane = lanes[0].segment == nil ? 1 : 0
    let header = RecordHeader(kind: .uses, lane: lane, hash: KeyHash(low: 0, high: 0), sequence: 0)
    _ = try append(DiskRecord(header: header, payload: payload.data).measured())
  }

  /// Appends a record to the log of its lane.
  func append(_ record: DiskRecord) throws(FileError) -> RecordPlace {
    let (lane, length) = (record.header.lane, record.header.length)
    let end = lanes[lane].tail + lanes[lane].buffer.count
    if lanes[lane].segment == nil || (end > 0 && end + length > options.segmentSize) {
      try flush(lane)
      try roll(lane)
    }
    guard let segment = lanes[lane].segment else { throw FileError("no segment") }
    let offset = lanes[lane].tail + lanes[lane].buffer.count
    lanes[lane].buffer.append(record)
    return RecordPlace(segment: segment, offset: UInt32(offset), length: UInt32(length))
  }
}
