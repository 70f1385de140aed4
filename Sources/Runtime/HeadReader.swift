/// A reader of the heads that caches store: little-endian numbers, dates, bytes and lines of text.
///
/// It reads every format of a small record, and a ``HeadWriter`` writes it: the files of a disk cache, the heads of
/// remote tiers, and the metadata of responses and images. A format begins with its version or another mark that no
/// other format has. Each read is checked against the end in every build, so a truncated or foreign head gives `nil`.
package struct HeadReader: Sendable {
  /// The maximum number of bytes of a head that is read as a whole.
  ///
  /// Longer data are foreign, and are not copied or parsed.
  package static let limit = 1 << 20

  @usableFromInline
  let bytes: [UInt8]
  @usableFromInline
  package internal(set) var offset: Int

  package init(_ bytes: [UInt8], from offset: Int = 0) {
    self.bytes = bytes
    self.offset = max(0, min(offset, bytes.count))
  }

  /// Creates a reader of a whole head, or returns `nil` if it exceeds the limit.
  package init?(_ head: Data, limit: Int = Self.limit) {
    guard head.count <= limit else { return nil }
    self.init([UInt8](head))
  }

  package var remaining: Int { bytes.count - offset }

  /// Reads a number, or returns `nil` if too few bytes are left.
  @inlinable
  package mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
    let size = MemoryLayout<Number>.size
    guard size <= bytes.count - offset else { return nil }
    defer { offset += size }
    // The guard leaves `size` bytes.
    return unsafe bytes.withUnsafeBytes {
      unsafe Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
  }

  package mutating func uint8() -> UInt8? { number() }
  package mutating func uint16() -> UInt16? { number() }
  package mutating func uint32() -> UInt32? { number() }
  package mutating func uint64() -> UInt64? { number() }

  /// Reads a number of eight bytes that counts something, or returns `nil` if it exceeds an `Int`.
  package mutating func count() -> Int? { uint64().flatMap { Int(exactly: $0) } }

  /// Reads seconds as a 64-bit float of any value.
  package mutating func seconds() -> Double? { uint64().map { Double(bitPattern: $0) } }

  /// Reads bytes, or returns `nil` if there are fewer.
  package mutating func data(_ count: Int) -> Data? { slice(count).map { Data($0) } }

  /// Reads bytes without a copy, or returns `nil` if there are fewer.
  package mutating func slice(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= remaining else { return nil }
    defer { offset += count }
    return bytes[offset..<offset + count]
  }

  /// Reads the remaining lines of text, one of them empty if there is no text, or returns `nil` if it is not UTF-8.
  package mutating func lines() -> [Substring]? {
    defer { offset = bytes.count }
    guard let text = String(validating: bytes[offset...], as: UTF8.self) else { return nil }
    var (lines, rest) = ([Substring](), text[...])
    lines.reserveCapacity(1 + bytes[offset...].count { $0 == UInt8(ascii: "\n") })
    while let end = rest.utf8.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(rest[..<end])
      rest = rest[rest.utf8.index(after: end)...]
    }
    lines.append(rest)
    return lines
  }

  /// Calls `body` with the remaining bytes.
  @inlinable
  package func withRest<Answer>(_ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    unsafe bytes.withUnsafeBytes { all in
      // The offset is never beyond the end.
      unsafe body(UnsafeRawBufferPointer(rebasing: all[offset...]))
    }
  }
}
