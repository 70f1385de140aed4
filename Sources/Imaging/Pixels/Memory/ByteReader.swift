import VitrineRuntime

/// A bounds-checked reader of encoded bytes: a read past the end returns `nil` and never crashes.
///
/// It borrows the bytes, so it must stay inside the `withUnsafeBytes` of their owner.
package struct ByteReader {
  package let bytes: Elements<UInt8>

  package init(_ bytes: UnsafeRawBufferPointer) { unsafe self.init(Elements(bytes)) }

  private init(_ bytes: Elements<UInt8>) { self.bytes = bytes }

  package var count: Int { bytes.count }

  /// Calls `body` with the bytes, for a decoder or a library that checks the bounds itself.
  func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe bytes.withUnsafeBufferPointer { (bytes) throws(E) in try unsafe body(UnsafeRawBufferPointer(bytes)) }
  }

  package func byte(at offset: Int) -> UInt8? { offset >= 0 && offset < count ? bytes[offset] : nil }

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
    return ByteReader(bytes.extracting(start..<end))
  }

  package func matches(_ text: StaticString, at offset: Int) -> Bool {
    text.withUTF8Buffer { text in
      offset >= 0 && offset <= count - text.count
        && text.indices.allSatisfy { unsafe bytes[offset + $0] == text[$0] }
    }
  }

  package func starts(with text: StaticString) -> Bool { matches(text, at: 0) }

  package func starts(with prefix: [UInt8]) -> Bool {
    guard count >= prefix.count else { return false }
    return prefix.indices.allSatisfy { byte(at: $0) == prefix[$0] }
  }

  package func ends(with suffix: [UInt8]) -> Bool { slice(count - suffix.count, suffix.count).starts(with: suffix) }

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
    let text = String(decoding: slice(0, limit).copy(), as: UTF8.self)
    return String(text.drop { $0 == "\u{FEFF}" || $0.isWhitespace })
  }

  package func copy() -> [UInt8] { bytes.array }

  package func firstOffset(of byte: UInt8, from start: Int) -> Int? {
    guard start >= 0, start < count else { return nil }
    // In bounds: from `start` to the end of the bytes.
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return nil }
      return unsafe memchr(base + start, Int32(byte), count - start).map {
        unsafe UnsafeRawPointer($0) - UnsafeRawPointer(base)
      }
    }
  }

  package func firstOffset(of text: StaticString, from start: Int) -> Int? {
    // By the last byte, which is rarer than the first: many texts begin with `<`.
    let last = text.utf8CodeUnitCount - 1
    // A static string has at least one byte here.
    let byte = text.withUTF8Buffer { unsafe $0[last] }
    var offset = firstOffset(of: byte, from: start + last)
    while let found = offset {
      if matches(text, at: found - last) { return found - last }
      offset = firstOffset(of: byte, from: found + 1)
    }
    return nil
  }
}

extension ContiguousBytes {
  /// Calls `body` with a reader of the bytes, which must not leave it.
  package func reading<R, E: Error>(_ body: (ByteReader) throws(E) -> R) throws(E) -> R {
    // `rethrows` loses the type of the error, and the result carries it across.
    let result: Result<R, E> = unsafe withUnsafeBytes { bytes in
      do throws(E) {
        return .success(try unsafe body(ByteReader(bytes)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

extension [UInt8] {
  /// Returns the lower bytes of a number, the lowest first.
  static func little(_ value: Int, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
