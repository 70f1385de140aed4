import VitrineRuntime

/// A reader of the subset of XML that object stores write.
///
/// It returns the elements that have text and no child elements. It supports no document types, no entities except for
/// the predefined ones, and at most sixteen levels. It holds one element and the names of its ancestors in memory.
struct XMLReader {
  /// An element without child elements.
  struct Element: Equatable {
    /// The names from the root on, without prefixes.
    let path: [String]
    /// The text, decoded.
    let text: String
  }

  /// The reason why a document is refused.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let depthLimit = 16
  private static let nameLimit = 128

  private var rest: ArraySlice<UInt8>
  private var path: [String] = []
  private var text: [UInt8] = []
  /// A Boolean value that indicates whether the innermost element has no child elements so far.
  private var isLeaf = false
  private var hasRoot = false

  init(_ data: Data) { rest = Array(data)[...] }

  /// Returns the next element without child elements, or `nil` after the end of the document.
  mutating func next() throws(Failure) -> Element? {
    while let byte = rest.first {
      guard byte == UInt8(ascii: "<") else {
        try takeText()
        continue
      }
      if takePrefix("<![CDATA[") {
        text += try take(until: "]]>")
      } else if takePrefix("<!--") {
        _ = try take(until: "-->")
      } else if takePrefix("<?") {
        _ = try take(until: "?>")
      } else if takePrefix("<!") {
        throw Failure(description: "a document type")
      } else if takePrefix("</") {
        if let element = try close(try take(until: ">")) { return element }
      } else {
        rest = rest.dropFirst()
        if let element = try open(try take(until: ">")) { return element }
      }
    }
    guard path.isEmpty, hasRoot else { throw Failure(description: "the document ends early") }
    return nil
  }

  private mutating func open(_ tag: ArraySlice<UInt8>) throws(Failure) -> Element? {
    let isEmpty = tag.last == UInt8(ascii: "/")
    let name = try Self.name(tag.prefix { !Self.isSpace($0) && $0 != UInt8(ascii: "/") })
    guard path.count < Self.depthLimit, !(path.isEmpty && hasRoot) else {
      throw Failure(description: "too many levels")
    }
    hasRoot = true
    text = []
    isLeaf = !isEmpty
    guard isEmpty else {
      path.append(name)
      return nil
    }
    return Element(path: path + [name], text: "")
  }

  private mutating func close(_ tag: ArraySlice<UInt8>) throws(Failure) -> Element? {
    let name = try Self.name(tag.prefix { !Self.isSpace($0) })
    guard path.last == name else { throw Failure(description: "an end tag without its start") }
    defer {
      path.removeLast()
      text = []
      isLeaf = false
    }
    guard isLeaf else { return nil }
    guard let text = String(validating: text, as: UTF8.self) else { throw Failure(description: "not UTF-8") }
    return Element(path: path, text: text)
  }

  private mutating func takeText() throws(Failure) {
    let run = rest.prefix { $0 != UInt8(ascii: "<") }
    rest = rest.dropFirst(run.count)
    guard !path.isEmpty else {
      guard run.allSatisfy(Self.isSpace) || run.elementsEqual([0xEF, 0xBB, 0xBF]) else {
        throw Failure(description: "text outside of the root")
      }
      return
    }
    guard run.contains(UInt8(ascii: "&")) else { return text += run }
    var left = run
    while let byte = left.popFirst() {
      guard byte == UInt8(ascii: "&") else {
        text.append(byte)
        continue
      }
      guard let end = left.prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
        throw Failure(description: "an entity without an end")
      }
      text += try Self.entity(String(decoding: left[..<end], as: UTF8.self)).utf8
      left = left[(end + 1)...]
    }
  }

  private static func entity(_ name: String) throws(Failure) -> String {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    let isHex = name.hasPrefix("#x")
    guard name.hasPrefix("#"), let code = UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10), code != 0,
      let scalar = Unicode.Scalar(code)
    else { throw Failure(description: "an unknown entity") }
    return String(Character(scalar))
  }

  /// Returns a name without its prefix.
  private static func name(_ bytes: ArraySlice<UInt8>) throws(Failure) -> String {
    let local = bytes.lastIndex(of: UInt8(ascii: ":")).map { bytes[($0 + 1)...] } ?? bytes
    guard (1...nameLimit).contains(local.count), local.allSatisfy({ $0 > 32 && !"<>&\"'=".utf8.contains($0) }) else {
      throw Failure(description: "an invalid name")
    }
    return String(decoding: local, as: UTF8.self)
  }

  private mutating func takePrefix(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  /// Consumes the bytes up to a mark, and the mark, and returns the bytes.
  private mutating func take(until mark: String) throws(Failure) -> ArraySlice<UInt8> {
    let mark = Array(mark.utf8)
    var index = rest.startIndex
    while let found = rest[index...].firstIndex(of: mark[0]) {
      if rest[found...].starts(with: mark) {
        let taken = rest[..<found]
        rest = rest[(found + mark.count)...]
        return taken
      }
      index = found + 1
    }
    throw Failure(description: "the document ends early")
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}
