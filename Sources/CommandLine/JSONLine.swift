import VitrineRuntime

/// A JSON object on one line, with its members in the order in which they are added (RFC 8259).
///
/// Control characters are escaped, so that they cannot control a terminal.
struct JSONLine {
  private(set) var text = "{"

  mutating func add(_ name: String, _ value: String?) {
    member(name, value.map(Self.quoted) ?? "null")
  }

  mutating func add(_ name: String, _ value: ByteString?) { add(name, value?.readable) }

  mutating func add(_ name: String, _ value: Int?) { member(name, value.map(String.init) ?? "null") }

  mutating func add(_ name: String, _ value: Bool?) { member(name, value.map { $0 ? "true" : "false" } ?? "null") }

  /// Adds a number, rounded to three decimal places.
  mutating func add(_ name: String, _ value: Double?) {
    guard let value else { return member(name, "null") }
    let rounded = (value * 1000).rounded() / 1000
    member(name, Int(exactly: rounded).map(String.init) ?? "\(rounded)")
  }

  /// Adds an array of objects.
  mutating func add(_ name: String, _ objects: [JSONLine]?) {
    member(name, objects.map { "[\($0.map(\.line).joined(separator: ", "))]" } ?? "null")
  }

  /// Adds the last members of every source's line, both `null` on success.
  mutating func add(_ failure: Failure?) {
    add("error", failure?.reason)
    add("stage", failure?.stage.rawValue)
  }

  var line: String { text + "}" }

  private mutating func member(_ name: String, _ value: String) {
    if text != "{" { text += ", " }
    text += "\(Self.quoted(name)): \(value)"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.isControl: result += scalar.escape
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
