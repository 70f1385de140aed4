import CVitrineCaching
import VitrineRuntime

/// The checksum of everything on disk: CRC-32C (Castagnoli), as in iSCSI (RFC 3720, appendix B.4).
///
/// Takes about 0.05 ns a byte with the processor's instruction, 0.5 without.
package struct CRC32C: Hashable, Sendable {
  /// The checksum of the bytes so far.
  package private(set) var value: UInt32 = 0
  private let isNative: Bool

  private static let hasInstruction = vitrine_crc32c_is_native() != 0

  /// Creates the checksum of no bytes.
  ///
  /// - Parameter scalar: Set to use the table instead of the processor's instruction, for tests.
  package init(scalar: Bool = false) {
    isNative = Self.hasInstruction && !scalar
  }

  /// Returns the checksum of `bytes`.
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var checksum = CRC32C()
    unsafe checksum.append(bytes)
    return checksum.value
  }

  /// Appends bytes to the checksum.
  ///
  /// Complexity: O(count).
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    if isNative {
      // The buffer gives the count, and the tables are as long as the function reads.
      value = unsafe Self.shift.withUnsafeBufferPointer {
        unsafe vitrine_crc32c(value, start, bytes.count, $0.baseAddress)
      }
    } else {
      unsafe appendByTable(bytes)
    }
  }

  /// Appends bytes to the checksum.
  ///
  /// Complexity: O(count).
  package mutating func append(_ bytes: Data) {
    unsafe bytes.withUnsafeBytes { unsafe append($0) }
  }

  // These tables advance a checksum over a block of zeros, one for each of its four bytes. They join three checksums
  // that are computed in parallel: the instruction takes three cycles and can start anew in each.
  private static let shift: [UInt32] = {
    // The operator is linear, so the 32 single bits determine the result for every value.
    let zeros = [UInt8](repeating: 0, count: Int(vitrine_crc32c_block()))
    let bits: [UInt32] = (0..<32).map { bit in
      var checksum = CRC32C(scalar: true)
      checksum.value = ~(1 << UInt32(bit))
      // The zeros outlive the closure.
      unsafe zeros.withUnsafeBytes { unsafe checksum.appendByTable($0) }
      return ~checksum.value
    }
    var tables: [UInt32] = []
    for byte in 0..<4 {
      for value in 0..<256 {
        var entry: UInt32 = 0
        for bit in 0..<8 where value >> bit & 1 == 1 { entry ^= bits[byte * 8 + bit] }
        tables.append(entry)
      }
    }
    return tables
  }()

  // Eight tables handle eight bytes in one step ("slicing by 8", Kounavis and Berry, 2005).
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
      // The loop condition leaves eight bytes.
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
