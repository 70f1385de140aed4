import VitrineRuntime

/// Brings pixels from a profile's colours to sRGB: a table for each component, a matrix, a table back.
///
/// Colours beyond sRGB are cut to it. It runs on the finished pixels, of which there are few, and not on the source's.
struct ColorTransform {
  private let curves: [[Float]]
  private let matrix: [SIMD4<Float>]

  /// sRGB (IEC 61966-2-1) from linear light of 0 to 1 in steps of 1/16383: a fifth of a level where it is steepest.
  private static let encoded: [UInt8] = (0..<16384).map { index in
    let linear = Double(index) / 16383
    let value = linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
    return UInt8((value * 255).rounded())
  }

  /// From XYZ relative to D50 to linear sRGB: the inverse of sRGB's primaries adapted to D50 with the Bradford transform.
  private static let fromConnectionSpace: [[Double]] = [
    [3.1338561, -1.6168667, -0.4906146],
    [-0.9787684, 1.9161415, 0.0334540],
    [0.0719453, -0.2289914, 1.4052427],
  ]

  /// `nil` when there is nothing to do: the profile is sRGB within a level, or of a kind that is not understood.
  init?(_ profile: ColorProfile?) {
    guard let shaper = profile?.matrixShaper else { return nil }
    curves = shaper.curves
    let product = shaper.matrix.map { matrix in
      Self.fromConnectionSpace.map { row in
        (0..<3).map { column in (0..<3).reduce(0) { $0 + row[$1] * matrix[$1][column] } }
      }
    }
    let rows = product ?? [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    // By columns, so that a pixel is three multiplications of a vector.
    matrix = (0..<3).map { column in
      SIMD4(Float(rows[0][column]), Float(rows[1][column]), Float(rows[2][column]), 0)
    }
    guard !isIdentity else { return nil }
  }

  private var isIdentity: Bool {
    let levels: [UInt8] = [0, 20, 64, 128, 200, 255]
    for red in levels {
      for green in levels {
        for blue in levels {
          let result = convert(SIMD4(red, green, blue, 255))
          let off = [(result.x, red), (result.y, green), (result.z, blue)].map { abs(Int($0.0) - Int($0.1)) }
          if let most = off.max(), most > 1 { return false }
        }
      }
    }
    return true
  }

  /// Converts pixels in place: RGBA, straight alpha.
  func apply(to pixels: UnsafeMutableRawBufferPointer) {
    for offset in stride(from: 0, to: pixels.count - 3, by: 4) {
      // Four bytes from `offset` are within the memory by the stride.
      let pixel = unsafe pixels.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
      unsafe pixels.storeBytes(of: convert(pixel), toByteOffset: offset, as: SIMD4<UInt8>.self)
    }
  }

  private func convert(_ pixel: SIMD4<UInt8>) -> SIMD4<UInt8> {
    var linear = matrix[0] * curves[0][Int(pixel.x)]
    linear += matrix[1] * curves[1][Int(pixel.y)]
    linear += matrix[2] * curves[2][Int(pixel.z)]
    let atLeast = linear.replacing(with: 0, where: linear .< 0)
    let place = atLeast.replacing(with: 1, where: atLeast .> 1) * 16383 + 0.5
    let table = Self.encoded
    return SIMD4(table[Int(place.x)], table[Int(place.y)], table[Int(place.z)], pixel.w)
  }
}
