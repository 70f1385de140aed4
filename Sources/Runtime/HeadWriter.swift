/// A writer of the heads that a ``HeadReader`` reads.
package struct HeadWriter: Sendable {
  @usableFromInline
  package internal(set) var bytes: [UInt8] = []

  /// Creates an empty head.
  ///
  /// - Parameter capacity: The number of bytes that are reserved.
  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  package var count: Int { bytes.count }
  package var data: Data { Data(bytes) }

  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: bytes.capacity < 4 << 20)
  }

  @inlinable
  package mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    // The bytes of a number on the stack are only read while the closure runs.
    unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends a count as a number of eight bytes; a negative one becomes 0.
  package mutating func append(count: Int) { append(UInt64(clamping: count)) }

  /// Appends seconds as a 64-bit float.
  package mutating func append(seconds: Double) { append(seconds.bitPattern) }

  package mutating func append(_ data: Data) {
    // The bytes are only read while the closure runs. Appended as a sequence, they would be copied twice.
    unsafe data.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

  package mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Appends lines of text, none of which has a line break.
  package mutating func append(lines: [String]) { append(lines.joined(separator: "\n")) }
}
