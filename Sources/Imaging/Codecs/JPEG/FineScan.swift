/// The sums of one component's AC coefficients, block by block, as its scans are decoded.
@safe
final class FinePlane {
  let blocksAcross: Int
  let blocksDown: Int
  let means: BlockMeans
  private let component: JPEGFrame.Component
  // Owned, all three: allocated in init, freed in deinit, used by one thread at a time.
  /// `means.sumCount` for each block.
  let sums: UnsafeMutablePointer<Int32>
  /// A bit for each nonzero coefficient, for refinement.
  let occupied: UnsafeMutablePointer<UInt64>
  /// A bit for each negative coefficient.
  let negative: UnsafeMutablePointer<UInt64>

  init(_ component: JPEGFrame.Component, _ means: BlockMeans) {
    self.component = component
    self.means = means
    (blocksAcross, blocksDown) = (component.blocksAcross, component.blocksDown)
    let count = blocksAcross * blocksDown
    unsafe sums = .allocate(capacity: count * means.sumCount)
    unsafe sums.initialize(repeating: 0, count: count * means.sumCount)
    unsafe occupied = .allocate(capacity: count)
    unsafe occupied.initialize(repeating: 0, count: count)
    unsafe negative = .allocate(capacity: count)
    unsafe negative.initialize(repeating: 0, count: count)
  }

  deinit {
    unsafe sums.deallocate()
    unsafe occupied.deallocate()
    unsafe negative.deallocate()
  }

  /// Writes the cells of all blocks except those that only fill up a unit.
  func store(_ coarse: CoarsePlane, into plane: SamplePlane) {
    let (blocks, writer, sumCount) = (coarse.blocks, means.writer, means.sumCount)
    precondition(plane.width >= blocksAcross * component.cellColumns)
    precondition(plane.height >= blocksDown * component.cellRows)
    for y in 0..<blocksDown {
      let cells = unsafe plane.row(y * component.cellRows)
      for x in 0..<blocksAcross {
        let block = y &* blocksAcross &+ x
        let target = unsafe cells + x &* component.cellColumns
        // By the preconditions the plane has cells for all blocks.
        if unsafe occupied[block] == 0 {
          unsafe writer.store(blocks[x, y], into: target, stride: plane.width)
        } else {
          unsafe writer.store(
            blocks[x, y],
            sums: sums + block &* sumCount,
            into: target,
            stride: plane.width,
          )
        }
      }
    }
  }
}

/// Decodes one AC scan of a progressive file, one row of blocks at a time.
@safe
final class FineScan {
  private let plane: FinePlane
  private let table: HuffmanTable
  // The pointers belong to `plane`, its means and `table`. They and the numbers are copied once: a loop over blocks
  // that went through the objects would spend half its time counting references.
  private let codes: UnsafeMutablePointer<UInt16>
  private let values: UnsafeMutablePointer<Int32>
  private let targets: UnsafeMutablePointer<UInt8>
  private let factors: UnsafeMutablePointer<Int32>
  private let sums: UnsafeMutablePointer<Int32>
  private let occupied: UnsafeMutablePointer<UInt64>
  private let negative: UnsafeMutablePointer<UInt64>
  private let sumCount: Int
  private let first: Int
  private let last: Int
  private let low: Int
  private let isRefinement: Bool
  private let reader: EntropyReader
  /// The scan's coefficients, one bit each.
  private let band: UInt64
  private var cursor: BitCursor
  private var restart: RestartCounter
  /// The number of blocks left that have only refinements in this scan.
  private var run = 0

  /// `bytes` must outlive the object.
  init?(_ bytes: UnsafeRawBufferPointer, _ scan: JPEGScan, _ plane: FinePlane) {
    guard scan.first >= 1, scan.last >= scan.first, scan.last <= 63, let table = scan.parts[0].coefficients else {
      return nil
    }
    (self.plane, self.table) = (plane, table)
    unsafe codes = table.codes.entries
    unsafe values = table.progressiveCoefficients.entries
    unsafe targets = plane.means.targets.sums
    unsafe factors = plane.means.targets.factors
    unsafe (sums, occupied, negative) = (plane.sums, plane.occupied, plane.negative)
    sumCount = plane.means.sumCount
    (first, last, low, isRefinement) = (scan.first, scan.last, scan.low, scan.isRefinement)
    band = (~0 >> UInt64(63 - scan.last)) & (~0 << UInt64(scan.first))
    reader = unsafe EntropyReader(bytes, scan.data)
    cursor = reader.start()
    restart = RestartCounter(interval: scan.restartInterval)
  }

  /// True if the data end where they should.
  var isAtEnd: Bool { reader.isAtEnd(cursor) }

  /// Decodes a row of blocks.
  ///
  /// Returns `false` if the data are damaged or end.
  func decodeRow(_ row: Int) -> Bool {
    precondition(row >= 0 && row < plane.blocksDown)
    var cursor = cursor
    var latestStart = unsafe reader.latestStart
    defer { self.cursor = cursor }
    for block in row * plane.blocksAcross..<(row + 1) * plane.blocksAcross {
      if restart.isDue {
        guard let next = reader.restart(cursor, number: restart.pass()) else { return false }
        cursor = next
        unsafe latestStart = reader.latestStart
        run = 0
      }
      if run > 0, unsafe !isRefinement || occupied[block] & band == 0 {
        run &-= 1
        continue
      }
      if unsafe cursor.next > latestStart {
        cursor = reader.advance(cursor)
        unsafe latestStart = reader.latestStart
        if reader.hasOverrun { return false }
      }
      guard isRefinement ? refine(&cursor, block) : decode(&cursor, block) else { return false }
    }
    return true
  }

  /// Decodes the first bits of a block's coefficients; `block` must be within the plane.
  @inline(__always)
  private func decode(_ cursor: inout BitCursor, _ block: Int) -> Bool {
    var reached = first &- 1
    var (set, below): (UInt64, UInt64) = (0, 0)
    while reached < last {
      cursor.refill()
      var value: Int
      var isEnd = false
      // A window is below the tables' 4,096 entries.
      let entry = unsafe Int(values[cursor.window])
      let next = reached &+ (entry &>> 5 & 127)
      // At the last coefficient no code ends the block.
      if entry != 0, next &+ (entry &>> 15 & 1) <= last {
        cursor.drop(entry & 31)
        reached = next
        value = entry &>> 16
        isEnd = entry & 0x8000 != 0
      } else {
        let code = table.code(at: cursor.wideWindow)
        let (zeros, size) = (code &>> 12, code &>> 8 & 15)
        guard code != 0 else { return false }
        cursor.drop(code & 255)
        if size == 0 {
          if zeros < 15 {
            run = (1 << zeros) &- 1
            if zeros > 0 { run &+= cursor.take(zeros) }
            break
          }
          reached &+= 16
          continue
        }
        reached &+= zeros &+ 1
        guard reached <= last else { return false }
        value = HuffmanTable.extended(cursor.take(size), size: size)
      }
      if value != 0 {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: reached)
        set |= bit
        if value < 0 { below |= bit }
        add(value &<< low, coefficient: reached, block: block)
      }
      if isEnd { break }
    }
    unsafe occupied[block] |= set
    unsafe negative[block] |= below
    return true
  }

  /// Decodes one more bit of a block's coefficients (T.81, G.1.2.3); `block` must be within the plane.
  @inline(__always)
  private func refine(_ cursor: inout BitCursor, _ block: Int) -> Bool {
    let old = unsafe occupied[block] & band
    let below = unsafe negative[block]
    let step = 1 &<< low
    var position = first
    var left = old
    /// Reads the correction of the first coefficient left.
    func correct(_ cursor: inout BitCursor) {
      let index = left.trailingZeroBitCount
      left &= left &- 1
      position = index &+ 1
      cursor.refill()
      guard cursor.takeBit() else { return }
      let isNegative = below &>> UInt64(truncatingIfNeeded: index) & 1 != 0
      add(isNegative ? -step : step, coefficient: index, block: block)
    }
    if run == 0 {
      while position <= last {
        cursor.refill()
        var code = unsafe Int(codes[cursor.window])
        if code == 0 { code = table.code(at: cursor.wideWindow) }
        guard code != 0 else { return false }
        cursor.drop(code & 255)
        let size = code &>> 8 & 15
        var zeros = code &>> 12
        var value = 0
        if size == 0 {
          if zeros < 15 {
            run = 1 << zeros
            if zeros > 0 { run &+= cursor.take(zeros) }
            break
          }
        } else {
          // More than one bit is an error.
          guard size == 1 else { return false }
          value = cursor.takeBit() ? step : -step
        }
        // Skips to the zero that is meant, and corrects the nonzero ones on the way.
        while left != 0, left.trailingZeroBitCount &- position <= zeros {
          zeros &-= left.trailingZeroBitCount &- position
          correct(&cursor)
        }
        position &+= zeros
        if value != 0 {
          guard position <= last else { return false }
          let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: position)
          unsafe occupied[block] |= bit
          if value < 0 { unsafe negative[block] |= bit }
          add(value, coefficient: position, block: block)
        }
        position &+= 1
      }
    }
    if run > 0 {
      while left != 0 { correct(&cursor) }
      run &-= 1
    }
    return true
  }

  /// Adds `value`, the change of a coefficient, to the sums of a block within the plane.
  @inline(__always)
  private func add(_ value: Int, coefficient: Int, block: Int) {
    // There are 128 targets and factors. Coefficients that do not matter have a target beyond the sums.
    let target = unsafe Int(targets[coefficient & 127])
    guard target < sumCount else { return }
    unsafe sums[block &* sumCount &+ target] &+= factors[coefficient & 127] &* Int32(truncatingIfNeeded: value)
  }
}
