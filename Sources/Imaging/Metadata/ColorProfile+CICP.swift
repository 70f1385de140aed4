import VitrineRuntime

extension ColorProfile {
  /// Makes a profile of colours that a file names by code points (ITU-T H.273).
  ///
  /// Returns `nil` for sRGB and its equivalents, for undefined code points, and for the curves of high dynamic range
  /// (PQ, HLG), which a matrix cannot convert to sRGB.
  package init?(primaries: Int, transfer: Int) {
    guard let space = Self.spaces[primaries], let curve = Self.curve(transfer) else { return nil }
    if primaries == 1, transfer != 4, transfer != 5, transfer != 8 { return nil }
    let name = [1, 6, 13, 14, 15].contains(transfer) ? space.name : "\(space.name), \(curve.name)"
    let columns = Self.columns(space)
    let tags: [(String, [UInt8])] = [
      ("desc", Self.text(name)), ("wtpt", Self.xyz(Self.d50)),
      ("rXYZ", Self.xyz(columns[0])), ("gXYZ", Self.xyz(columns[1])), ("bXYZ", Self.xyz(columns[2])),
      ("rTRC", curve.tag), ("gTRC", curve.tag), ("bTRC", curve.tag),
    ]
    self.init(data: Self.file(tags))
  }

  private struct Space {
    var name: String
    /// x and y of red, green and blue; white is always D65.
    var red: (Double, Double)
    var green: (Double, Double)
    var blue: (Double, Double)
  }

  private static let spaces: [Int: Space] = [
    1: Space(name: "sRGB primaries", red: (0.640, 0.330), green: (0.300, 0.600), blue: (0.150, 0.060)),
    5: Space(name: "BT.601 625", red: (0.640, 0.330), green: (0.290, 0.600), blue: (0.150, 0.060)),
    6: Space(name: "BT.601 525", red: (0.630, 0.340), green: (0.310, 0.595), blue: (0.155, 0.070)),
    7: Space(name: "BT.601 525", red: (0.630, 0.340), green: (0.310, 0.595), blue: (0.155, 0.070)),
    9: Space(name: "BT.2020", red: (0.708, 0.292), green: (0.170, 0.797), blue: (0.131, 0.046)),
    12: Space(name: "Display P3", red: (0.680, 0.320), green: (0.265, 0.690), blue: (0.150, 0.060)),
  ]

  private static let d50 = [0.9642, 1.0, 0.8249]

  /// The curves of BT.709, BT.601 and BT.2020 are shown as sRGB's, as in browsers: they describe cameras, not
  /// displays.
  private static func curve(_ transfer: Int) -> (name: String, tag: [UInt8])? {
    switch transfer {
    case 1, 6, 13, 14, 15: ("sRGB curve", parametric([2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]))
    case 4: ("gamma 2.2", parametric([2.2]))
    case 5: ("gamma 2.8", parametric([2.8]))
    case 8: ("linear", parametric([1]))
    default: nil
    }
  }

  /// Returns red, green and blue in XYZ relative to D50: converted from D65 with the Bradford transform.
  private static func columns(_ space: Space) -> [[Double]] {
    let corners: [[Double]] = [xyz(space.red), xyz(space.green), xyz(space.blue)]
    let white = xyz((0.3127, 0.3290))
    // The amount of each that makes white, by Cramer's rule.
    let whole = determinant(corners)
    return (0..<3).map { (index: Int) -> [Double] in
      var changed = corners
      changed[index] = white
      let share = determinant(changed) / whole
      return adaptation.map { row in
        var sum = 0.0
        for place in 0..<3 { sum += row[place] * corners[index][place] * share }
        return sum
      }
    }
  }

  private static let adaptation: [[Double]] = [
    [1.0478112, 0.0228866, -0.0501270], [0.0295424, 0.9904844, -0.0170491], [-0.0092345, 0.0150436, 0.7521316],
  ]

  private static func xyz(_ corner: (x: Double, y: Double)) -> [Double] {
    [corner.x / corner.y, 1, (1 - corner.x - corner.y) / corner.y]
  }

  private static func determinant(_ m: [[Double]]) -> Double {
    let first = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
    let second = m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
    return first - second + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
  }

  private static func file(_ tags: [(String, [UInt8])]) -> Data {
    var table = big(tags.count)
    var body: [UInt8] = []
    for (name, content) in tags {
      table += Array(name.utf8) + big(128 + 4 + tags.count * 12 + body.count) + big(content.count)
      body += content + [UInt8](repeating: 0, count: -content.count & 3)
    }
    var header = [UInt8](repeating: 0, count: 128)
    header.replaceSubrange(0..<4, with: big(128 + table.count + body.count))
    header.replaceSubrange(8..<12, with: [4, 0x30, 0, 0])
    header.replaceSubrange(12..<24, with: Array("mntrRGB XYZ ".utf8))
    header.replaceSubrange(36..<40, with: Array("acsp".utf8))
    header.replaceSubrange(68..<80, with: d50.flatMap(fixed))
    return Data(header + table + body)
  }

  private static func text(_ text: String) -> [UInt8] {
    let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    return Array("mluc".utf8) + big(0) + big(1) + big(12) + Array("enUS".utf8) + big(units.count) + big(28) + units
  }

  private static func parametric(_ values: [Double]) -> [UInt8] {
    Array("para".utf8) + big(0) + [0, values.count == 1 ? 0 : 3, 0, 0] + values.flatMap(fixed)
  }

  private static func xyz(_ values: [Double]) -> [UInt8] { Array("XYZ ".utf8) + big(0) + values.flatMap(fixed) }

  private static func fixed(_ value: Double) -> [UInt8] { big(Int((value * 65536).rounded())) }

  private static func big(_ value: Int) -> [UInt8] {
    let bits = UInt32(truncatingIfNeeded: value)
    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
  }
}
