import VitrineRuntime

/// A reader of the subset of XML that object stores write.
///
/// It returns the elements that have text and no child elements, at most sixteen levels deep.
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

  private var scanner: XMLScanner
  private var path: [String] = []
  private var text: [UInt8] = []
  /// A Boolean value that indicates whether the innermost element has no child elements so far.
  private var isLeaf = false

  init(_ data: Data) { scanner = XMLScanner(Array(data)) }

  /// Returns the next element without child elements, or `nil` after the end of the document.
  mutating func next() throws(Failure) -> Element? {
    while let token = scanner.next() {
      switch token {
      case .open(let tag): if let element = try open(tag) { return element }
      case .close: if let element = try close() { return element }
      case .text(let range): if isLeaf { text += scanner.utf8(range) }
      case .literal(let range): if isLeaf { text += scanner.bytes[range] }
      }
    }
    guard scanner.isWellFormed else { throw Failure(description: "not well-formed XML") }
    return nil
  }

  private mutating func open(_ tag: XMLScanner.Tag) throws(Failure) -> Element? {
    let name = tag.name.split(separator: ":").last.map(String.init) ?? ""
    guard path.count < Self.depthLimit else { throw Failure(description: "too many levels") }
    guard (1...Self.nameLimit).contains(name.utf8.count) else { throw Failure(description: "an invalid name") }
    (text, isLeaf) = ([], !tag.isEmpty)
    guard isLeaf else { return Element(path: path + [name], text: "") }
    path.append(name)
    return nil
  }

  private mutating func close() throws(Failure) -> Element? {
    defer {
      _ = path.popLast()
      isLeaf = false
    }
    guard isLeaf else { return nil }
    guard let text = String(validating: text, as: UTF8.self) else { throw Failure(description: "not UTF-8") }
    return Element(path: path, text: text)
  }
}
