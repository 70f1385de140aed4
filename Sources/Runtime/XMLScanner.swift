/// A scanner of XML 1.0 in UTF-8, tag by tag, without a document type declaration, which neither XMP nor an object store
/// has.
///
/// It ends early, with ``isWellFormed`` false, where the text is no XML. Complexity: O(bytes).
package struct XMLScanner {
  package enum Token {
    case open(Tag)
    /// The end tag of the element that was opened last.
    case close(Range<Int>)
    /// Text with references such as `&amp;`.
    case text(Range<Int>)
    /// The text of a CDATA section.
    case literal(Range<Int>)
  }

  package struct Tag {
    package let name: String
    package let attributes: [Attribute]
    package let range: Range<Int>
    /// True for a tag without content and end tag: `<a/>`.
    package let isEmpty: Bool
  }

  package struct Attribute {
    package let name: String
    /// The place of the value between its quotation marks.
    package let value: Range<Int>
    /// The place of the attribute with the white space in front of it.
    package let range: Range<Int>
  }

  /// More than any packet needs.
  private static let depthLimit = 256

  package let bytes: [UInt8]
  package private(set) var isWellFormed = true
  private var offset = 0
  private var names: [String] = []
  private var hasRoot = false

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
  }

  /// Returns the next token; `nil` at the end, and where the text is no XML.
  package mutating func next() -> Token? {
    while let byte = byte(offset) {
      guard byte == UInt8(ascii: "<") else { return text() }
      switch self.byte(offset + 1) {
      case UInt8(ascii: "?"):
        guard let end = find("?>", from: offset + 2) else { return malformed() }
        offset = end + 2
      case UInt8(ascii: "!") where matches("<!--", at: offset):
        guard let end = find("--", from: offset + 4), self.byte(end + 2) == UInt8(ascii: ">") else {
          return malformed()
        }
        offset = end + 3
      case UInt8(ascii: "!"):
        guard matches("<![CDATA[", at: offset), !names.isEmpty, let end = find("]]>", from: offset + 9) else {
          return malformed()
        }
        let range = offset + 9..<end
        offset = end + 3
        return .literal(range)
      case UInt8(ascii: "/"): return endTag()
      default: return startTag()
      }
    }
    return names.isEmpty && hasRoot ? nil : malformed()
  }

  private mutating func malformed() -> Token? {
    isWellFormed = false
    offset = bytes.count
    (names, hasRoot) = ([], true)
    return nil
  }

  private mutating func text() -> Token? {
    let start = offset
    var isBlank = true
    while let byte = byte(offset), byte != UInt8(ascii: "<") {
      guard let next = afterCharacter(offset) else { return malformed() }
      if !Self.isSpace(byte) { isBlank = false }
      offset = next
    }
    guard isBlank || !names.isEmpty else { return malformed() }
    return .text(start..<offset)
  }

  private mutating func endTag() -> Token? {
    let start = offset
    offset += 2
    guard let name = name(), name == names.popLast() else { return malformed() }
    skipSpace()
    guard byte(offset) == UInt8(ascii: ">") else { return malformed() }
    offset += 1
    return .close(start..<offset)
  }

  private mutating func startTag() -> Token? {
    let start = offset
    offset += 1
    guard !(names.isEmpty && hasRoot), names.count < Self.depthLimit, let name = name() else { return malformed() }
    hasRoot = true
    var attributes: [Attribute] = []
    while true {
      let before = offset
      skipSpace()
      if byte(offset) == UInt8(ascii: ">") { break }
      if matches("/>", at: offset) { break }
      guard offset > before, let attribute = attribute(from: before) else { return malformed() }
      attributes.append(attribute)
    }
    guard attributes.count < 2 || Set(attributes.map(\.name)).count == attributes.count else { return malformed() }
    let isEmpty = byte(offset) == UInt8(ascii: "/")
    offset += isEmpty ? 2 : 1
    if !isEmpty { names.append(name) }
    return .open(Tag(name: name, attributes: attributes, range: start..<offset, isEmpty: isEmpty))
  }

  private mutating func attribute(from start: Int) -> Attribute? {
    guard let name = name() else { return nil }
    skipSpace()
    guard byte(offset) == UInt8(ascii: "=") else { return nil }
    offset += 1
    skipSpace()
    guard let mark = byte(offset), mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") else { return nil }
    offset += 1
    let value = offset
    while let byte = byte(offset), byte != mark {
      guard byte != UInt8(ascii: "<"), let next = afterCharacter(offset) else { return nil }
      offset = next
    }
    guard byte(offset) == mark else { return nil }
    offset += 1
    return Attribute(name: name, value: value..<offset - 1, range: start..<offset)
  }

  private mutating func name() -> String? {
    let start = offset
    while let byte = byte(offset), Self.isName(byte) { offset += 1 }
    guard let first = byte(start), offset > start, !Self.isInner(first) else { return nil }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func skipSpace() {
    while let byte = byte(offset), Self.isSpace(byte) { offset += 1 }
  }

  private func byte(_ offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private func matches(_ text: StaticString, at offset: Int) -> Bool {
    bytes.dropFirst(offset).starts(with: Self.bytes(text))
  }

  private func find(_ text: StaticString, from start: Int) -> Int? {
    let text = Self.bytes(text)
    var offset = start
    while offset + text.count <= bytes.count {
      if bytes[offset] == text[0], bytes[offset..<offset + text.count].elementsEqual(text) { return offset }
      offset += 1
    }
    return nil
  }

  private static func bytes(_ text: StaticString) -> [UInt8] { text.withUTF8Buffer { unsafe Array($0) } }

  package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  private static func isName(_ byte: UInt8) -> Bool {
    byte >= 0x80 || isInner(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "_")
  }

  /// True for bytes that a name may have, but not at its beginning.
  private static func isInner(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }
}

extension XMLScanner {
  /// Returns the place behind a byte of text, or behind a reference; `nil` if XML does not allow what is there.
  private func afterCharacter(_ offset: Int) -> Int? {
    let byte = bytes[offset]
    if byte == UInt8(ascii: "&") { return reference(offset)?.end }
    return byte >= 0x20 || Self.isSpace(byte) ? offset + 1 : nil
  }

  /// Reads `&amp;`, `&#38;` or `&#x26;`.
  private func reference(_ start: Int) -> (character: Unicode.Scalar, end: Int)? {
    guard let end = bytes[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = String(decoding: bytes[start + 1..<end], as: UTF8.self)
    let named: [String: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
    if let character = named[name] { return (character, end + 1) }
    guard name.hasPrefix("#") else { return nil }
    let number = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst())
    guard let number, number >= 0x20 || [9, 10, 13].contains(number) else { return nil }
    return Unicode.Scalar(number).map { ($0, end + 1) }
  }

  /// Returns text with its references resolved.
  package func string(_ range: Range<Int>) -> String { String(decoding: utf8(range), as: UTF8.self) }

  /// Returns the bytes of text with its references resolved.
  package func utf8(_ range: Range<Int>) -> [UInt8] {
    var result: [UInt8] = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      if bytes[offset] == UInt8(ascii: "&"), let reference = reference(offset) {
        result += Array(String(Character(reference.character)).utf8)
        offset = reference.end
      } else {
        result.append(bytes[offset])
        offset += 1
      }
    }
    return result
  }
}
