import VitrineRuntime

// The binary form (ISO 21496-1, annex C): whole numbers, most significant byte first, and fractions of two of them.
extension GainMapFormula {
  /// The name of the segment APP2 that holds it in a JPEG.
  static let segmentName = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)
  /// The content of the picture's own segment: the versions alone.
  static let segmentVersions: [UInt8] = [0, 0, 0, 0]

  private enum Flag {
    static let isMultichannel: UInt8 = 0x80
    static let usesBaseColorSpace: UInt8 = 0x40
    /// All fractions have one denominator: of drafts, and written by Android.
    static let hasCommonDenominator: UInt8 = 0x08
  }

  /// Reads the binary form; returns `nil` if it is of a later version that older readers must not read, cut, or if its
  /// numbers make no sense.
  ///
  /// - Parameters:
  ///   - bytes: The bytes, from the versions on.
  ///   - base: The colour space of the picture.
  ///   - alternate: The colour space of the map's own profile.
  init?(iso bytes: ByteReader, base: ColorSpace, alternate: ColorSpace) {
    guard bytes.bigEndian16(at: 0) == 0, let flags = bytes.byte(at: 4) else { return nil }
    let hasCommon = flags & Flag.hasCommonDenominator != 0
    var offset = hasCommon ? 9 : 5
    /// The next number; `isSigned` tells a numerator that may be negative.
    func number(isSigned: Bool) -> Double? {
      guard let bits = bytes.bigEndian32(at: offset),
        let denominator = bytes.bigEndian32(at: hasCommon ? 5 : offset + 4), denominator != 0
      else { return nil }
      offset += hasCommon ? 4 : 8
      return (isSigned ? Double(Int32(bitPattern: bits)) : Double(bits)) / Double(denominator)
    }
    guard let baseStops = number(isSigned: false), let alternateStops = number(isSigned: false) else { return nil }
    self.init(maximum: alternateStops)
    (baseHeadroom, colorSpace) = (baseStops, flags & Flag.usesBaseColorSpace != 0 ? base : alternate)
    let count = flags & Flag.isMultichannel != 0 ? 3 : 1
    for place in 0..<count {
      guard let least = number(isSigned: true), let most = number(isSigned: true), let power = number(isSigned: false),
        let before = number(isSigned: true), let after = number(isSigned: true)
      else { return nil }
      for place in place..<(count == 1 ? 3 : place + 1) {
        (minimum[place], maximum[place], gamma[place]) = (least, most, power)
        (baseOffset[place], alternateOffset[place]) = (before, after)
      }
    }
  }

  /// Returns the binary form, for a picture of a colour space.
  func iso(base: ColorSpace) -> [UInt8] {
    var bytes = Self.segmentVersions
    bytes.append((isUniform ? 0 : Flag.isMultichannel) | (colorSpace == base ? Flag.usesBaseColorSpace : 0))
    func add(_ value: Double) {
      let denominator = 1_000_000.0
      for number in [Int32(max(-2_147, min(value, 2_147)) * denominator), Int32(denominator)] {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
      }
    }
    for value in [baseHeadroom, alternateHeadroom] { add(value) }
    for place in 0..<(isUniform ? 1 : 3) {
      for value in [minimum, maximum, gamma, baseOffset, alternateOffset] { add(value[place]) }
    }
    return bytes
  }

  /// True if all components have the same numbers.
  var isUniform: Bool {
    [minimum, maximum, gamma, baseOffset, alternateOffset].allSatisfy { $0.x == $0.y && $0.y == $0.z }
  }
}
