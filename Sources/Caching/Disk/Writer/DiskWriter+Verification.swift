import VitrineRuntime

/// Operations on the folder as a whole.
extension DiskWriter {
  /// Evicts until the folder takes up at most `limit` bytes.
  func trim(to limit: Int) {
    drain()
    do throws(FileError) {
      try makeRoom(for: 0, limit: limit)
      try sync()
      try writeIndex()
    } catch {
      // After a write error, compaction cannot continue. The next batch reports the error.
    }
  }

  /// Reads every entry, drops the damaged ones, and returns their keys.
  func verify() -> DiskVerification {
    drain()
    var report = DiskVerification()
    var entries: [(KeyHash, DiskEntry)] = []
    eachEntry { entries.append(($0, $1)) }
    for (hash, entry) in entries {
      let places = shared.withLock { ($0.segments[entry.record.segment], $0.segments[entry.renewal.segment]) }
      guard let segment = places.0 else { continue }
      report.checked += 1
      let place = DiskFolder.Place(entry: entry, hash: hash, segment: segment, renewalSegment: places.1)
      if folder.isWhole(at: place) { continue }
      guard shared.withLock({ $0.dropDamaged(hash, entry) }) else { continue }
      // The key may be intact although the rest is not.
      let bytes = try? segment.file.bytes(Int(entry.record.length), at: Int(entry.record.offset))
      report.damaged.append(bytes.flatMap { name(in: $0, hash) })
    }
    removeDoomed()
    return report
  }

  private func name(in record: [UInt8], _ hash: KeyHash) -> CacheKey? {
    var reader = HeadReader(record, from: RecordHeader.size + RecordAttributes.size)
    guard let header = RecordHeader(HeadReader(record)), let bytes = reader.data(header.keyLength)
    else { return nil }
    let key = CacheKey(bytes: Array(bytes))
    return key.hash(under: shared.withLock { $0.secret }) == hash ? key : nil
  }
}
