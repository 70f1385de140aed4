import CVitrineCaching
package import VitrineRuntime

/// The checksum of everything on disk: CRC-32C (Castagnoli), as in iSCSI (RFC 3720, appendix B.4).
///
/// About 0.12 ns a byte by the processor's instruction, 0.5 without.
package struct CRC32C: Hashable, Sendable {
  /// The checksum of the bytes so far.
  package private(set) var value: UInt32 = 0
  private let isNative: Bool

  private static let hasInstruction = vitrine_crc32c_is_native() != 0

  /// Creates the checksum of no bytes.
  ///
  /// - Parameter scalar: Forces the table instead of the processor's instruction, for tests.
  package init(scalar: Bool = false) {
    isNative = Self.hasInstruction && !scalar
  }

  /// Returns the checksum of `bytes`.
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var checksum = CRC32C()
    unsafe checksum.append(bytes)
    return checksum.value
  }

  /// Takes in more bytes.
  ///
  /// Complexity: O(count).
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    if isNative {
      // The buffer says how many bytes there are.
      value = unsafe vitrine_crc32c(value, start, bytes.count)
    } else {
      unsafe appendByTable(bytes)
    }
  }

  /// Takes in more bytes.
  ///
  /// Complexity: O(count).
  package mutating func append(_ bytes: Data) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  // Eight tables, so that eight bytes are taken in one step ("slicing by 8", Kounavis and Berry, 2005).
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var entry = UInt32(byte)
      for _ in 0..<8 { entry = entry & 1 == 1 ? entry >> 1 ^ 0x82F6_3B78 : entry >> 1 }
      tables[byte] = entry
    }
    for index in 256..<tables.count {
      let before = tables[index - 256]
      tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
    }
    return tables
  }()

  private mutating func appendByTable(_ bytes: UnsafeRawBufferPointer) {
    let tables = Self.tables
    var state = ~value
    var offset = 0
    while offset + 8 <= bytes.count {
      // Eight bytes are left, as just checked.
      let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian ^ UInt64(state)
      state = 0
      for step in 0..<8 {
        state ^= tables[(7 - step) * 256 + Int(truncatingIfNeeded: word >> UInt64(8 * step) & 0xFF)]
      }
      offset += 8
    }
    while offset < bytes.count {
      // `offset` is below the count.
      state = unsafe state >> 8 ^ tables[Int((state ^ UInt32(bytes[offset])) & 0xFF)]
      offset += 1
    }
    value = ~state
  }
}
