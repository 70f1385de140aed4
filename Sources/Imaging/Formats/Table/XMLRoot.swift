import VitrineRuntime

/// The start tag of the root of an XML document (XML 1.0, 2.8), which tells what kind of document it is.
///
/// Comments, instructions and a document type before it may be of any length. The text is UTF-8 or another extension of
/// ASCII, or UTF-16 with a byte order mark; of that the first mebibyte is read. It may be compressed (gzip, RFC 1952); then
/// 256 KiB are.
///
/// Complexity: O(bytes before the root and in its start tag).
package struct XMLRoot {
  /// The name without a prefix.
  package let name: String
  private let tag: [UInt8]

  /// Finds the start tag; `nil` if the bytes are no XML, or end before it.
  package init?(_ bytes: ByteReader) {
    guard bytes.starts(with: Gzip.signature) else {
      self.init(text: bytes)
      return
    }
    let start = Gzip.inflate(bytes, limit: 1 << 18).bytes
    guard let root = start.reading(XMLRoot.init(text:)) else { return nil }
    self = root
  }

  private init?(text bytes: ByteReader) {
    let isBig = bytes.starts(with: [0xFE, 0xFF])
    if isBig || bytes.starts(with: [0xFF, 0xFE]) {
      let units = stride(from: 2, to: min(bytes.count - 1, 1 << 20), by: 2).map { offset in
        (isBig ? bytes.bigEndian16(at: offset) : bytes.littleEndian16(at: offset)) ?? 0
      }
      let text = Array(String(decoding: units, as: UTF16.self).utf8)
      self.init(tag: text.reading(Self.tag))
    } else {
      self.init(tag: Self.tag(in: bytes))
    }
  }

  private init?(tag: [UInt8]?) {
    guard let tag else { return nil }
    let name = tag.prefix { !XMLScanner.isSpace($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
    guard let first = name.first, first >= 0x41 else { return nil }
    self.name = String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
    self.tag = tag
  }

  /// Returns the value of an attribute without a prefix; `nil` without it.
  package func attribute(_ name: String) -> String? {
    var rest = tag[...]
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let before = rest[..<equals].split(whereSeparator: XMLScanner.isSpace).last ?? []
      rest = rest[(equals + 1)...].drop(while: XMLScanner.isSpace)
      guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
      rest = rest.dropFirst()
      guard let end = rest.firstIndex(of: quote) else { return nil }
      if before.elementsEqual(name.utf8) { return String(decoding: rest[..<end], as: UTF8.self) }
      rest = rest[(end + 1)...]
    }
    return nil
  }

  // MARK: The way to it

  /// Returns the tag of the root behind its `<`, up to its end or the end of the bytes.
  private static func tag(in file: ByteReader) -> [UInt8]? {
    var offset = file.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    while true {
      while let byte = file.byte(at: offset), XMLScanner.isSpace(byte) { offset += 1 }
      guard file.byte(at: offset) == UInt8(ascii: "<") else { return nil }
      let next: Int?
      if file.matches("<!--", at: offset) {
        next = end("-->", in: file, from: offset + 4)
      } else if file.matches("<?", at: offset) {
        next = end("?>", in: file, from: offset + 2)
      } else if file.matches("<!", at: offset) {
        next = endOfDocumentType(in: file, from: offset + 2)
      } else {
        let end = endOfTag(in: file, from: offset + 1)
        return file.slice(offset + 1, end - offset - 1).copy()
      }
      guard let next else { return nil }
      offset = next
    }
  }

  private static func end(_ mark: StaticString, in file: ByteReader, from start: Int) -> Int? {
    file.firstOffset(of: mark, from: start).map { $0 + mark.utf8CodeUnitCount }
  }

  private static func endOfTag(in file: ByteReader, from start: Int) -> Int {
    var offset = start
    while let byte = file.byte(at: offset), byte != UInt8(ascii: ">") {
      let isQuote = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
      offset = isQuote ? file.firstOffset(of: byte, from: offset + 1) ?? file.count : offset
      offset += 1
    }
    return min(offset, file.count)
  }

  /// Passes over a declaration of the document type, with the declarations in its brackets (XML 1.0, 2.8).
  private static func endOfDocumentType(in file: ByteReader, from start: Int) -> Int? {
    var offset = start
    var isInside = false
    while let byte = file.byte(at: offset) {
      var next: Int? = offset + 1
      switch byte {
      case UInt8(ascii: "["): isInside = true
      case UInt8(ascii: "]"): isInside = false
      case UInt8(ascii: ">") where !isInside: return next
      case UInt8(ascii: "\""), UInt8(ascii: "'"): next = file.firstOffset(of: byte, from: offset + 1).map { $0 + 1 }
      case UInt8(ascii: "<") where file.matches("<!--", at: offset): next = end("-->", in: file, from: offset + 4)
      case UInt8(ascii: "<") where file.matches("<?", at: offset): next = end("?>", in: file, from: offset + 2)
      default: break
      }
      guard let next else { return nil }
      offset = next
    }
    return nil
  }
}
