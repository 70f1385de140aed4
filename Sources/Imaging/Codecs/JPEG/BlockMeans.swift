import VitrineRuntime

/// The mean of each cell of a block, computed from the block's coefficients.
///
/// The mean over a run of samples is linear in the coefficients. Over half a block all even ones but the first
/// cancel. Blocks of 2x2 and 4x4 cells match libjpeg's smaller transforms to the last bit. The other layouts use
/// the same constants, where libjpeg repeats samples. Each coefficient that matters is added to one of a few sums,
/// which ``CellWriter`` turns into cells.
@safe
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
  /// The sum and the factor for each zigzag index, and for each with ``HuffmanTable/endOfBlock`` added; up to 255 so
  /// that no index of eight bits is out of bounds.
  let targets: Lookups

  /// The look-up tables by coefficient.
  @safe
  final class Lookups {
    static let count = 256
    // Owned: allocated in init, freed in deinit, constant in between.
    let sums: UnsafeMutablePointer<UInt8>
    let factors: UnsafeMutablePointer<Int32>

    /// The sum of a coefficient that does not matter is the last one within the capacity.
    fileprivate init(capacity: Int) {
      unsafe sums = .allocate(capacity: Self.count)
      unsafe sums.initialize(repeating: UInt8(capacity - 1), count: Self.count)
      unsafe factors = .allocate(capacity: Self.count)
      unsafe factors.initialize(repeating: 0, count: Self.count)
    }

    deinit {
      unsafe sums.deallocate()
      unsafe factors.deallocate()
    }

    fileprivate func set(_ index: Int, sum: Int, factor: Int) {
      precondition(index < 64 && sum < BlockMeans.largeCapacity)
      for index in [index, index + HuffmanTable.endOfBlock] {
        unsafe sums[index] = UInt8(sum)
        unsafe factors[index] = Int32(truncatingIfNeeded: factor)
      }
    }
  }

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

  init(_ component: JPEGFrame.Component) {
    let layout = Layout(columns: component.cellColumns, rows: component.cellRows) ?? .whole
    writer = CellWriter(layout: layout, step: component.quantization[0])
    targets = Lookups(capacity: layout == .sixteenths ? Self.largeCapacity : Self.sumCapacity)
    var last = 0
    for index in 1..<64 {
      let (row, column) = Self.zigzag[index]
      guard let (sum, constant) = Self.target(layout, row: row, column: column) else { continue }
      targets.set(index, sum: sum, factor: constant * component.quantization[index])
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
  func store(_ dc: Int, into cells: UnsafeMutablePointer<UInt8>, stride: Int) {
    let value = Self.clamped((dc &* step &+ 4) &>> 3)
    // The caller's `cells` are those of a block within the plane.
    switch layout {
    case .whole: unsafe cells[0] = value
    case .quadrants:
      unsafe cells[0] = value
      unsafe cells[1] = value
      unsafe cells[stride] = value
      unsafe cells[stride &+ 1] = value
    case .halvesAcross:
      unsafe cells[0] = value
      unsafe cells[1] = value
    case .halvesDown:
      unsafe cells[0] = value
      unsafe cells[stride] = value
    case .quartersAcross: for index in 0..<4 { unsafe cells[index] = value }
    case .quartersDown: for index in 0..<4 { unsafe cells[index &* stride] = value }
    case .fourByTwo, .twoByFour, .sixteenths:
      let (columns, rows) = (layout == .twoByFour ? 2 : 4, layout == .fourByTwo ? 2 : 4)
      for row in 0..<rows {
        for column in 0..<columns { unsafe cells[row &* stride &+ column] = value }
      }
    }
  }

  /// Writes the cells of a block; there must be at least ``BlockMeans/sumCount`` `sums`.
  func store(
    _ dc: Int,
    sums: UnsafePointer<Int32>,
    into cells: UnsafeMutablePointer<UInt8>,
    stride: Int,
  ) {
    let base = dc &* step
    // The caller's `cells` are those of a block within the plane.
    switch layout {
    case .whole: unsafe store(dc, into: cells, stride: stride)
    case .sixteenths: unsafe SixteenthCells.store(base, sums, into: cells, stride)
    case .fourByTwo: unsafe storeEight(base, sums, into: cells, along: 1, across: stride)
    case .twoByFour: unsafe storeEight(base, sums, into: cells, along: stride, across: 1)
    case .halvesAcross, .halvesDown:
      let sum = Int(unsafe sums[0])
      unsafe cells[0] = Self.rounded(base &<< 15 &+ sum, 18)
      unsafe cells[layout == .halvesDown ? stride : 1] = Self.rounded(base &<< 15 &- sum, 18)
    case .quartersAcross, .quartersDown:
      var (even, outer, inner) = (0, 0, 0)
      for (index, basis) in BlockMeans.quarterIndices.enumerated() {
        let value = Int(unsafe sums[index])
        if basis % 2 == 0 {
          even &+= value &* BlockMeans.quarters[basis].outer
        } else {
          outer &+= value &* BlockMeans.quarters[basis].outer
          inner &+= value &* BlockMeans.quarters[basis].inner
        }
      }
      let pitch = layout == .quartersDown ? stride : 1
      let dc = base &<< 15
      unsafe cells[0] = Self.rounded(dc &+ even &+ outer, 18)
      unsafe cells[pitch] = Self.rounded(dc &- even &+ inner, 18)
      unsafe cells[2 &* pitch] = Self.rounded(dc &- even &- inner, 18)
      unsafe cells[3 &* pitch] = Self.rounded(dc &+ even &- outer, 18)
    case .quadrants:
      // libjpeg's two passes with their rounding: down the columns 0, 1, 3, 5 and 7, then across.
      let first = unsafe Self.column(base, sums[4])
      var (upper, lower) = (0, 0)
      for index in 0..<4 {
        let column = unsafe Self.column(Int(sums[index]), sums[5 &+ index])
        let constant = index == 0 ? 29_692 : index == 1 ? -10_426 : index == 2 ? 6_967 : -5_906
        upper &+= column.upper &* constant
        lower &+= column.lower &* constant
      }
      unsafe cells[0] = Self.rounded(first.upper &<< 15 &+ upper, 20)
      unsafe cells[1] = Self.rounded(first.upper &<< 15 &- upper, 20)
      unsafe cells[stride] = Self.rounded(first.lower &<< 15 &+ lower, 20)
      unsafe cells[stride &+ 1] = Self.rounded(first.lower &<< 15 &- lower, 20)
    }
  }

  /// Writes two rows of four cells, or two columns: halves first, then quarters, with the rounding of libjpeg's passes.
  private func storeEight(
    _ base: Int,
    _ sums: UnsafePointer<Int32>,
    into cells: UnsafeMutablePointer<UInt8>,
    along: Int,
    across: Int,
  ) {
    // Thirteen sums: the last index is 12.
    let c0 = unsafe Self.column(base, sums[6])
    let c1 = unsafe Self.column(Int(sums[0]), sums[7])
    let c2 = unsafe Self.column(Int(sums[1]), sums[8])
    let c3 = unsafe Self.column(Int(sums[2]), sums[9])
    let c5 = unsafe Self.column(Int(sums[3]), sums[10])
    let c6 = unsafe Self.column(Int(sums[4]), sums[11])
    let c7 = unsafe Self.column(Int(sums[5]), sums[12])
    let (upper, _) = SixteenthCells.means(c0.upper, c1.upper, c2.upper, c3.upper, c5.upper, c6.upper, c7.upper)
    let (lower, _) = SixteenthCells.means(c0.lower, c1.lower, c2.lower, c3.lower, c5.lower, c6.lower, c7.lower)
    for index in 0..<4 {
      // The caller's `cells` are those of a block within the plane.
      unsafe cells[index &* along] = Self.rounded(upper[index], 19)
      unsafe cells[index &* along &+ across] = Self.rounded(lower[index], 19)
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
  static func store(
    _ base: Int,
    _ sums: UnsafePointer<Int32>,
    into cells: UnsafeMutablePointer<UInt8>,
    _ stride: Int,
  ) {
    // Down the columns 0, 1, 2, 3, 5, 6 and 7, then across, with libjpeg's rounding in between.
    var columns = (
      SIMD4<Int>(), SIMD4<Int>(), SIMD4<Int>(), SIMD4<Int>(), SIMD4<Int>(), SIMD4<Int>(), SIMD4<Int>(),
    )
    // The last index is 6 &* 7 &+ 5, below `sumCount`.
    unsafe columns.0 = column(base, sums + 6)
    unsafe columns.1 = column(Int(sums[0]), sums + 7)
    unsafe columns.2 = column(Int(sums[1]), sums + 8)
    unsafe columns.3 = column(Int(sums[2]), sums + 9)
    unsafe columns.4 = column(Int(sums[3]), sums + 10)
    unsafe columns.5 = column(Int(sums[4]), sums + 11)
    unsafe columns.6 = column(Int(sums[5]), sums + 12)
    for row in 0..<4 {
      let (means, _) = means(
        columns.0[row],
        columns.1[row],
        columns.2[row],
        columns.3[row],
        columns.4[row],
        columns.5[row],
        columns.6[row],
      )
      // The caller's `cells` are those of a block within the plane.
      let target = unsafe cells + row &* stride
      for column in 0..<4 { unsafe target[column] = CellWriter.rounded(means[column], 19) }
    }
  }

  /// Returns the four means down a column, times four; `rest` begins with the coefficient of the second row.
  @inline(__always)
  private static func column(_ first: Int, _ rest: UnsafePointer<Int32>) -> SIMD4<Int> {
    // Six rows, seven sums each.
    let (means, isFlat) = unsafe means(
      first,
      Int(rest[0]),
      Int(rest[7]),
      Int(rest[14]),
      Int(rest[21]),
      Int(rest[28]),
      Int(rest[35]),
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
