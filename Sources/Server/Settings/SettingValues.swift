import VitrineRuntime

/// Reads and writes values of settings.
enum SettingValues {
  static func integer(_ text: String, _ range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw ConfigurationError("'\(text)' is not a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Reads a number of bytes: `50000000`, `512K`, `64M`, `2G`.
  static func bytes(_ text: String, atLeast least: Int = 1) throws(ConfigurationError) -> Int {
    let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
    let unit = text.last.flatMap { units[Character($0.uppercased())] }
    let digits = unit == nil ? text[...] : text.dropLast()
    guard let number = Int(digits), number >= 0 else {
      throw ConfigurationError("'\(text)' is not a number of bytes, such as 50000000 or 48M")
    }
    let (product, isTooMuch) = number.multipliedReportingOverflow(by: unit ?? 1)
    guard !isTooMuch, product >= least else { throw ConfigurationError("'\(text)' is less than \(least) bytes") }
    return product
  }

  /// Reads a time: `30`, `1.5s`, `10m`, `12h`, `7d`.
  static func duration(_ text: String) throws(ConfigurationError) -> Duration {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    let unit = text.last.flatMap { units[$0] }
    let digits = unit == nil ? text[...] : text.dropLast()
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let number = Double(digits),
      number * (unit ?? 1) <= 3.2e9
    else { throw ConfigurationError("'\(text)' is not a time, such as 30, 90s or 12h") }
    return .milliseconds(Int64(number * (unit ?? 1) * 1000))
  }

  static func text(_ duration: Duration) -> String {
    let milliseconds = duration.nanoseconds / 1_000_000
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(Double(milliseconds) / 1000)s"
  }

  static func flag(_ text: String) throws(ConfigurationError) -> Bool {
    switch text.lowercased() {
    case "1", "true", "on", "yes": return true
    case "0", "false", "off", "no", "": return false
    default: throw ConfigurationError("'\(text)' is neither on nor off")
    }
  }

  static func text(_ flag: Bool) -> String { flag ? "on" : "off" }

  /// Reads parts between commas.
  static func list(_ text: String) -> [String] {
    text.split(separator: ",").map { String($0.trimmingSpaces) }.filter { !$0.isEmpty }
  }

  /// Reads text, of which none is `nil`.
  static func optional(_ text: String) -> String? { text.isEmpty ? nil : text }
}
