import VitrineRuntime

/// The canonical form of a host.
enum HostName {
  /// Returns a name in lower case with international labels in Punycode, or an address in canonical form.
  ///
  /// Returns `nil` if the text is neither.
  static func canonical(_ text: Substring) -> String? {
    if text.hasPrefix("[") {
      guard text.hasSuffix("]"), let address = IPAddress(String(text)), address.isIPv6 else { return nil }
      return "[\(address)]"
    }
    guard let decoded = PercentEncoding.decode(text) else { return nil }
    let name = decoded.utf8.allSatisfy { $0 < 128 } ? decoded.lowercased() : international(decoded)
    guard let name, isName(name) else { return nil }
    // Resolvers treat 0x7f.1 as an address, so a check of addresses must do so too.
    let labels = name.split(separator: ".")
    guard let last = labels.last else { return nil }
    let isNumber =
      last.utf8.allSatisfy(\.isDigit) || (last.hasPrefix("0x") && last.utf8.dropFirst(2).allSatisfy(\.isHexDigit))
    return isNumber ? address4(labels) : name
  }

  private static func international(_ name: String) -> String? {
    let labels = name.lowercased().unicodeScalars.split(omittingEmptySubsequences: false) { scalar in
      // These are the full stops of East Asian keyboards (RFC 3490 3.1).
      scalar == "." || scalar == "\u{3002}" || scalar == "\u{FF0E}" || scalar == "\u{FF61}"
    }
    var encoded: [String] = []
    for label in labels {
      if label.allSatisfy(\.isASCII) {
        encoded.append(String(label))
      } else {
        guard label.allSatisfy({ isLabelScalar($0) }), let code = Punycode.encode(label) else { return nil }
        encoded.append("xn--" + code)
      }
    }
    return encoded.joined(separator: ".")
  }

  private static func isLabelScalar(_ scalar: Unicode.Scalar) -> Bool {
    ![.control, .privateUse, .surrogate, .unassigned, .spaceSeparator, .lineSeparator, .paragraphSeparator]
      .contains(scalar.properties.generalCategory)
  }

  private static func isName(_ name: String) -> Bool {
    let body = name.hasSuffix(".") ? name.dropLast() : name[...]
    guard !body.isEmpty, body.utf8.count <= 253 else { return false }
    return body.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty && label.utf8.count <= 63
        && label.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }
  }

  /// Parses with `inet_aton`: one to four decimal, octal or hexadecimal numbers, the last of which fills the rest.
  private static func address4(_ labels: [Substring]) -> String? {
    var address = in_addr()
    // `address` outlives the calls.
    guard unsafe inet_aton(labels.joined(separator: "."), &address) != 0 else { return nil }
    return unsafe withUnsafeBytes(of: &address) { unsafe $0.map { String($0) } }.joined(separator: ".")
  }
}

/// An encoder of a label's scalars as letters, digits and hyphens (RFC 3492).
enum Punycode {
  /// Returns the label without its `xn--`, or `nil` if it is too long.
  static func encode(_ label: some Collection<Unicode.Scalar>) -> String? {
    // A label has at most 63 bytes, so all numbers below stay small.
    guard label.count <= 63 else { return nil }
    var output = label.filter(\.isASCII).map { UInt8($0.value) }
    let basicCount = output.count
    var handled = basicCount
    if basicCount > 0 { output.append(UInt8(ascii: "-")) }

    var (next, delta, bias) = (128, 0, 72)
    while handled < label.count {
      guard let smallest = label.lazy.map({ Int($0.value) }).filter({ $0 >= next }).min() else { return nil }
      delta += (smallest - next) * (handled + 1)
      next = smallest
      for scalar in label {
        if scalar.value < next { delta += 1 }
        guard scalar.value == next else { continue }
        append(delta, bias: bias, to: &output)
        bias = adapt(delta, count: handled + 1, isFirst: handled == basicCount)
        delta = 0
        handled += 1
      }
      delta += 1
      next += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static func append(_ delta: Int, bias: Int, to output: inout [UInt8]) {
    var rest = delta
    for k in stride(from: 36, through: .max, by: 36) {
      let threshold = min(max(k - bias, 1), 26)
      guard rest >= threshold else { break }
      output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
      rest = (rest - threshold) / (36 - threshold)
    }
    output.append(digit(rest))
  }

  private static func digit(_ value: Int) -> UInt8 {
    UInt8(value < 26 ? value + 97 : value - 26 + 48)
  }

  private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / count
    var k = 0
    while delta > 35 * 26 / 2 {
      delta /= 35
      k += 36
    }
    return k + 36 * delta / (delta + 38)
  }
}
