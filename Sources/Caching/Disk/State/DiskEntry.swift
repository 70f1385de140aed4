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

/// An entry of the index.
struct DiskEntry: Sendable {
  var segment: UInt32
  var offset: UInt32
  /// The length of the record, in bytes.
  var length: UInt32
  var bodyLength: UInt32
  var sequence: UInt64
  var revision: UInt64
  /// Seconds since the reference date.
  var stored: Double
  /// Seconds since the reference date, infinite for never.
  var expires: Double
  var lastUse: UInt32
  var hits: UInt32
  /// The place of the latest renewal, if `renewalLength` is not 0.
  var renewalSegment: UInt32 = 0
  var renewalOffset: UInt32 = 0
  var renewalLength: UInt32 = 0
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
  var expiryDate: Date? { expires == .infinity ? nil : Date(timeIntervalSinceReferenceDate: expires) }

  /// The size of the entry on disk, in bytes.
  var size: Int { Int(length) + Int(renewalLength) + (isSpilled ? Int(bodyLength) : 0) }
}
