import VitrineRuntime

extension HTTPURL {
  /// Accepts a text that is already in canonical form, as most are, or returns `nil` if that is not obvious.
  ///
  /// It takes one pass over the bytes. Every request for an image in memory waits for this, and full parsing takes ten
  /// times as long as the look-up. A port, an address as the host, a segment with a leading dot and a fragment need
  /// full parsing.
  init?(canonical text: String) {
    var text = text
    let found = text.withUTF8 { bytes -> (isSecure: Bool, host: String)? in
      // Every index is checked against the count, or by the buffer.
      let isSecure = unsafe bytes.count > 8 && bytes[4] == UInt8(ascii: "s")
      let start = isSecure ? 8 : 7
      guard bytes.count > start, unsafe bytes[..<start].elementsEqual((isSecure ? "https://" : "http://").utf8),
        let end = unsafe Self.endOfName(bytes, from: start), unsafe Self.isCanonicalPath(bytes, from: end)
      else { return nil }
      return unsafe (isSecure, String(decoding: bytes[start..<end], as: UTF8.self))
    }
    guard let (isSecure, host) = found else { return nil }
    self.init(string: text, host: host, port: isSecure ? 443 : 80, isSecure: isSecure)
  }

  /// Returns the end of a host name in lower case that is followed by a slash.
  private static func endOfName(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    var label = start
    for index in start..<bytes.count {
      switch unsafe bytes[index] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        break
      case UInt8(ascii: "."):
        guard (1...63).contains(index - label) else { return nil }
        label = index + 1
      case UInt8(ascii: "/"):
        // A last label that begins with a digit may belong to an address.
        guard (1...63).contains(index - label), index - start <= 253, unsafe bytes[label].isLetter else { return nil }
        return index
      default:
        return nil
      }
    }
    return nil
  }

  /// Returns `true` if the part from the slash on is canonical: full parsing would encode, resolve and drop none of it.
  private static func isCanonicalPath(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
    var isPath = true
    for index in start..<bytes.count {
      let byte = unsafe bytes[index]
      switch byte {
      case _ where byte.isLetter || byte.isDigit: break
      case UInt8(ascii: "?"): isPath = false
      case UInt8(ascii: "/"):
        if isPath, index + 1 < bytes.count, unsafe bytes[index + 1] == UInt8(ascii: ".") { return false }
      case UInt8(ascii: "%"):
        guard index + 2 < bytes.count, unsafe bytes[index + 1].isHexDigit, unsafe bytes[index + 2].isHexDigit else {
          return false
        }
        // The escape is an encoded dot.
        if isPath, unsafe bytes[index + 1] == UInt8(ascii: "2"), unsafe bytes[index + 2] | 0x20 == UInt8(ascii: "e") {
          return false
        }
      case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
        UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"),
        UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"),
        UInt8(ascii: "@"):
        break
      default:
        return false
      }
    }
    return true
  }
}
