import VitrineRuntime

/// The colours of a file that has numbers in place of a profile: chromaticities and a curve.
package struct ColorEncoding: Hashable, Sendable {
  /// A colour without its brightness (CIE 1931).
  package struct Chromaticity: Hashable, Sendable {
    package var x: Double
    package var y: Double

    /// The tristimulus values with Y = 1; `nil` if there is no such colour.
    fileprivate var tristimulus: [Double]? {
      guard x >= 0, y > 0.001, x + y <= 1.001 else { return nil }
      return [x / y, 1, (1 - x - y) / y]
    }
  }

  /// The curve from components of 0 to 1 to light of 0 to 1.
  package enum Transfer: Hashable, Sendable {
    case sRGB
    case gamma(Double)
  }

  package var red: Chromaticity
  package var green: Chromaticity
  package var blue: Chromaticity
  package var white = Chromaticity(x: 0.3127, y: 0.3290)
  package var transfer = Transfer.sRGB

  package static let sRGB = ColorEncoding(
    red: Chromaticity(x: 0.64, y: 0.33),
    green: Chromaticity(x: 0.30, y: 0.60),
    blue: Chromaticity(x: 0.15, y: 0.06),
  )
  static let displayP3 = ColorEncoding(
    red: Chromaticity(x: 0.680, y: 0.320),
    green: Chromaticity(x: 0.265, y: 0.690),
    blue: Chromaticity(x: 0.15, y: 0.06),
  )
  /// ITU-R BT.601 for pictures of 625 lines.
  static let rec601With625Lines = ColorEncoding(
    red: Chromaticity(x: 0.640, y: 0.330),
    green: Chromaticity(x: 0.290, y: 0.600),
    blue: Chromaticity(x: 0.150, y: 0.060),
  )
  /// ITU-R BT.601 for pictures of 525 lines.
  static let rec601With525Lines = ColorEncoding(
    red: Chromaticity(x: 0.630, y: 0.340),
    green: Chromaticity(x: 0.310, y: 0.595),
    blue: Chromaticity(x: 0.155, y: 0.070),
  )
  /// ITU-R BT.2020.
  static let rec2020 = ColorEncoding(
    red: Chromaticity(x: 0.708, y: 0.292),
    green: Chromaticity(x: 0.170, y: 0.797),
    blue: Chromaticity(x: 0.131, y: 0.046),
  )

  /// Makes an encoding from the code points of ITU-T H.273, as in PNG's `cICP`; returns `nil` for unsupported ones,
  /// such as the curves of high dynamic range.
  init?(primaries: UInt8, transfer: UInt8) {
    switch primaries {
    case 1: self = .sRGB
    case 9: self = .rec2020
    case 12: self = .displayP3
    default: return nil
    }
    switch transfer {
    // Curves of cameras are shown like the curves of displays.
    case 1, 6, 13, 14, 15: self.transfer = .sRGB
    case 4: self.transfer = .gamma(2.2)
    case 5: self.transfer = .gamma(2.8)
    case 8: self.transfer = .gamma(1)
    default: return nil
    }
  }

  init(
    red: Chromaticity,
    green: Chromaticity,
    blue: Chromaticity,
    white: Chromaticity = Chromaticity(x: 0.3127, y: 0.3290),
    transfer: Transfer = .sRGB,
  ) {
    (self.red, self.green, self.blue, self.white, self.transfer) = (red, green, blue, white, transfer)
  }

  /// The white of profiles: D50 (ICC.1:2022, 7.2.16).
  static let connectionWhite = [0.9642, 1, 0.8249]

  /// The matrix from light to XYZ, relative to the white; `nil` if the primaries do not form a triangle around it.
  var primaryLight: Matrix3? {
    guard let red = red.tristimulus, let green = green.tristimulus, let blue = blue.tristimulus,
      let white = white.tristimulus
    else { return nil }
    let primaries = Matrix3(columns: [red, green, blue])
    guard let strengths = primaries.inverse?.applied(to: white), strengths.allSatisfy({ $0 > 0 }) else { return nil }
    return Matrix3(columns: zip(primaries.columns, strengths).map { color, strength in color.map { $0 * strength } })
  }

  /// The matrix from light to XYZ relative to D50, and the part of it that adapts the white; `nil` if the primaries do
  /// not form a triangle around the white.
  var adaptedPrimaries: (matrix: Matrix3, adaptation: Matrix3)? {
    guard let light = primaryLight, let white = white.tristimulus else { return nil }
    // The Bradford transform (K. M. Lam, 1985).
    let cones = Matrix3(rows: [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    let (from, to) = (cones.applied(to: white), cones.applied(to: Self.connectionWhite))
    guard let back = cones.inverse, from.allSatisfy({ $0 > 0 }) else { return nil }
    let scaled = zip(cones.rows, zip(to, from)).map { row, white in row.map { $0 * white.0 / white.1 } }
    let adaptation = Matrix3(columns: Matrix3(rows: scaled).columns.map { back.applied(to: $0) })
    return (Matrix3(columns: light.columns.map { adaptation.applied(to: $0) }), adaptation)
  }

  /// Returns whether another encoding has the same primaries and white, or nearly so.
  func hasPrimaries(of other: ColorEncoding) -> Bool {
    zip([red, green, blue, white], [other.red, other.green, other.blue, other.white]).allSatisfy { own, other in
      abs(own.x - other.x) < 0.001 && abs(own.y - other.y) < 0.001
    }
  }

  /// The conversion to light; `nil` if the primaries do not form a triangle around the white.
  var matrixShaper: MatrixShaper? {
    guard let matrix = adaptedPrimaries?.matrix else { return nil }
    let curve: [Float] =
      switch transfer {
      case .sRGB: TransferCurve.sRGB.levels
      case .gamma(let gamma): (0...255).map { Float(pow(Double($0) / 255, gamma)) }
      }
    return MatrixShaper(curves: [curve, curve, curve], matrix: matrix.rows)
  }
}

/// Three rows of three numbers.
struct Matrix3 {
  var rows: [[Double]]

  init(rows: [[Double]]) {
    self.rows = rows
  }

  init(columns: [[Double]]) {
    rows = (0..<3).map { row in columns.map { $0[row] } }
  }

  var columns: [[Double]] { (0..<3).map { column in rows.map { $0[column] } } }

  func applied(to vector: [Double]) -> [Double] { rows.map { row in zip(row, vector).reduce(0) { $0 + $1.0 * $1.1 } } }

  /// The inverse; `nil` if the matrix is singular, or nearly so.
  var inverse: Matrix3? {
    func cofactor(_ row: Int, _ column: Int) -> Double {
      let (r, c) = ([1, 2, 0], [1, 2, 0])
      let (r1, r2, c1, c2) = (r[row], r[r[row]], c[column], c[c[column]])
      return rows[r1][c1] * rows[r2][c2] - rows[r1][c2] * rows[r2][c1]
    }
    let determinant = (0..<3).reduce(0) { $0 + rows[0][$1] * cofactor(0, $1) }
    guard abs(determinant) > 1e-9 else { return nil }
    return Matrix3(rows: (0..<3).map { row in (0..<3).map { cofactor($0, row) / determinant } })
  }
}
