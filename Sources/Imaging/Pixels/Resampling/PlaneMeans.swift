/// Averages blocks of a plane of a picture; those at the right and bottom edges may be smaller.
package struct PlaneMeans {
  /// The maximum side of a block; sums of so many samples fit their types.
  static let factorLimit = 64
  /// The smallest side of blocks: rounding the means to whole numbers costs 1 dB then, and 3 to 6 with smaller blocks,
  /// which also save less.
  static let leastFactor = 4

  private let width: Int
  private let height: Int
  private let factorX: Int
  private let factorY: Int

  /// Makes the blocks of a plane, whose sides are at most 64.
  package init(width: Int, height: Int, factorX: Int, factorY: Int) {
    precondition(width > 0 && height > 0 && 1...Self.factorLimit ~= factorX && 1...Self.factorLimit ~= factorY)
    (self.width, self.height, self.factorX, self.factorY) = (width, height, factorX, factorY)
  }

  /// Writes the means of all blocks of a plane of bytes; lengths are those from one row to the next.
  package func shrink(
    _ source: Elements<UInt8>,
    _ rowLength: Int,
    into target: MutableElements<UInt8>,
    _ targetRowLength: Int,
    _ control: DecodeControl,
  ) throws(ImageError) {
    try shrink(source, rowLength, target, targetRowLength, sum: UInt16.self, control)
  }

  /// Writes the means of all blocks of a plane of 16-bit samples.
  package func shrink(
    _ source: Elements<UInt16>,
    _ rowLength: Int,
    into target: MutableElements<UInt16>,
    _ targetRowLength: Int,
    _ control: DecodeControl,
  ) throws(ImageError) {
    try shrink(source, rowLength, target, targetRowLength, sum: UInt32.self, control)
  }

  /// A sum of `factorY` samples fits `Sum`.
  private func shrink<Sample: FixedWidthInteger & BitwiseCopyable, Sum: FixedWidthInteger & BitwiseCopyable>(
    _ source: Elements<Sample>,
    _ rowLength: Int,
    _ target: MutableElements<Sample>,
    _ targetRowLength: Int,
    sum: Sum.Type,
    _ control: DecodeControl,
  ) throws(ImageError) {
    let memory = OwnedElements(repeating: Sum(0), count: width)
    let sums = memory.elements
    let whole = width / factorX
    for (index, top) in stride(from: 0, to: height, by: factorY).enumerated() {
      if index % 16 == 0 { try control.check() }
      let rows = min(factorY, height - top)
      sums.update(repeating: 0)
      for row in top..<top + rows {
        add(source.extracting(row * rowLength..<row * rowLength + width), to: sums)
      }
      let means = target.extracting(index * targetRowLength..<(index + 1) * targetRowLength)
      // Multiplying by the reciprocal is exact enough: sums have at most 24 bits.
      let share = 1 / Float(rows * factorX)
      for x in 0..<whole {
        let total = Self.total(sums.elements, x * factorX..<(x + 1) * factorX)
        means[x] = Sample(truncatingIfNeeded: UInt32(Float(total) * share + 0.5))
      }
      guard whole * factorX < width else { continue }
      let total = Self.total(sums.elements, whole * factorX..<width)
      means[whole] = Sample(truncatingIfNeeded: UInt32(Float(total) / Float(rows * (width - whole * factorX)) + 0.5))
    }
  }

  private func add<Sample: FixedWidthInteger, Sum: FixedWidthInteger>(
    _ line: Elements<Sample>,
    to sums: MutableElements<Sum>,
  ) {
    precondition(line.count == width && sums.count == width)
    // In bounds by the line above. Without checks the loop is vectorised.
    unsafe line.withUnsafeBufferPointer { line in
      unsafe sums.withUnsafeBufferPointer { sums in
        for x in 0..<width { unsafe sums[x] &+= Sum(truncatingIfNeeded: line[x]) }
      }
    }
  }

  @inline(__always)
  private static func total<Sum: FixedWidthInteger>(_ sums: Elements<Sum>, _ range: Range<Int>) -> UInt32 {
    precondition(range.lowerBound >= 0 && range.upperBound <= sums.count)
    // In bounds by the line above. Without checks the loop is vectorised.
    return unsafe sums.withUnsafeBufferPointer { sums in
      var total: UInt32 = 0
      for x in range { unsafe total &+= UInt32(truncatingIfNeeded: sums[x]) }
      return total
    }
  }
}
