import VitrineRuntime

extension Unicode.Scalar {
  /// A Boolean value that indicates whether the scalar is invisible but changes the output.
  ///
  /// These are the control characters of a terminal, the line ends, and the characters that change the direction of
  /// text.
  var isControl: Bool {
    switch value {
    case ..<0x20, 0x7F..<0xA0: true
    // The marks and overrides of the bidirectional algorithm (UAX #9), and the two line separators among them.
    case 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// The escape of the scalar as in JSON, such as `\u001b`, for values below 0x10000, as all controls are.
  var escape: String {
    let hex = String(value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
  }
}

extension String {
  /// The text on one line, with control characters escaped, so that it can neither control a terminal nor add lines.
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
  /// A readable number of bytes, in the units of `--size-limit`.
  var asBytes: String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] where self >= 1 << shift {
      let tenths = ((self >> (shift - 10)) * 10) >> 10
      return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
    return counted("byte", "bytes")
  }

  func counted(_ one: String, _ many: String) -> String { "\(self) \(self == 1 ? one : many)" }
}
