import VitrineCaching
import VitrineRuntime

/// The name of an entry's object: its cache key, encoded so that the name of an extended key begins like the key's.
///
/// Therefore all variants of an image can be removed by a prefix. Letters, digits, `.` and `-` stand for themselves,
/// any other byte is `_` and two digits. Every 180 characters a slash follows: servers that store objects as files
/// allow names of 255 bytes. A tilde ends the name, so that no object has the name of a folder. A name that would
/// exceed the limit of S3 is cut, and ends with the hash of the whole key.
enum ObjectName {
  private static let segment = 180
  /// The maximum number of characters of an uncut key, and the number of characters that a cut one keeps.
  private static let (limit, kept) = (760, 600)
  private static let end = "~"

  /// Returns the name of a key's object.
  static func name(of key: CacheKey) -> String {
    let text = encoded(key.bytes)
    guard text.count > limit else { return folded(text) + end }
    let hash = SHA256.hash(key.bytes).hexDigits
    return folded(cut(text)) + end + hash
  }

  /// Returns the prefix of the names of a key's own object and of the objects of keys that extend it.
  ///
  /// If the key is cut, names of other keys may have the same prefix.
  static func prefix(of key: CacheKey) -> String {
    let text = encoded(key.bytes)
    return folded(text.count > limit ? cut(text) : text.count > kept ? cut(text) : text)
  }

  /// Returns the key of a name, or `nil` if the name is cut or invalid.
  static func key(of name: String) -> CacheKey? {
    guard name.hasSuffix(end) else { return nil }
    var bytes: [UInt8] = []
    var rest = Array(name.utf8.dropLast().filter { $0 != UInt8(ascii: "/") })[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "_") else {
        guard isPlain(byte) else { return nil }
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    let key = CacheKey(bytes: bytes)
    return self.name(of: key) == name ? key : nil
  }

  private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      if isPlain(byte) {
        text.append(byte)
      } else {
        text += [UInt8(ascii: "_"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return text
  }

  /// Returns the beginning of a text, which does not end within an escape.
  private static func cut(_ text: [UInt8]) -> [UInt8] {
    var text = Array(text.prefix(kept))
    if let mark = text.suffix(2).firstIndex(of: UInt8(ascii: "_")) { text.removeSubrange(mark...) }
    return text
  }

  private static func folded(_ text: [UInt8]) -> String {
    var result: [UInt8] = []
    for (index, byte) in text.enumerated() {
      if index > 0, index.isMultiple(of: segment) { result.append(UInt8(ascii: "/")) }
      result.append(byte)
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}
