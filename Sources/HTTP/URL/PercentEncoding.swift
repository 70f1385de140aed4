/// Percent-encoding of parts of a URL (RFC 3986, section 2.1).
package enum PercentEncoding {
  /// Decodes a part of a URL once.
  ///
  /// Returns `nil` if a `%` encodes nothing, or the bytes are not UTF-8, or contain a zero.
  package static func decode(_ text: some StringProtocol) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text.utf8.contains(0) ? nil : String(text) }
    let (bytes, hasStray) = decode(text.utf8)
    return hasStray || bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
  }

  /// Decodes bytes once, keeps each `%` that encodes nothing, and returns whether there was one.
  static func decode(_ text: some Collection<UInt8>) -> (bytes: [UInt8], hasStray: Bool) {
    var (bytes, hasStray): ([UInt8], Bool) = ([], false)
    var rest = Array(text)[...]
    bytes.reserveCapacity(rest.count)
    while let byte = rest.popFirst() {
      if byte != UInt8(ascii: "%") {
        bytes.append(byte)
      } else if rest.count >= 2, let high = digit(rest[rest.startIndex]), let low = digit(rest[rest.startIndex + 1]) {
        bytes.append(high << 4 | low)
        rest.removeFirst(2)
      } else {
        bytes.append(byte)
        hasStray = true
      }
    }
    return (bytes, hasStray)
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
