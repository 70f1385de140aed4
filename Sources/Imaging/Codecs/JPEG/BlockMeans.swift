import VitrineRuntime

/// The mean of each cell of a block, computed from the block's coefficients.
///
/// The mean over a run of samples is linear in the coefficients. Over half a block all even ones but the first
/// cancel. Blocks of 2x2 and 4x4 cells match libjpeg's smaller transforms to the last bit. The other layouts use
/// the same constants, where libjpeg repeats samples. Each coefficient that matters is added to one of a few sums,
/// which ``CellWriter`` turns into cells.
struct BlockMeans {
  /// The division of a block into cells.
  enum Layout: BitwiseCopyable {
    case whole, quadrants, halvesAcross, halvesDown, quartersAcross, quartersDown, fourByTwo, twoByFour, sixteenths

    init?(columns: Int, rows: Int) {
      switch (columns, rows) {
      case (1, 1): self = .whole
      case (2, 2): self = .quadrants
      case (2, 1): self = .halvesAcross
      case (1, 2): self = .halvesDown
      case (4, 1): self = .quartersAcross
      case (1, 4): self = .quartersDown
      case (4, 2): self = .fourByTwo
      case (2, 4): self = .twoByFour
      case (4, 4): self = .sixteenths
      default: return nil
      }
    }
  }

  /// Room for a block's sums, including one for coefficients that do not matter, but for 4x4 cells.
  static let sumCapacity = 16
  /// The same for 4x4 cells, which are made of progressive files only: a baseline decoder clears its sums for each
  /// block.
  private static let largeCapacity = SixteenthCells.sumCount + 1

  let writer: CellWriter
  /// The number of sums in use.
  let sumCount: Int
  /// The last coefficient that matters, in zigzag order; 0 if none does.
  let last: Int
  /// The sum of each zigzag index, and of each with ``HuffmanTable/endOfBlock`` added.
  ///
  /// That of a coefficient that does not matter is the last one within the capacity.
  let targets: Lookup<CoefficientIndex, UInt8>
  /// The factor of each.
  let factors: Lookup<CoefficientIndex, Int32>

  /// The row and column in the block of each zigzag index (T.81, figure A.6).
  static let zigzag: [(row: Int, column: Int)] = {
    var result: [(row: Int, column: Int)] = []
    for diagonal in 0..<15 {
      let places = (max(0, diagonal - 7)...min(diagonal, 7)).map { (row: $0, column: diagonal - $0) }
      result += diagonal % 2 == 0 ? places.reversed() : places
    }
    return result
  }()

  /// Four times the mean of samples 0 to 3 of each odd basis function, times 2^13, rounded as libjpeg does.
  private static let half = [1: 29_692, 3: -10_426, 5: 6_967, 7: -5_906]

  /// The same for samples 0 and 1, and for 2 and 3.
  ///
  /// The other samples mirror these, negated for the odd functions.
  fileprivate static let quarters: [(outer: Int, inner: Int)] = (0..<8).map { index in
    func mean(_ first: Int) -> Int {
      let samples = (first...first + 1).map { cos(Double((2 * $0 + 1) * index) * Double.pi / 16) }
      return Int(((samples[0] + samples[1]) / 2 * 2.0.squareRoot() * 32_768).rounded())
    }
    return (mean(0), mean(2))
  }
  fileprivate static let quarterIndices = [1, 2, 3, 5, 6, 7]
  private static let oddIndices = [1, 3, 5, 7]

  /// With `measuresDeviation`, of a block that is one cell, all coefficients matter, and factors are their steps.
  init(_ component: JPEGFrame.Component, measuresDeviation: Bool = false) {
    let layout = Layout(columns: component.cellColumns, rows: component.cellRows) ?? .whole
    writer = CellWriter(layout: layout, step: component.quantization[0])
    targets = Lookup(repeating: UInt8((layout == .sixteenths ? Self.largeCapacity : Self.sumCapacity) - 1))
    factors = Lookup(repeating: 0)
    var last = 0
    for index in 1..<64 {
      let (row, column) = Self.zigzag[index]
      let target = measuresDeviation ? (sum: 0, constant: 1) : Self.target(layout, row: row, column: column)
      guard let (sum, constant) = target else { continue }
      let factor = Int32(truncatingIfNeeded: constant * component.quantization[index])
      for place in [index, index + HuffmanTable.endOfBlock] {
        (targets.entries[place], factors.entries[place]) = (UInt8(sum), factor)
      }
      last = index
    }
    self.last = last
    let counts: [Layout: Int] = [
      .whole: 0, .quadrants: 9, .halvesAcross: 1, .halvesDown: 1, .fourByTwo: 13, .twoByFour: 13,
      .sixteenths: SixteenthCells.sumCount,
    ]
    sumCount = counts[layout] ?? 6
  }

  /// The sum that a coefficient is added to, and its factor.
  ///
  /// Quadrants have four sums for the coefficients of the first row, and five for those of the odd rows, column by
  /// column.
  private static func target(_ layout: Layout, row: Int, column: Int) -> (sum: Int, constant: Int)? {
    switch layout {
    case .whole: return nil
    case .halvesAcross: return row == 0 ? half[column].map { (0, $0) } : nil
    case .halvesDown: return column == 0 ? half[row].map { (0, $0) } : nil
    case .quartersAcross: return row == 0 ? quarterIndices.firstIndex(of: column).map { ($0, 1) } : nil
    case .quartersDown: return column == 0 ? quarterIndices.firstIndex(of: row).map { ($0, 1) } : nil
    case .quadrants:
      if row == 0 { return oddIndices.firstIndex(of: column).map { ($0, 1) } }
      guard let constant = half[row] else { return nil }
      return column == 0 ? (4, constant) : oddIndices.firstIndex(of: column).map { (5 + $0, constant) }
    // Six sums for the coefficients of the first row or column, and seven for those of the odd ones.
    case .fourByTwo:
      guard row > 0 else { return quarterIndices.firstIndex(of: column).map { ($0, 1) } }
      guard let constant = half[row] else { return nil }
      return column == 0 ? (6, constant) : quarterIndices.firstIndex(of: column).map { (7 + $0, constant) }
    case .twoByFour: return target(.fourByTwo, row: column, column: row)
    case .sixteenths: return SixteenthCells.sum(row: row, column: column).map { ($0, 1) }
    }
  }
}

/// Writes the cells of a block.
///
/// It holds plain values, so that a loop over blocks counts no references.
struct CellWriter: BitwiseCopyable {
  let layout: BlockMeans.Layout
  /// The step of the DC coefficient.
  let step: Int

  /// Writes the cells of a block whose other coefficients do not matter.
  @inline(__always)
  func store(_ dc: Int, into cells: Cells) {
    let value = Self.clamped((dc &* step &+ 4) &>> 3)
    switch layout {
    case .whole: cells.set(0, 0, value)
    case .quadrants: cells.fill(2, 2, value)
    case .halvesAcross: cells.fill(2, 1, value)
    case .halvesDown: cells.fill(1, 2, value)
    case .quartersAcross: cells.fill(4, 1, value)
    case .quartersDown: cells.fill(1, 4, value)
    case .fourByTwo: cells.fill(4, 2, value)
    case .twoByFour: cells.fill(2, 4, value)
    case .sixteenths: cells.fill(4, 4, value)
    }
  }

  /// Writes the cells of a block; there must be at least ``BlockMeans/sumCount`` `sums`.
  func store(_ dc: Int, sums: Elements<Int32>, into cells: Cells) {
    let base = dc &* step
    switch layout {
    case .whole: store(dc, into: cells)
    case .sixteenths: SixteenthCells.store(base, sums, into: cells)
    case .fourByTwo: storeEight(base, sums) { cells.set($0, $1, $2) }
    case .twoByFour: storeEight(base, sums) { cells.set($1, $0, $2) }
    case .halvesAcross, .halvesDown:
      let sum = Int(sums[0])
      cells.set(0, 0, Self.rounded(base &<< 15 &+ sum, 18))
      let second = Self.rounded(base &<< 15 &- sum, 18)
      if layout == .halvesDown { cells.set(0, 1, second) } else { cells.set(1, 0, second) }
    case .quartersAcross: storeFour(base, sums) { cells.set($0, 0, $1) }
    case .quartersDown: storeFour(base, sums) { cells.set(0, $0, $1) }
    case .quadrants:
      // libjpeg's two passes with their rounding: down the columns 0, 1, 3, 5 and 7, then across.
      let sums = sums.extracting(0..<9)
      let first = Self.column(base, sums[4])
      var (upper, lower) = (0, 0)
      for index in 0..<4 {
        let column = Self.column(Int(sums[index]), sums[5 &+ index])
        let constant = index == 0 ? 29_692 : index == 1 ? -10_426 : index == 2 ? 6_967 : -5_906
        upper &+= column.upper &* constant
        lower &+= column.lower &* constant
      }
      cells.set(0, 0, Self.rounded(first.upper &<< 15 &+ upper, 20))
      cells.set(1, 0, Self.rounded(first.upper &<< 15 &- upper, 20))
      cells.set(0, 1, Self.rounded(first.lower &<< 15 &+ lower, 20))
      cells.set(1, 1, Self.rounded(first.lower &<< 15 &- lower, 20))
    }
  }

  /// Writes a row of four cells, or a column.
  @inline(__always)
  private func storeFour(_ base: Int, _ sums: Elements<Int32>, _ set: (Int, UInt8) -> Void) {
    var (even, outer, inner) = (0, 0, 0)
    for (index, basis) in BlockMeans.quarterIndices.enumerated() {
      let value = Int(sums[index])
      if basis % 2 == 0 {
        even &+= value &* BlockMeans.quarters[basis].outer
      } else {
        outer &+= value &* BlockMeans.quarters[basis].outer
        inner &+= value &* BlockMeans.quarters[basis].inner
      }
    }
    let dc = base &<< 15
    set(0, Self.rounded(dc &+ even &+ outer, 18))
    set(1, Self.rounded(dc &- even &+ inner, 18))
    set(2, Self.rounded(dc &- even &- inner, 18))
    set(3, Self.rounded(dc &+ even &- outer, 18))
  }

  /// Writes two rows of four cells, or two columns: halves first, then quarters, with the rounding of libjpeg's passes.
  @inline(__always)
  private func storeEight(_ base: Int, _ sums: Elements<Int32>, _ set: (Int, Int, UInt8) -> Void) {
    let sums = sums.extracting(0..<13)
    let c0 = Self.column(base, sums[6])
    let c1 = Self.column(Int(sums[0]), sums[7])
    let c2 = Self.column(Int(sums[1]), sums[8])
    let c3 = Self.column(Int(sums[2]), sums[9])
    let c5 = Self.column(Int(sums[3]), sums[10])
    let c6 = Self.column(Int(sums[4]), sums[11])
    let c7 = Self.column(Int(sums[5]), sums[12])
    let (upper, _) = SixteenthCells.means(c0.upper, c1.upper, c2.upper, c3.upper, c5.upper, c6.upper, c7.upper)
    let (lower, _) = SixteenthCells.means(c0.lower, c1.lower, c2.lower, c3.lower, c5.lower, c6.lower, c7.lower)
    for index in 0..<4 {
      set(index, 0, Self.rounded(upper[index], 19))
      set(index, 1, Self.rounded(lower[index], 19))
    }
  }

  @inline(__always)
  private static func column(_ even: Int, _ odd: Int32) -> (upper: Int, lower: Int) {
    ((even &<< 15 &+ Int(odd) &+ 4096) &>> 13, (even &<< 15 &- Int(odd) &+ 4096) &>> 13)
  }

  @inline(__always)
  fileprivate static func rounded(_ value: Int, _ shift: Int) -> UInt8 {
    clamped((value &+ 1 &<< (shift &- 1)) &>> shift)
  }

  /// Converts a difference from mid-grey to a sample.
  @inline(__always)
  private static func clamped(_ value: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: min(max(value &+ 128, 0), 255))
  }
}

/// The 4x4 cells of a block, by libjpeg's transform of that size.
///
/// Of an even basis function with index 4 the means over two samples cancel. So each of the other 49 coefficients but the
/// first has a sum of its own.
private enum SixteenthCells {
  static let sumCount = 48
  private static let indices = [0, 1, 2, 3, 5, 6, 7]

  /// Returns the sum of a coefficient; `nil` if it does not matter.
  static func sum(row: Int, column: Int) -> Int? {
    guard let row = indices.firstIndex(of: row), let column = indices.firstIndex(of: column) else { return nil }
    return row + column > 0 ? 7 * row + column - 1 : nil
  }

  /// Writes the cells; `base` is the first coefficient, and there must be ``sumCount`` `sums`.
  static func store(_ base: Int, _ sums: Elements<Int32>, into cells: Cells) {
    // Down the columns 0, 1, 2, 3, 5, 6 and 7, then across, with libjpeg's rounding in between.
    let sums = sums.extracting(0..<sumCount)
    let (c0, c1) = (column(base, sums, 6), column(Int(sums[0]), sums, 7))
    let (c2, c3) = (column(Int(sums[1]), sums, 8), column(Int(sums[2]), sums, 9))
    let (c5, c6) = (column(Int(sums[3]), sums, 10), column(Int(sums[4]), sums, 11))
    let c7 = column(Int(sums[5]), sums, 12)
    for row in 0..<4 {
      let (means, _) = means(c0[row], c1[row], c2[row], c3[row], c5[row], c6[row], c7[row])
      for column in 0..<4 { cells.set(column, row, CellWriter.rounded(means[column], 19)) }
    }
  }

  /// Returns the four means down a column, times four; the coefficient of the second row is in the sum `index`.
  @inline(__always)
  private static func column(_ first: Int, _ sums: Elements<Int32>, _ index: Int) -> SIMD4<Int> {
    // Six rows, seven sums each.
    let (means, isFlat) = means(
      first,
      Int(sums[index]),
      Int(sums[index &+ 7]),
      Int(sums[index &+ 14]),
      Int(sums[index &+ 21]),
      Int(sums[index &+ 28]),
      Int(sums[index &+ 35]),
    )
    return isFlat ? SIMD4(repeating: first &<< 2) : (means &+ 2048) &>> 12
  }

  /// Returns four means times 2^14 of coefficients 0, 1, 2, 3, 5, 6 and 7, and whether all but the first are 0.
  @inline(__always)
  fileprivate static func means(
    _ c0: Int,
    _ c1: Int,
    _ c2: Int,
    _ c3: Int,
    _ c5: Int,
    _ c6: Int,
    _ c7: Int,
  ) -> (SIMD4<Int>, Bool) {
    guard c1 | c2 | c3 | c5 | c6 | c7 != 0 else { return (SIMD4(repeating: c0 &<< 14), true) }
    // Cosines times 2^13, as libjpeg rounds them.
    let even = c2 &* 15_137 &- c6 &* 6_270
    let inner = c1 &* 8_697 &- c3 &* 17_799 &+ c5 &* 11_893 &- c7 &* 1_730
    let outer = c1 &* 20_995 &+ c3 &* 7_373 &- c5 &* 4_926 &- c7 &* 4_176
    let (first, second) = (c0 &<< 14 &+ even, c0 &<< 14 &- even)
    return (SIMD4(first &+ outer, second &+ inner, second &- inner, first &- outer), false)
  }
}
