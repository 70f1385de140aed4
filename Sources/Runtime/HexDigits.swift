extension FixedWidthInteger where Self: UnsignedInteger {
  /// The number in hexadecimal digits, as many as it has room for: `0f`, or `0F` in upper case.
  package func hexDigits(uppercase: Bool = false) -> String {
    let digits = String(self, radix: 16, uppercase: uppercase)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.utf8.count) + digits
  }
}

extension Sequence<UInt8> {
  /// The bytes in hexadecimal digits, two each, in lower case.
  package var hexDigits: String { reduce(into: "") { $0 += $1.hexDigits() } }
}
