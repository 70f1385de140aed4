import VitrineRuntime

/// Operations on the folder as a whole.
extension DiskWriter {
  /// Evicts until the folder takes up at most `limit` bytes.
  func trim(to limit: Int) {
    if shared.withLock({ $0.isReader }) { return }
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
    var report: DiskVerification = (0, [])
    var hashes: [KeyHash] = []
    eachEntry { hash, _ in hashes.append(hash) }
    for hash in hashes {
      guard let place = shared.withLock({ $0.place(of: hash) }) else { continue }
      report.checked += 1
      let entry = place.entry
      if folder.isWhole(at: place) { continue }
      guard shared.withLock({ $0.dropDamaged(hash, entry) }) else { continue }
      // The key may be intact although the rest is not.
      let bytes = try? place.segment.file.bytes(Int(entry.record.length), at: Int(entry.record.offset))
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
