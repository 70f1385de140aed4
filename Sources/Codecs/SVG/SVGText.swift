import VitrineImaging
import VitrineRuntime

/// Numbers in text, one after another.
struct SVGNumbers {
  var offset: Int
  private let text: ByteReader

  init(_ text: ByteReader, from offset: Int = 0) { (self.text, self.offset) = (text, offset) }

  /// Goes to the next number; returns `false` at the end.
  mutating func find() -> Bool {
    while let byte = text.byte(at: offset) {
      if Self.begins(byte) { return true }
      offset += 1
    }
    return false
  }

  /// Reads the number here, behind white space and commas; `nil` if there is none.
  mutating func next() -> Double? {
    while let byte = text.byte(at: offset), byte <= 0x20 || byte == UInt8(ascii: ",") { offset += 1 }
    guard let first = text.byte(at: offset), Self.begins(first) else { return nil }
    var sign = 1.0
    if first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      sign = first == UInt8(ascii: "-") ? -1 : 1
      offset += 1
    }
    var value = digits(into: 0, 1)
    if text.byte(at: offset) == UInt8(ascii: ".") {
      offset += 1
      value = digits(into: value, 0.1)
    }
    if let letter = text.byte(at: offset), letter | 0x20 == UInt8(ascii: "e") {
      let start = offset
      offset += 1
      let isNegative = text.byte(at: offset) == UInt8(ascii: "-")
      if isNegative || text.byte(at: offset) == UInt8(ascii: "+") { offset += 1 }
      // Otherwise a unit: `1em`.
      if let digit = text.byte(at: offset), (0x30...0x39).contains(digit) {
        let exponent = min(400, digits(into: 0, 1))
        value *= pow(10, isNegative ? -exponent : exponent)
      } else {
        offset = start
      }
    }
    return sign * value
  }

  /// Goes past a unit.
  mutating func skipUnit() {
    while let byte = text.byte(at: offset), byte == UInt8(ascii: "%") || (0x61...0x7A).contains(byte | 0x20) {
      offset += 1
    }
  }

  private mutating func digits(into start: Double, _ first: Double) -> Double {
    var (value, place) = (start, first)
    while let byte = text.byte(at: offset), (0x30...0x39).contains(byte) {
      if first == 1 {
        value = value * 10 + Double(byte - 0x30)
      } else {
        value += Double(byte - 0x30) * place
        place /= 10
      }
      offset += 1
    }
    return value
  }

  private static func begins(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
      || byte == UInt8(ascii: ".")
  }
}

extension ByteReader {
  /// Returns the offset of the value behind a property's name: `name="value"`, `name: value`.
  func value(from start: Int) -> Int? {
    var offset = start
    while let byte = byte(at: offset), byte <= 0x20 { offset += 1 }
    guard let sign = byte(at: offset), sign == UInt8(ascii: "=") || sign == UInt8(ascii: ":") else { return nil }
    offset += 1
    while let byte = byte(at: offset), byte <= 0x20 || byte == 0x22 || byte == 0x27 { offset += 1 }
    return offset
  }

  /// Returns the offset of an attribute's value, with or without a prefix of its name.
  func attribute(_ name: StaticString) -> Int? {
    var start = firstOffset(of: name, from: 1)
    while let found = start {
      let end = found + name.utf8CodeUnitCount
      if let before = byte(at: found - 1), before <= 0x20 || before == UInt8(ascii: ":"), let value = value(from: end) {
        return value
      }
      start = firstOffset(of: name, from: end)
    }
    return nil
  }

  /// Returns `true` if this is a tag of that name, with or without a prefix.
  func isNamed(_ name: StaticString) -> Bool {
    var (first, offset) = (0, 0)
    while let byte = byte(at: offset), byte > 0x20, byte != UInt8(ascii: "/") {
      if byte == UInt8(ascii: ":") { first = offset + 1 }
      offset += 1
    }
    return offset - first == name.utf8CodeUnitCount && matches(name, at: first)
  }

  func firstOffset(of byte: UInt8, from start: Int) -> Int? {
    guard start >= 0, start < count, let base = unsafe bytes.baseAddress else { return nil }
    // In bounds: from `start` to the end of the bytes.
    return unsafe memchr(base + start, Int32(byte), count - start).map { unsafe UnsafeRawPointer($0) - base }
  }

  func firstOffset(of text: StaticString, from start: Int) -> Int? {
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

  func contains(_ text: StaticString) -> Bool { firstOffset(of: text, from: 0) != nil }
}

extension UInt8 {
  /// A letter, a digit, or what joins them to longer names: `fill-opacity`, `0.5`.
  var isNameByte: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
    default: self >= 128
    }
  }
}
