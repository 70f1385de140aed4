/// Averages blocks of a plane of a picture; those at the right and bottom edges may be smaller.
package struct PlaneMeans {
  /// The maximum side of a block; sums of so many samples fit their types.
  private static let factorLimit = 64
  /// The smallest side of blocks: rounding the means to whole numbers costs 1 dB then, and 3 to 6 with smaller blocks,
  /// which also save less.
  private static let leastFactor = 4

  private let width: Int
  private let height: Int
  private let factorX: Int
  private let factorY: Int

  /// Makes the blocks of a plane, whose sides are at most 64.
  package init(width: Int, height: Int, factorX: Int, factorY: Int) {
    precondition(width > 0 && height > 0 && 1...Self.factorLimit ~= factorX && 1...Self.factorLimit ~= factorY)
    (self.width, self.height, self.factorX, self.factorY) = (width, height, factorX, factorY)
  }

  /// Returns the side of the largest blocks whose means are enough for a request.
  ///
  /// The caller's filter gets at least twice the requested size, as from the box filter that it would use itself.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - unit: The number of which the side is a multiple, such as the pixels that share a sample of chroma.
  /// - Returns: The side in pixels; 1 for no blocks.
  package static func factor(for request: RowRequest, unit: Int) -> Int {
    // The mean of colours is weighted with their coverage, which the caller's filter does.
    guard request.region == nil, !request.info.hasAlpha else { return 1 }
    let scale = max(request.minimumScale, 2 * max(request.scales.x, request.scales.y))
    guard scale > 0, scale <= 1 else { return 1 }
    let factor = Int(min(Double(factorLimit), 1 / scale)) / unit * unit
    return factor < leastFactor ? 1 : factor
  }

  /// Writes the means of all blocks of a plane of bytes; both planes are as large as this says.
  package func shrink(
    _ source: UnsafePointer<UInt8>,
    _ bytesPerRow: Int,
    into target: UnsafeMutablePointer<UInt8>,
    _ bytesPerTargetRow: Int,
    _ control: DecodeControl,
  ) throws(ImageError) {
    try unsafe shrink(source, bytesPerRow, target, bytesPerTargetRow, UInt8.self, sum: UInt16.self, control)
  }

  /// Writes the means of all blocks of a plane of 16-bit samples; both planes are as large as this says.
  package func shrinkShorts(
    _ source: UnsafePointer<UInt8>,
    _ bytesPerRow: Int,
    into target: UnsafeMutablePointer<UInt8>,
    _ bytesPerTargetRow: Int,
    _ control: DecodeControl,
  ) throws(ImageError) {
    try unsafe shrink(source, bytesPerRow, target, bytesPerTargetRow, UInt16.self, sum: UInt32.self, control)
  }

  /// A sum of `factorY` samples fits `Sum`.
  private func shrink<Sample: FixedWidthInteger & UnsignedInteger, Sum: FixedWidthInteger & UnsignedInteger>(
    _ source: UnsafePointer<UInt8>,
    _ bytesPerRow: Int,
    _ target: UnsafeMutablePointer<UInt8>,
    _ bytesPerTargetRow: Int,
    _ sample: Sample.Type,
    sum: Sum.Type,
    _ control: DecodeControl,
  ) throws(ImageError) {
    let sums = UnsafeMutablePointer<Sum>.allocate(capacity: width)
    defer { unsafe sums.deallocate() }
    let count = (width + factorX - 1) / factorX
    for (index, top) in stride(from: 0, to: height, by: factorY).enumerated() {
      if index % 16 == 0 { try control.check() }
      let rows = min(factorY, height - top)
      for row in 0..<rows {
        // Row `top + row` is within the plane.
        let line = unsafe UnsafeRawPointer(source + (top + row) * bytesPerRow).assumingMemoryBound(to: Sample.self)
        if row == 0 {
          for x in 0..<width { unsafe sums[x] = Sum(truncatingIfNeeded: line[x]) }
        } else {
          for x in 0..<width { unsafe sums[x] &+= Sum(truncatingIfNeeded: line[x]) }
        }
      }
      let line = unsafe UnsafeMutableRawPointer(target + index * bytesPerTargetRow)
      let means = unsafe line.assumingMemoryBound(to: Sample.self)
      let whole = width / factorX
      // Multiplying by the reciprocal is exact enough: sums have at most 24 bits.
      let share = 1 / Float(rows * factorX)
      for x in 0..<whole {
        var total: UInt32 = 0
        let block = unsafe sums + x * factorX
        for column in 0..<factorX { unsafe total &+= UInt32(truncatingIfNeeded: block[column]) }
        unsafe means[x] = Sample(truncatingIfNeeded: UInt32(Float(total) * share + 0.5))
      }
      guard whole < count else { continue }
      let rest = width - whole * factorX
      var total: UInt32 = 0
      for x in whole * factorX..<width { unsafe total &+= UInt32(truncatingIfNeeded: sums[x]) }
      unsafe means[whole] = Sample(truncatingIfNeeded: UInt32(Float(total) / Float(rows * rest) + 0.5))
    }
  }
}
