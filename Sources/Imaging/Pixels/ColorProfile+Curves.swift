import VitrineRuntime

/// A conversion of three components to light: a curve for each and a matrix.
struct MatrixShaper {
  /// The linear light of each byte, for red, green and blue.
  var curves: [[Float]]
  /// Rows for X, Y and Z of the D50 connection space, columns for red, green and blue; `nil` for gray.
  var matrix: [[Double]]?
}

extension ColorProfile {
  /// The kind of conversion that a profile needs.
  enum Kind {
    /// Curves and a matrix, for three components (ICC.1:2022, F.3).
    case matrix(MatrixShaper)
    /// A curve for one component (F.2).
    case gray([Float])
    /// Anything else that is made for such pixels.
    case table(ColorModel)
    /// No profile, or one of colours that no decoder delivers.
    case unknown
  }

  var kind: Kind {
    data.reading { profile in
      guard profile.matches("acsp", at: 36) else { return .unknown }
      let hasTables = (["A2B0", "A2B1", "D2B0", "D2B1"] as [StaticString]).contains { Self.tag($0, profile) != nil }
      let isXYZ = profile.matches("XYZ ", at: 20)
      if profile.matches("GRAY", at: 16) {
        guard isXYZ, !hasTables, let curve = Self.tag("kTRC", profile).flatMap(Self.curve) else { return .table(.gray) }
        return .gray(curve)
      }
      if profile.matches("CMYK", at: 16) { return .table(.cmyk) }
      guard profile.matches("RGB ", at: 16) else { return .unknown }
      // If a profile has both, tables are more accurate.
      guard isXYZ, !hasTables else { return .table(.rgb) }
      let curves = (["rTRC", "gTRC", "bTRC"] as [StaticString]).compactMap {
        Self.tag($0, profile).flatMap(Self.curve)
      }
      let columns = (["rXYZ", "gXYZ", "bXYZ"] as [StaticString]).compactMap { Self.tag($0, profile).flatMap(Self.xyz) }
      guard curves.count == 3, columns.count == 3 else { return .unknown }
      return .matrix(MatrixShaper(curves: curves, matrix: (0..<3).map { row in columns.map { $0[row] } }))
    }
  }

  static func tag(_ signature: StaticString, _ profile: ByteReader) -> ByteReader? {
    guard let count = profile.bigEndian32(at: 128) else { return nil }
    for index in 0..<Int(min(count, 100)) {
      let entry = 132 + index * 12
      guard profile.matches(signature, at: entry) else { continue }
      guard let offset = profile.bigEndian32(at: entry + 4), let size = profile.bigEndian32(at: entry + 8) else {
        return nil
      }
      return profile.slice(Int(offset), Int(size))
    }
    return nil
  }

  private static func xyz(_ tag: ByteReader) -> [Double]? {
    guard tag.starts(with: "XYZ ") else { return nil }
    let values = [8, 12, 16].compactMap { fixed(tag, $0) }
    return values.count == 3 ? values : nil
  }

  /// Reads a signed fixed-point number with 16 fractional bits.
  private static func fixed(_ tag: ByteReader, _ offset: Int) -> Double? {
    tag.bigEndian32(at: offset).map { Double(Int32(bitPattern: $0)) / 65536 }
  }

  private static func curve(_ tag: ByteReader) -> [Float]? {
    let inputs = (0...255).map { Double($0) / 255 }
    if tag.starts(with: "curv"), let count = tag.bigEndian32(at: 8).map(Int.init) {
      if count == 0 { return inputs.map { Float($0) } }
      if count == 1 {
        guard let gamma = tag.bigEndian16(at: 12).map({ Double($0) / 256 }) else { return nil }
        return inputs.map { Float(pow($0, gamma)) }
      }
      guard count <= 65536, tag.count >= 12 + count * 2 else { return nil }
      return inputs.map { input in
        let place = input * Double(count - 1)
        let index = min(Int(place), count - 2)
        let low = Double(tag.bigEndian16(at: 12 + index * 2) ?? 0)
        let high = Double(tag.bigEndian16(at: 14 + index * 2) ?? 0)
        return Float((low + (high - low) * (place - Double(index))) / 65535)
      }
    }
    guard tag.starts(with: "para"), let kind = tag.bigEndian16(at: 8) else { return nil }
    let counts = [1, 3, 4, 5, 7]
    guard Int(kind) < counts.count else { return nil }
    let values = (0..<counts[Int(kind)]).compactMap { fixed(tag, 12 + $0 * 4) }
    guard values.count == counts[Int(kind)] else { return nil }
    return inputs.map { Float(parametric(Int(kind), values, $0)) }
  }

  /// Evaluates the functions of `parametricCurveType` (10.18), with parameters in the order of the standard: g a b c
  /// d e f.
  private static func parametric(_ kind: Int, _ p: [Double], _ x: Double) -> Double {
    let power = { (x: Double) in pow(max(0, x), p[0]) }
    let value: Double =
      switch kind {
      case 0: power(x)
      case 1: x >= -p[2] / p[1] ? power(p[1] * x + p[2]) : 0
      case 2: x >= -p[2] / p[1] ? power(p[1] * x + p[2]) + p[3] : p[3]
      case 3: x >= p[4] ? power(p[1] * x + p[2]) : p[3] * x
      default: x >= p[4] ? power(p[1] * x + p[2]) + p[5] : p[3] * x + p[6]
      }
    return value.isFinite ? min(max(value, 0), 1) : 0
  }
}
