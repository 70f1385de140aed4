import VitrineRuntime

extension ColorProfile {
  /// Makes a profile of colours that a file names by code points (ITU-T H.273).
  ///
  /// Returns `nil` for sRGB and its equivalents, for undefined code points, and for the curves of high dynamic range
  /// (PQ, HLG), which are ``HighRangeColors``.
  package init?(primaries: Int, transfer: Int) {
    guard let space = Self.spaces[primaries], let curve = Self.curve(transfer) else { return nil }
    if primaries == 1, transfer != 4, transfer != 5, transfer != 8 { return nil }
    let name = [1, 6, 13, 14, 15].contains(transfer) ? space.name : "\(space.name), \(curve.name)"
    self.init(name: name, encoding: space.encoding, curve: curve.parameters)
  }

  /// The primaries of code points, with their names.
  static let spaces: [Int: (name: String, encoding: ColorEncoding)] = [
    1: ("sRGB primaries", .sRGB), 5: ("BT.601 625", .rec601With625Lines), 6: ("BT.601 525", .rec601With525Lines),
    7: ("BT.601 525", .rec601With525Lines), 9: ("BT.2020", .rec2020), 12: ("Display P3", .displayP3),
  ]

  /// The curves of BT.709, BT.601 and BT.2020 are shown as sRGB's, as in browsers: they describe cameras, not
  /// displays.
  private static func curve(_ transfer: Int) -> (name: String, parameters: [Double])? {
    switch transfer {
    case 1, 6, 13, 14, 15: ("sRGB curve", [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
    case 4: ("gamma 2.2", [2.2])
    case 5: ("gamma 2.8", [2.8])
    case 8: ("linear", [1])
    default: nil
    }
  }
}

extension ColorProfile {
  /// The colours of high dynamic range that the profile names by code points (ICC.1:2022, 9.2.17, `cicp`).
  ///
  /// `peak` is the brightest content in nits, if the file says.
  package func highRange(peak: Double?) -> HighRangeColors? {
    data.reading { bytes in
      let count = min(Int(bytes.bigEndian32(at: 128) ?? 0), 128)
      let entry = (0..<count).map { 132 + 12 * $0 }.first { bytes.matches("cicp", at: $0) }
      guard let entry, let offset = bytes.bigEndian32(at: entry + 4), bytes.matches("cicp", at: Int(offset)),
        let primaries = bytes.byte(at: Int(offset) + 8), let transfer = bytes.byte(at: Int(offset) + 9)
      else { return nil }
      return HighRangeColors(primaries: Int(primaries), transfer: Int(transfer), peak: peak)
    }
  }
}
