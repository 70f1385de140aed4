import VitrineRuntime

/// The mean of each cell of a block, straight from the block's coefficients.
///
/// The mean over a run of samples is linear in the coefficients, and over half a block all even ones but the first cancel
/// in it. A block of 2x2 cells is what libjpeg's smallest but one transform makes of it, to the last bit; for the others,
/// where libjpeg repeats samples, the same constants are used. Each coefficient that counts goes into one of a few sums,
/// and ``CellWriter`` turns these into cells.
@safe
struct BlockMeans {
  /// How a block is divided into cells.
  enum Layout: BitwiseCopyable {
    case whole, quadrants, halvesAcross, halvesDown, quartersAcross, quartersDown

    init?(columns: Int, rows: Int) {
      switch (columns, rows) {
      case (1, 1): self = .whole
      case (2, 2): self = .quadrants
      case (2, 1): self = .halvesAcross
      case (1, 2): self = .halvesDown
      case (4, 1): self = .quartersAcross
      case (1, 4): self = .quartersDown
      default: return nil
      }
    }
  }

  /// Room for the sums of a block, with one that coefficients go into that do not count.
  static let sumCapacity = 16
  private static let unused = UInt8(sumCapacity - 1)

  let writer: CellWriter
  /// How many sums are used.
  let sumCount: Int
  /// The last coefficient that counts, in zigzag order; 0 when none does.
  let last: Int
  /// For each zigzag index, up to 127 so that no index of seven bits is out of bounds, the sum and the factor.
  let targets: Lookups

  /// What is looked up for each coefficient.
  @safe
  final class Lookups {
    static let count = 128
    // Owned: allocated in init, freed in deinit, not changed in between.
    let sums: UnsafeMutablePointer<UInt8>
    let factors: UnsafeMutablePointer<Int32>

    fileprivate init() {
      unsafe sums = .allocate(capacity: Self.count)
      unsafe sums.initialize(repeating: BlockMeans.unused, count: Self.count)
      unsafe factors = .allocate(capacity: Self.count)
      unsafe factors.initialize(repeating: 0, count: Self.count)
    }

    deinit {
      unsafe sums.deallocate()
      unsafe factors.deallocate()
    }

    fileprivate func set(_ index: Int, sum: Int, factor: Int) {
      precondition(index < Self.count && sum < BlockMeans.sumCapacity)
      unsafe sums[index] = UInt8(sum)
      unsafe factors[index] = Int32(truncatingIfNeeded: factor)
    }
  }

  /// Row and column in the block of each zigzag index (T.81, figure A.6).
  static let zigzag: [(row: Int, column: Int)] = {
    var result: [(row: Int, column: Int)] = []
    for diagonal in 0..<15 {
      let places = (max(0, diagonal - 7)...min(diagonal, 7)).map { (row: $0, column: diagonal - $0) }
      result += diagonal % 2 == 0 ? places.reversed() : places
    }
    return result
  }()

  /// Four times the mean of the samples 0 to 3 of each odd basis function, times 2^13, as libjpeg rounds it.
  private static let half = [1: 29_692, 3: -10_426, 5: 6_967, 7: -5_906]

  /// The same for the samples 0 and 1, and 2 and 3; what is left is their mirror image, negative for the odd ones.
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
    targets = Lookups()
    var last = 0
    for index in 1..<64 {
      let (row, column) = Self.zigzag[index]
      guard let (sum, constant) = Self.target(layout, row: row, column: column) else { continue }
      targets.set(index, sum: sum, factor: constant * component.quantization[index])
      last = index
    }
    self.last = last
    sumCount = [.whole: 0, .quadrants: 9, .halvesAcross: 1, .halvesDown: 1][layout] ?? 6
  }

  /// The sum that a coefficient goes into, and times what.
  ///
  /// Quadrants have four sums of the first row's coefficients and five of the odd rows', column by column.
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
    }
  }
}

/// Writes the cells of a block: plain values, so that a loop over blocks counts no references.
struct CellWriter: BitwiseCopyable {
  let layout: BlockMeans.Layout
  /// The step of the DC coefficient.
  let step: Int

  /// Writes the cells of a block none of whose other coefficients counts.
  @inline(__always)
  func store(_ dc: Int, into cells: UnsafeMutablePointer<UInt8>, stride: Int) {
    let value = Self.clamped((dc &* step &+ 4) &>> 3)
    // The caller's `cells` are a block's within the plane.
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
    }
  }

  /// Writes the cells of a block; `sums` are at least ``BlockMeans/sumCount``.
  func store(
    _ dc: Int,
    sums: UnsafePointer<Int32>,
    into cells: UnsafeMutablePointer<UInt8>,
    stride: Int,
  ) {
    let base = dc &* step
    // The caller's `cells` are a block's within the plane.
    switch layout {
    case .whole: unsafe store(dc, into: cells, stride: stride)
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
      // libjpeg's two passes with their roundings: down the columns 0, 1, 3, 5 and 7, then across.
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

  @inline(__always)
  private static func column(_ even: Int, _ odd: Int32) -> (upper: Int, lower: Int) {
    ((even &<< 15 &+ Int(odd) &+ 4096) &>> 13, (even &<< 15 &- Int(odd) &+ 4096) &>> 13)
  }

  @inline(__always)
  private static func rounded(_ value: Int, _ shift: Int) -> UInt8 {
    clamped((value &+ 1 &<< (shift &- 1)) &>> shift)
  }

  /// A sample from its difference to mid-grey.
  @inline(__always)
  private static func clamped(_ value: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: min(max(value &+ 128, 0), 255))
  }
}
