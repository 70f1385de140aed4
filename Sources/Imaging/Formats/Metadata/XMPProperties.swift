import VitrineRuntime

/// The properties of XMP that stand in for missing fields of EXIF.
struct XMPProperties {
  /// `dc:rights` in the default language, or in the first.
  private(set) var copyright: String?
  /// All of `dc:creator`, separated by semicolons, as EXIF has several authors.
  private(set) var author: String?
  /// The time at which the picture was taken, or at which its file was made.
  private(set) var captureTime: EXIFDate?

  /// The names of times, the best first.
  private static let times = ["photoshop:DateCreated", "exif:DateTimeOriginal", "xmp:CreateDate"]

  /// Reads a packet; returns `nil` if it is not well-formed XML in UTF-8.
  ///
  /// Complexity: O(bytes).
  init?(_ packet: Data) {
    guard let texts = XMP.items(of: Set(Self.times + ["dc:rights", "dc:creator"]), in: packet) else { return nil }
    copyright = texts["dc:rights"].flatMap { items in items.first { $0.isDefault } ?? items.first }?.trimmed
    author = texts["dc:creator"].flatMap { $0.isEmpty ? nil : $0.map(\.trimmed).joined(separator: "; ") }
    captureTime = Self.times.lazy.compactMap { texts[$0]?.first.flatMap { EXIFDate(iso: $0.trimmed) } }.first
  }
}

extension XMP {
  /// Reads the texts of properties of the image, without empty ones; returns `nil` if a packet is not
  /// well-formed XML in UTF-8.
  ///
  /// Complexity: O(bytes).
  static func texts(of names: Set<String>, in packet: Data) -> [String: [String]]? {
    items(of: names, in: packet)?.mapValues { $0.map(\.trimmed) }
  }

  /// Reads the texts of all properties of the image; returns `nil` if the packet is not well-formed XML in UTF-8.
  ///
  /// Complexity: O(bytes).
  static func texts(in packet: Data) -> [String: [String]]? {
    items(of: nil, in: packet)?.mapValues { $0.map(\.trimmed) }
  }

  /// The maximum number of properties, more than any file has.
  private static let propertyLimit = 1000

  /// The texts of properties by their names; of all for `nil`.
  fileprivate static func items(of names: Set<String>?, in packet: Data) -> [String: [Item]]? {
    guard var scanner = XMPScanner(packet) else { return nil }
    var values: [String: Items] = [:]
    var property: (name: String, depth: Int)?
    func isWanted(_ name: String) -> Bool {
      guard values[name] == nil, values.count < propertyLimit else { return false }
      // Declarations of namespaces are no properties.
      return names?.contains(name) ?? !(name.hasPrefix("xmlns") || name.hasPrefix("rdf:") || name.hasPrefix("xml:"))
    }
    while let token = scanner.next() {
      switch token {
      case .open(let tag) where tag.role == .description:
        for (name, attribute) in tag.attributes where isWanted(name) {
          values[name] = Items(scanner.xml.string(attribute.value))
        }
      case .open(let tag) where tag.role == .property:
        guard isWanted(tag.name), !tag.xml.isEmpty else { continue }
        values[tag.name] = Items("")
        property = (tag.name, scanner.depth)
      case .open(let tag):
        guard let property, tag.name == "rdf:li", scanner.depth <= property.depth + 2 else { continue }
        let language = tag.attributes.first { $0.name == "xml:lang" }.map { scanner.xml.string($0.attribute.value) }
        values[property.name]?.begin(isDefault: language == "x-default")
      case .close:
        if let open = property, scanner.depth < open.depth { property = nil }
      case .text(let range):
        if let property { values[property.name]?.add(scanner.xml.string(range)) }
      case .literal(let range):
        if let property { values[property.name]?.add(String(decoding: scanner.xml.bytes[range], as: UTF8.self)) }
      }
    }
    guard scanner.xml.isWellFormed else { return nil }
    return values.mapValues { items in items.all.filter { !$0.trimmed.isEmpty } }
  }

  /// The texts of a property: one directly in it, and the texts of a list.
  private struct Items {
    private(set) var all: [Item]
    private var length = 0

    init(_ text: String) {
      all = [Item()]
      add(text)
    }

    mutating func begin(isDefault: Bool) {
      // More than any file has.
      if all.count < 100 { all.append(Item(isDefault: isDefault)) }
    }

    /// Adds to the last text what leaves all of them within the limit of a field.
    mutating func add(_ text: String) {
      guard length + text.utf8.count <= TIFFBlock.textLimit else { return }
      length += text.utf8.count
      all[all.count - 1].text += text
    }
  }

  fileprivate struct Item {
    var text = ""
    var isDefault = false

    var trimmed: String {
      let start = text.drop { $0.isWhitespace || $0 == "\0" }
      return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
    }
  }
}
