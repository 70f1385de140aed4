import VitrineRuntime

/// A bounds-checked reader of encoded bytes: a read past the end returns `nil` and never crashes.
///
/// It borrows the bytes, so it must stay inside the `withUnsafeBytes` of their owner.
@safe
package struct ByteReader {
  package let bytes: UnsafeRawBufferPointer

  package init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = bytes
  }

  package var count: Int { unsafe bytes.count }

  package func byte(at offset: Int) -> UInt8? {
    // In bounds by the guard.
    guard offset >= 0, offset < count else { return nil }
    return unsafe bytes[offset]
  }

  package func bigEndian16(at offset: Int) -> UInt16? {
    guard let high = byte(at: offset), let low = byte(at: offset + 1) else { return nil }
    return UInt16(high) << 8 | UInt16(low)
  }

  package func littleEndian16(at offset: Int) -> UInt16? { bigEndian16(at: offset)?.byteSwapped }

  package func bigEndian32(at offset: Int) -> UInt32? {
    guard let high = bigEndian16(at: offset), let low = bigEndian16(at: offset + 2) else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }

  package func littleEndian32(at offset: Int) -> UInt32? { bigEndian32(at: offset)?.byteSwapped }

  package func littleEndian24(at offset: Int) -> UInt32? {
    guard let low = littleEndian16(at: offset), let high = byte(at: offset + 2) else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }

  /// Returns a part of the bytes, clamped to the end; empty if it begins after the end.
  package func slice(_ offset: Int, _ length: Int) -> ByteReader {
    let start = min(max(offset, 0), count)
    let end = min(start + max(0, min(length, count)), count)
    return unsafe ByteReader(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
  }

  package func matches(_ text: StaticString, at offset: Int) -> Bool {
    let length = text.utf8CodeUnitCount
    guard offset >= 0, offset <= count - length, let base = unsafe bytes.baseAddress else { return false }
    // The guard leaves as many bytes as the text has.
    return unsafe memcmp(base + offset, text.utf8Start, length) == 0
  }

  package func starts(with text: StaticString) -> Bool { matches(text, at: 0) }

  package func starts(with prefix: [UInt8]) -> Bool {
    guard count >= prefix.count else { return false }
    return prefix.indices.allSatisfy { byte(at: $0) == prefix[$0] }
  }

  /// Returns `count` ASCII characters; `nil` if there are fewer bytes or one is not ASCII.
  package func ascii(at offset: Int, count: Int) -> String? {
    guard offset >= 0, count >= 0, offset + count <= self.count else { return nil }
    var text = ""
    for index in offset..<offset + count {
      guard let value = byte(at: index), value < 128 else { return nil }
      text.unicodeScalars.append(Unicode.Scalar(value))
    }
    return text
  }

  /// Returns the beginning as text, without a byte order mark and leading white space.
  ///
  /// Invalid UTF-8 is replaced.
  package func textStart(limit: Int) -> String {
    let head = unsafe slice(0, limit).bytes
    let text = unsafe String(decoding: head, as: UTF8.self)
    return String(text.drop { $0 == "\u{FEFF}" || $0.isWhitespace })
  }

  package func copy() -> [UInt8] { unsafe Array(bytes) }

  package func firstOffset(of byte: UInt8, from start: Int) -> Int? {
    guard start >= 0, start < count, let base = unsafe bytes.baseAddress else { return nil }
    // In bounds: from `start` to the end of the bytes.
    return unsafe memchr(base + start, Int32(byte), count - start).map { unsafe UnsafeRawPointer($0) - base }
  }

  package func firstOffset(of text: StaticString, from start: Int) -> Int? {
    // By the last byte, which is rarer than the first: many texts begin with `<`.
    let last = text.utf8CodeUnitCount - 1
    // A static string has at least one byte here.
    let byte = unsafe text.utf8Start[last]
    var offset = firstOffset(of: byte, from: start + last)
    while let found = offset {
      if matches(text, at: found - last) { return found - last }
      offset = firstOffset(of: byte, from: found + 1)
    }
    return nil
  }
}

extension [UInt8] {
  /// Returns the lower bytes of a number, the lowest first.
  static func little(_ value: Int, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
