import VitrineRuntime

/// A segment's file.
struct Segment: SizedFile {
  let id: UInt32
  let lane: Int
  let file: any DiskFile
  var size: Int
  /// The total length of the records that the index refers to, in bytes.
  var live = 0

  var group: Int { lane }
}

/// A body that is a file of its own.
struct SpilledBody: SizedFile {
  let lane: Int
  let size: Int

  var group: Int { lane }
}

/// A renewal in the log.
struct DiskRenewal {
  /// The sequence of the renewed entry.
  var target: UInt64
  var expires: Double
  var revision: UInt64
  var place = RecordPlace()
}

/// The shared state of a body that is being streamed.
struct StreamedFile: SizedFile {
  var hash: KeyHash
  /// The size of its files, in bytes.
  var size = 0
  /// Set if it may outlive its writer, for another to resume.
  var isPartial: Bool
  /// The time of the last append, in seconds since the reference date.
  var changed: Double

  /// Partial bodies are counted apart.
  var group: Int { isPartial ? 1 : 0 }
}

/// An entry of the index.
struct DiskEntry: Sendable {
  /// The place of the record.
  var record: RecordPlace
  var bodyLength: UInt32
  var sequence: UInt64
  var revision: UInt64
  /// Seconds since the reference date.
  var stored: Double
  /// Seconds since the reference date, infinite for never.
  var expires: Double
  var lastUse: UInt32
  var hits: UInt32
  /// The place of the latest renewal.
  var renewal = RecordPlace()
  var lane: UInt8
  /// Set if the body is a file of its own.
  var isSpilled: Bool
  /// Set if replaced records of the key may still lie in the log.
  var hasOlder = false

  /// The sequence of a removal that ends this entry and spares later ones.
  ///
  /// A later entry may be on its way already. Each entry leaves the number before its own free.
  var removalSequence: UInt64 { sequence + 1 }

  /// The time of expiry, or `nil` for never.
  var expiryDate: Date? { Date(expirySeconds: expires) }

  var storedDate: Date { Date(timeIntervalSinceReferenceDate: stored) }

  var kind: CachedData.Kind { CachedData.Kind(rawValue: lane) ?? .original }

  /// A Boolean value that indicates whether a renewal has replaced the expiry and metadata.
  var isRenewed: Bool { renewal.length > 0 }

  /// The size of the entry on disk, in bytes.
  var size: Int { Int(record.length) + Int(renewal.length) + (isSpilled ? Int(bodyLength) : 0) }
}

extension DiskEntry {
  /// Creates the entry of a record.
  init(_ header: RecordHeader, _ attributes: RecordAttributes, at record: RecordPlace) {
    self.init(
      record: record,
      bodyLength: UInt32(header.payloadLength),
      sequence: header.sequence,
      revision: attributes.revision,
      stored: attributes.stored,
      expires: attributes.expires,
      lastUse: attributes.lastUse,
      hits: attributes.hits,
      lane: UInt8(header.lane),
      isSpilled: header.kind == .spilled,
    )
  }
}
