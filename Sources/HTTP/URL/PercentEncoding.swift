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
      } else if rest.prefix(2).count == 2, rest.prefix(2).allSatisfy(\.isHexDigit) {
        bytes.append(rest.prefix(2).reduce(0) { $0 << 4 | $1.hexDigitValue })
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
    encode(text) { byte, _ in
      !byte.isLetter && !byte.isDigit && !"-._~".utf8.contains(byte) && !kept.utf8.contains(byte)
    }
  }

  /// Encodes the bytes for which `isEncoded` returns `true`, given each byte and the bytes after it.
  static func encode(
    _ text: some StringProtocol,
    where isEncoded: (UInt8, _ rest: ArraySlice<UInt8>) -> Bool,
  ) -> String {
    var result: [UInt8] = []
    var rest = Array(text.utf8)[...]
    result.reserveCapacity(rest.count)
    let digits = Array("0123456789ABCDEF".utf8)
    while let byte = rest.popFirst() {
      if isEncoded(byte, rest) {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
