/// Percent-encoding of parts of a URL (RFC 3986, section 2.1).
package enum PercentEncoding {
  /// Decodes a part of a URL once.
  ///
  /// Returns `nil` if a `%` encodes nothing, or the bytes are not UTF-8, or contain a zero.
  package static func decode(_ text: some StringProtocol) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text.utf8.contains(0) ? nil : String(text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
      bytes.append(high << 4 | low)
    }
    guard !bytes.contains(0) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Encodes all but letters, digits and `-._~`, and the characters of `kept`.
  package static func encode(_ text: String, keeping kept: String = "") -> String {
    var result: [UInt8] = []
    for byte in text.utf8 {
      let isPlain =
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "-._~".utf8.contains(byte) || kept.utf8.contains(byte)
        }
      if isPlain {
        result.append(byte)
      } else {
        let digits = Array("0123456789ABCDEF".utf8)
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - 48
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - 55
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - 87
    default: nil
    }
  }
}
