import VitrineRuntime

/// A segment's file; its size and what of it is alive are in ``DiskState``.
struct Segment: SizedFile {
  let id: UInt32
  let lane: Int
  let file: any DiskFile
  var size: Int
  /// The bytes of records that the index leads to.
  var live = 0

  var group: Int { lane }
}

/// A body that is a file of its own.
struct SpilledBody: SizedFile {
  let lane: Int
  let size: Int

  var group: Int { lane }
}

/// What the index knows about an entry.
struct DiskEntry: Sendable {
  var segment: UInt32
  var offset: UInt32
  /// Of the record, in bytes.
  var length: UInt32
  var bodyLength: UInt32
  var sequence: UInt64
  var revision: UInt64
  /// Seconds since the reference date.
  var stored: Double
  /// Seconds since the reference date; infinite for never.
  var expires: Double
  var lastUse: UInt32
  var hits: UInt32
  /// Where the latest renewal is, if `renewalLength` is not 0.
  var renewalSegment: UInt32 = 0
  var renewalOffset: UInt32 = 0
  var renewalLength: UInt32 = 0
  var lane: UInt8
  /// Whether the bytes are a file of their own.
  var isSpilled: Bool
  /// Whether records that this one replaced may still lie in the log.
  var hasOlder = false

  /// Of a removal that ends this entry and no later one, which may be on its way already: each leaves the number before
  /// its own free.
  var removalSequence: UInt64 { sequence + 1 }

  /// `nil` for never.
  var expiryDate: Date? { expires == .infinity ? nil : Date(timeIntervalSinceReferenceDate: expires) }

  /// What the entry takes up.
  var size: Int { Int(length) + Int(renewalLength) + (isSpilled ? Int(bodyLength) : 0) }
}
