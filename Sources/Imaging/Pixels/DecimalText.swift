/// Decimal numbers as text.
package enum DecimalText {
  /// Returns a number without an exponent and with at most six decimal places, or with all digits if it needs more.
  package static func of(_ number: Double) -> String {
    if let whole = Int(exactly: number) { return "\(whole)" }
    let millionths = (number * 1e6).rounded()
    guard abs(millionths) < 1e15, millionths / 1e6 == number, let whole = Int(exactly: millionths) else {
      return "\(number)"
    }
    let (integer, rest) = abs(whole).quotientAndRemainder(dividingBy: 1_000_000)
    let places = String(String(1_000_000 + rest).dropFirst().reversed().drop { $0 == "0" }.reversed())
    return "\(whole < 0 ? "-" : "")\(integer).\(places)"
  }

  /// Reads a decimal number with at most six places and no exponent; `nil` for everything else.
  static func number(_ text: String) -> Double? {
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ $0.allSatisfy { (48...57).contains($0) } }),
      digits.count <= 16, !parts[0].isEmpty, parts.count == 1 || (1...6).contains(parts[1].count),
      let number = Double(text)
    else { return nil }
    // There is one zero.
    return number == 0 ? 0 : number
  }

  /// Reads a whole number of plain digits; `nil` for everything else.
  static func whole(_ text: String) -> Int? {
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    return digits.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }
}
