/// A matrix of three columns, for vectors of red, green, blue and nothing.
struct ColumnMatrix: Sendable {
  private let first, second, third: SIMD4<Float>

  init(_ first: SIMD4<Float>, _ second: SIMD4<Float>, _ third: SIMD4<Float>) {
    (self.first, self.second, self.third) = (first, second, third)
  }

  init(_ matrix: Matrix3) {
    let columns = matrix.columns.map { SIMD4(Float($0[0]), Float($0[1]), Float($0[2]), 0) }
    self.init(columns[0], columns[1], columns[2])
  }

  /// Makes the change of primaries of linear light, between encodings with the white of D65.
  init(from source: ColorEncoding, to target: ColorEncoding) {
    let light = source.primaryLight ?? .identity
    let back = target.primaryLight?.inverse ?? .identity
    self.init(Matrix3(columns: light.columns.map { back.applied(to: $0) }))
  }

  @inline(__always)
  func product(_ vector: SIMD4<Float>) -> SIMD4<Float> { first * vector.x + second * vector.y + third * vector.z }
}

extension Matrix3 {
  static let identity = Matrix3(rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
}
