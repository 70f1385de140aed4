import VitrineRuntime

/// The journal of a partial body: a record with the key, then checkpoints that record the complete part of the body.
enum PartialJournal {
  /// The extent of the body at some time.
  struct Checkpoint {
    var count: Int
    var checksum: UInt32
    var changed: Double
    /// The end of the checkpoint in the journal.
    var end = 0
  }

  struct Contents {
    var hash: KeyHash
    var key: [UInt8]
    var metadata: Data
    var checkpoints: [Checkpoint]
  }

  /// A body of a gigabyte has 4,096 checkpoints.
  private static let readLimit = 16 << 20

  static func head(_ number: UInt64, _ hash: KeyHash, key: [UInt8], metadata: Data) -> [UInt8] {
    var writer = HeadWriter()
    writer.append(DiskRecord(header: header(number, hash), key: key, metadata: metadata).measured())
    return writer.bytes
  }

  static func checkpoint(_ number: UInt64, _ hash: KeyHash, _ checkpoint: Checkpoint) -> [UInt8] {
    var payload = HeadWriter()
    payload.append(count: checkpoint.count)
    payload.append(seconds: checkpoint.changed)
    payload.append(checkpoint.checksum)
    var writer = HeadWriter()
    writer.append(DiskRecord(header: header(number, hash), payload: payload.data).measured())
    return writer.bytes
  }

  private static func header(_ number: UInt64, _ hash: KeyHash) -> RecordHeader {
    RecordHeader(kind: .partial, lane: 0, hash: hash, sequence: number)
  }

  /// Reads the journal up to the first damaged record, or returns `nil` if the record with the key is damaged.
  static func read(_ number: UInt64, in folder: DiskFolder) -> Contents? {
    guard
      let file = try? folder.open(folder.journalName(number)),
      let size = try? file.size(), size <= readLimit
    else { return nil }
    var contents: Contents?
    var offset = 0
    while let head = try? file.bytes(RecordHeader.size, at: offset), let header = RecordHeader(HeadReader(head)),
      header.kind == .partial, header.sequence == number, header.length <= size - offset,
      let record = folder.record(file, at: RecordPlace(offset: UInt32(offset), length: UInt32(header.length)))
    {
      offset += header.length
      guard contents != nil else {
        contents = Contents(hash: header.hash, key: record.key, metadata: record.metadata, checkpoints: [])
        continue
      }
      var payload = HeadReader(Array(record.payload))
      guard let count = payload.count(), let changed = payload.seconds(), let checksum = payload.uint32() else { break }
      contents?.checkpoints.append(Checkpoint(count: count, checksum: checksum, changed: changed, end: offset))
    }
    return contents
  }
}

/// The beginning of a body, complete up to its end.
///
/// Its bytes can be read for as long as it is held, even after the cache has dropped it.
package struct PartialBody: Sendable {
  /// The number of bytes.
  package let count: Int
  /// The metadata of the body when it began: its validators and full length.
  package let metadata: Data

  let number: UInt64
  let hash: KeyHash
  let epoch: Int
  let file: any DiskFile
  let reading: WorkQueue
  let checksum: CRC32C
  let contentHash: ContentHash
  let journalEnd: Int

  /// Returns the bytes in a range, clamped to the body, or `nil` if the disk fails.
  package func bytes(_ range: Range<Int>) async -> Data? {
    let range = range.clamped(to: 0..<count)
    let file = file
    return try? await reading.run(priority: .high) { _ in
      let bytes = try file.bytes(range.count, at: range.lowerBound)
      guard bytes.count == range.count else { throw FileError("the file is shorter than before") }
      return Data(bytes)
    }
  }
}

extension DiskFolder {
  /// Reads a partial body as far as its checkpoints verify, or returns `nil` if none does.
  ///
  /// Memory use does not grow with the body.
  func partial(_ number: UInt64, key: CacheKey, epoch: Int, reading: WorkQueue) -> PartialBody? {
    guard
      let journal = PartialJournal.read(number, in: self), key.hasBytes(journal.key),
      let file = try? open(partialName(number))
    else { return nil }
    var checksum = CRC32C()
    var contentHash = ContentHash()
    var whole: PartialBody?
    var offset = 0
    for checkpoint in journal.checkpoints {
      // Checksums are cumulative, so the first mismatch ends the body.
      guard checkpoint.count >= offset else { break }
      while offset < checkpoint.count {
        let wanted = min(256 << 10, checkpoint.count - offset)
        guard let bytes = try? file.bytes(wanted, at: offset), bytes.count == wanted else { return whole }
        // The bytes are only read while the closure runs.
        unsafe bytes.withUnsafeBytes { bytes in
          unsafe checksum.append(bytes)
          unsafe contentHash.append(bytes)
        }
        offset += wanted
      }
      guard checksum.value == checkpoint.checksum else { break }
      whole = PartialBody(
        count: offset,
        metadata: journal.metadata,
        number: number,
        hash: journal.hash,
        epoch: epoch,
        file: file,
        reading: reading,
        checksum: checksum,
        contentHash: contentHash,
        journalEnd: checkpoint.end,
      )
    }
    return whole
  }
}
