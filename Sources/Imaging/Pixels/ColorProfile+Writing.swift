import VitrineRuntime

extension ColorProfile {
  /// Makes a profile of primaries, their white and a curve that is the same for all three (ICC.1:2022, version 4.4).
  ///
  /// Returns `nil` if the primaries do not form a triangle around the white. The encoding's own curve is not used.
  ///
  /// - Parameters:
  ///   - name: The description.
  ///   - encoding: The primaries and the white.
  ///   - curve: The parameters of a curve of type 3, or an exponent (10.18).
  init?(name: String, encoding: ColorEncoding, curve: [Double]) {
    guard let primaries = encoding.adaptedPrimaries else { return nil }
    let columns = Self.summingUpToWhite(primaries.matrix)
    var tags: [(String, [UInt8])] = [
      ("desc", Self.text(name)), ("cprt", Self.text("CC0")), ("wtpt", Self.xyz(Self.white)),
      ("chad", Array("sf32".utf8) + Self.big(0) + primaries.adaptation.rows.joined().flatMap { Self.fixed($0) }),
    ]
    tags += zip(["rXYZ", "gXYZ", "bXYZ"], columns).map { ($0, Self.xyz($1)) }
    tags += ["rTRC", "gTRC", "bTRC"].map { ($0, Self.parametric(curve)) }
    self.init(data: Self.file(tags))
  }

  /// D50 as a profile has it: 0xF6D6, 0x10000, 0xD32D.
  private static let white = ColorEncoding.connectionWhite.map { units($0) }

  /// Returns the columns of a matrix in units of 1/65536, such that white stays white after rounding.
  private static func summingUpToWhite(_ matrix: Matrix3) -> [[Int]] {
    var rows = matrix.rows.map { $0.map(units) }
    for (index, row) in rows.enumerated() {
      // The error of rounding is least seen in the largest number.
      guard let largest = row.indices.max(by: { row[$0] < row[$1] }) else { continue }
      rows[index][largest] += white[index] - row.reduce(0, +)
    }
    return (0..<3).map { column in rows.map { $0[column] } }
  }

  private static func file(_ tags: [(name: String, content: [UInt8])]) -> Data {
    var table = big(tags.count)
    var body: [UInt8] = []
    var places: [[UInt8]: Int] = [:]
    for tag in tags {
      // Equal tags share their bytes.
      let place = places[tag.content] ?? body.count
      if places.updateValue(place, forKey: tag.content) == nil {
        body += tag.content + [UInt8](repeating: 0, count: -tag.content.count & 3)
      }
      table += Array(tag.name.utf8) + big(128 + 4 + tags.count * 12 + place) + big(tag.content.count)
    }
    var header = [UInt8](repeating: 0, count: 128)
    header.replaceSubrange(0..<4, with: big(128 + table.count + body.count))
    header.replaceSubrange(8..<12, with: [4, 0x40, 0, 0])
    header.replaceSubrange(12..<24, with: Array("mntrRGB XYZ ".utf8))
    // A date is required: the specification's, so that the bytes are always the same.
    header.replaceSubrange(24..<30, with: [0x07, 0xE6, 0, 5, 0, 1])
    header.replaceSubrange(36..<40, with: Array("acsp".utf8))
    header.replaceSubrange(68..<80, with: white.flatMap(big))
    return Data(header + table + body)
  }

  private static func text(_ text: String) -> [UInt8] {
    let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    return Array("mluc".utf8) + big(0) + big(1) + big(12) + Array("enUS".utf8) + big(units.count) + big(28) + units
  }

  private static func parametric(_ values: [Double]) -> [UInt8] {
    Array("para".utf8) + big(0) + [0, values.count == 1 ? 0 : 3, 0, 0] + values.flatMap { fixed($0) }
  }

  private static func xyz(_ units: [Int]) -> [UInt8] { Array("XYZ ".utf8) + big(0) + units.flatMap(big) }

  private static func units(_ value: Double) -> Int { Int((value * 65536).rounded()) }

  private static func fixed(_ value: Double) -> [UInt8] { big(units(value)) }

  private static func big(_ value: Int) -> [UInt8] {
    let bits = UInt32(truncatingIfNeeded: value)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
  }
}
