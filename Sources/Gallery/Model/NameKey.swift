/// The order of a name among others, as people expect it: without regard to case, and 2 before 10.
struct NameKey: Sendable, Comparable {
  private let bytes: [UInt8]

  init(_ name: String) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(name.utf8.count + 8)
    var digits: [UInt8] = []
    func endNumber() {
      guard !digits.isEmpty else { return }
      // A number sorts by its length first; "007" and "7" differ only in the text behind the name.
      let significant = digits.drop { $0 == UInt8(ascii: "0") }
      bytes.append(UInt8(ascii: "0"))
      bytes.append(UInt8(min(significant.count, 255)))
      bytes += significant
      digits = []
    }
    // Lower case of ASCII without the tables of Unicode.
    let lower = name.utf8.allSatisfy { $0 < 128 } ? name.utf8.map(Self.lowercased) : Array(name.lowercased().utf8)
    for byte in lower {
      if UInt8(ascii: "0") <= byte, byte <= UInt8(ascii: "9") {
        digits.append(byte)
      } else {
        endNumber()
        bytes.append(byte)
      }
    }
    endNumber()
    // Names that differ in case or zeros only have an order, too.
    bytes.append(0)
    bytes += name.utf8
    self.bytes = bytes
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A") <= byte && byte <= UInt8(ascii: "Z") ? byte + 32 : byte
  }

  static func < (one: Self, other: Self) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }
}
