import VitrineRuntime

extension Unicode.Scalar {
  /// Whether it steers what is shown and is nothing to see itself: a control character of a terminal, a line end, or one that
  /// turns the direction of text around.
  var isControl: Bool {
    switch value {
    case ..<0x20, 0x7F..<0xA0: true
    // The marks and overrides of the bidirectional algorithm (UAX #9), and the two line ends among them.
    case 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// An escape as JSON and many languages have it, `\u001b`; for what is below 0x10000, as all controls are.
  var escape: String {
    let hex = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
  }
}

extension String {
  /// The text on one line, with controls written out, so that no file and no server steers a terminal or writes lines of its own.
  var withoutControls: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.isControl: result += scalar.escape
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension Int {
  /// As a number of bytes for people, in the units that `--size-limit` takes.
  var asBytes: String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] where self >= 1 << shift {
      let tenths = ((self >> (shift - 10)) * 10) >> 10
      return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
    return counted("byte", "bytes")
  }

  func counted(_ one: String, _ many: String) -> String { "\(self) \(self == 1 ? one : many)" }
}
