/// The header fields of a request or a response, in order, with names that ignore case.
///
/// ```swift
/// var headers: HTTPFields = ["Accept": "image/webp, image/*;q=0.8"]
/// headers["accept-language"] = "eo"
/// ```
/// - Complexity: O(n) for a look-up, with about ten fields.
public struct HTTPFields: Sendable, Hashable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
  /// A header field.
  public struct Element: Sendable, Hashable {
    /// The name as written.
    public let name: String
    /// The value, without surrounding white space.
    public let value: String

    /// Creates a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// Returns `true` if name and value have the same bytes.
    public static func == (left: Self, right: Self) -> Bool {
      left.name.utf8.elementsEqual(right.name.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
    }
  }

  private var fields: [Element] = []

  /// Creates a list without fields.
  public init() {}

  /// Creates a list of names and values, in order.
  ///
  /// A name may occur several times.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements)
  }

  /// Creates a list of names and values, in order; a name may occur several times.
  public init(_ fields: some Sequence<(String, String)>) {
    self.fields = fields.map { Element(name: $0.0, value: $0.1) }
  }

  /// Creates a list of names and values, in order; a name may occur several times.
  public init(_ fields: some Sequence<(name: String, value: String)>) {
    self.fields = fields.map { Element(name: $0.name, value: $0.value) }
  }

  /// Creates a list of a dictionary's names and values, sorted by name.
  public init(_ fields: [String: String]) {
    self.init(fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }

  /// The position of the first field.
  public var startIndex: Int { fields.startIndex }
  /// The position after the last field.
  public var endIndex: Int { fields.endIndex }

  /// Returns the field at a position.
  public subscript(position: Int) -> Element { fields[position] }

  /// The value of a field.
  ///
  /// Values of repeated fields are joined by commas (RFC 9110 5.2). Setting it replaces all fields of that name by one,
  /// or removes them if it is `nil`.
  public subscript(name: String) -> String? {
    get {
      var joined: String?
      for field in fields where field.name.equalsIgnoringCase(name) {
        joined = joined.map { "\($0), \(field.value)" } ?? field.value
      }
      return joined
    }
    set {
      fields.removeAll { $0.name.equalsIgnoringCase(name) }
      if let newValue { append(name: name, value: newValue) }
    }
  }

  /// Returns the values of all fields of a name, in order.
  public func values(for name: String) -> [String] {
    fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
  }

  /// Appends a field, and keeps others of the same name.
  public mutating func append(name: String, value: String) {
    fields.append(Element(name: name, value: value))
  }

  /// Appends fields, and keeps others of the same names.
  public mutating func append(contentsOf others: HTTPFields) {
    fields += others.fields
  }

  /// Returns the fields of both lists, in order.
  package static func + (left: HTTPFields, right: HTTPFields) -> HTTPFields {
    var all = left
    all.append(contentsOf: right)
    return all
  }

  /// Removes all fields of a name, and returns their values in order.
  @discardableResult
  public mutating func remove(_ name: String) -> [String] {
    defer { self[name] = nil }
    return values(for: name)
  }

  /// Appends fields, and removes existing ones of the same names.
  package mutating func replace(with others: HTTPFields) {
    fields.removeAll { field in others.contains { $0.name.equalsIgnoringCase(field.name) } }
    append(contentsOf: others)
  }

  /// Returns the fields for which `isKept` returns `true`.
  package func filter(_ isKept: (Element) -> Bool) -> HTTPFields {
    var kept = self
    kept.fields.removeAll { !isKept($0) }
    return kept
  }
}

extension HTTPFields.Element {
  /// A Boolean value that indicates whether the field can be sent.
  ///
  /// The name must be a token, and the value must have no line ends (RFC 9110 5.1, 5.5).
  package var isSendable: Bool {
    name.isToken && value.utf8.allSatisfy { $0 != 13 && $0 != 10 && $0 != 0 }
  }
}

extension UInt8 {
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  var isHexDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) }

  /// The value of a hexadecimal digit.
  var hexDigitValue: UInt8 { self & 15 + (isDigit ? 0 : 9) }

  /// A Boolean value that indicates whether the byte may be part of a token (RFC 9110 5.6.2).
  package var isTokenCharacter: Bool { isDigit || isLetter || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}

extension StringProtocol where SubSequence == Substring {
  /// Compares as ASCII, the only characters in names of HTTP.
  func equalsIgnoringCase(_ other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    return zip(utf8, other.utf8).allSatisfy { left, right in
      left == right || (left.isLetter && left | 0x20 == right | 0x20)
    }
  }

  /// A Boolean value that indicates whether the text is a token (RFC 9110 5.6.2).
  var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenCharacter) }

  /// The number that digits alone make up, or `nil` for any other text.
  var digits: Int? { utf8.allSatisfy(\.isDigit) ? Int(self) : nil }

  /// The text without spaces and tabs at both ends.
  var trimmed: Substring {
    var rest = self[...]
    while let first = rest.utf8.first, first == 32 || first == 9 { rest = rest.dropFirst() }
    while let last = rest.utf8.last, last == 32 || last == 9 { rest = rest.dropLast() }
    return rest
  }
}
