import VitrineRuntime

/// One JSON object on one line, its members in the order in which they are given (RFC 8259).
struct JSONLine {
  private(set) var text = "{"

  mutating func add(_ name: String, _ value: String?) {
    member(name, value.map(Self.quoted) ?? "null")
  }

  mutating func add(_ name: String, _ value: Int?) { member(name, value.map(String.init) ?? "null") }

  mutating func add(_ name: String, _ value: Bool) { member(name, value ? "true" : "false") }

  /// Rounded to three places, which is what is known of times.
  mutating func add(_ name: String, _ value: Double) {
    let rounded = (value * 1000).rounded() / 1000
    member(name, Int(exactly: rounded).map(String.init) ?? "\(rounded)")
  }

  var line: String { text + "}" }

  private mutating func member(_ name: String, _ value: String) {
    if text.count > 1 { text += ", " }
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
      case _ where scalar.value < 0x20:
        let hex = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
