/// The sums of one component's AC coefficients, block by block, as its scans are decoded.
final class FinePlane {
  let blocksAcross: Int
  let blocksDown: Int
  let means: BlockMeans
  private let component: JPEGFrame.Component
  // All three are used by one thread at a time.
  /// `means.sumCount` for each block.
  let sums: OwnedElements<Int32>
  /// A bit for each nonzero coefficient, for refinement.
  let occupied: OwnedElements<UInt64>
  /// A bit for each negative coefficient.
  let negative: OwnedElements<UInt64>

  init(_ component: JPEGFrame.Component, _ means: BlockMeans) {
    self.component = component
    self.means = means
    (blocksAcross, blocksDown) = (component.blocksAcross, component.blocksDown)
    let count = blocksAcross * blocksDown
    sums = OwnedElements(repeating: 0, count: count * means.sumCount)
    occupied = OwnedElements(repeating: 0, count: count)
    negative = OwnedElements(repeating: 0, count: count)
  }

  /// Writes the cells of all blocks except those that only fill up a unit.
  func store(_ coarse: CoarsePlane, into plane: SamplePlane) {
    let (blocks, writer, sumCount) = (coarse.blocks, means.writer, means.sumCount)
    let (sums, occupied) = (sums.elements.elements, occupied.elements)
    for y in 0..<blocksDown {
      let cells = plane.cells(column: 0, row: y * component.cellRows)
      for x in 0..<blocksAcross {
        let block = y &* blocksAcross &+ x
        let target = cells.moved(by: x &* component.cellColumns)
        if occupied[block] == 0 {
          writer.store(blocks[x, y], into: target)
        } else {
          let own = sums.extracting(block &* sumCount..<(block &+ 1) &* sumCount)
          writer.store(blocks[x, y], sums: own, into: target)
        }
      }
    }
  }
}

/// Decodes one AC scan of a progressive file, one row of blocks at a time.
final class FineScan {
  private let plane: FinePlane
  private let table: HuffmanTable
  // The memory belongs to `plane`, its means and `table`. Its places and the numbers are copied once: a loop over blocks
  // that went through the objects would spend half its time counting references.
  private let codes: Table<WindowIndex, UInt16>
  private let values: Table<WindowIndex, Int32>
  private let targets: Table<CoefficientIndex, UInt8>
  private let factors: Table<CoefficientIndex, Int32>
  private let sums: MutableElements<Int32>
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
  init?(_ bytes: Elements<UInt8>, _ scan: JPEGScan, _ plane: FinePlane) {
    guard scan.first >= 1, scan.last >= scan.first, scan.last <= 63, let table = scan.parts[0].coefficients else {
      return nil
    }
    (self.plane, self.table) = (plane, table)
    (codes, values) = (table.codes.entries, table.progressiveCoefficients.entries)
    (targets, factors, sums) = (plane.means.targets.entries, plane.means.factors.entries, plane.sums.elements)
    sumCount = plane.means.sumCount
    (first, last, low, isRefinement) = (scan.first, scan.last, scan.low, scan.isRefinement)
    band = (~0 >> UInt64(63 - scan.last)) & (~0 << UInt64(scan.first))
    reader = EntropyReader(bytes, scan.data)
    cursor = reader.start()
    restart = RestartCounter(interval: scan.restartInterval)
  }

  /// True if the data end where they should.
  var isAtEnd: Bool { reader.isAtEnd(cursor) }

  /// Decodes a row of blocks.
  ///
  /// Returns `false` if the data are damaged or end.
  func decodeRow(_ row: Int) -> Bool {
    var cursor = cursor
    var latestStart = reader.latestStart
    defer { self.cursor = cursor }
    let before = row * plane.blocksAcross
    let blocks = before..<before + plane.blocksAcross
    let (occupied, negative) = (plane.occupied.elements.extracting(blocks), plane.negative.elements.extracting(blocks))
    for column in occupied.indices {
      if restart.isDue {
        guard let next = reader.restart(cursor, number: restart.pass()) else { return false }
        cursor = next
        latestStart = reader.latestStart
        run = 0
      }
      if run > 0, !isRefinement || occupied[column] & band == 0 {
        run &-= 1
        continue
      }
      if cursor.next > latestStart {
        cursor = reader.advance(cursor)
        latestStart = reader.latestStart
        if reader.hasOverrun { return false }
      }
      var signs = Signs(occupied: occupied[column], negative: negative[column])
      let start = (before &+ column) &* sumCount
      let own = sums.extracting(start..<start &+ sumCount)
      guard isRefinement ? refine(&cursor, own, &signs) : decode(&cursor, own, &signs) else { return false }
      (occupied[column], negative[column]) = (signs.occupied, signs.negative)
    }
    return true
  }

  /// The coefficients of a block that are not 0, and the negative ones, one bit each.
  private struct Signs {
    var occupied: UInt64
    var negative: UInt64

    @inline(__always)
    mutating func set(_ index: Int, isNegative: Bool) {
      let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: index)
      occupied |= bit
      if isNegative { negative |= bit }
    }
  }

  /// Decodes the first bits of a block's coefficients.
  @inline(__always)
  private func decode(_ cursor: inout BitCursor, _ sums: MutableElements<Int32>, _ signs: inout Signs) -> Bool {
    var reached = first &- 1
    while reached < last {
      cursor.refill()
      var value: Int
      var isEnd = false
      let entry = Int(values[cursor.window])
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
        signs.set(reached, isNegative: value < 0)
        add(value &<< low, coefficient: reached, to: sums)
      }
      if isEnd { break }
    }
    return true
  }

  /// Decodes one more bit of a block's coefficients (T.81, G.1.2.3).
  @inline(__always)
  private func refine(_ cursor: inout BitCursor, _ sums: MutableElements<Int32>, _ signs: inout Signs) -> Bool {
    let below = signs.negative
    let step = 1 &<< low
    var position = first
    var left = signs.occupied & band
    /// Reads the correction of the first coefficient left.
    func correct(_ cursor: inout BitCursor) {
      let index = left.trailingZeroBitCount
      left &= left &- 1
      position = index &+ 1
      cursor.refill()
      guard cursor.takeBit() else { return }
      let isNegative = below &>> UInt64(truncatingIfNeeded: index) & 1 != 0
      add(isNegative ? -step : step, coefficient: index, to: sums)
    }
    if run == 0 {
      while position <= last {
        cursor.refill()
        var code = Int(codes[cursor.window])
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
          signs.set(position, isNegative: value < 0)
          add(value, coefficient: position, to: sums)
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

  /// Adds `value`, the change of a coefficient, to the sums of its block.
  @inline(__always)
  private func add(_ value: Int, coefficient: Int, to sums: MutableElements<Int32>) {
    // Coefficients that do not matter have a target beyond the sums.
    let target = Int(targets[coefficient])
    guard target < sums.count else { return }
    sums[target] &+= factors[coefficient] &* Int32(truncatingIfNeeded: value)
  }
}
