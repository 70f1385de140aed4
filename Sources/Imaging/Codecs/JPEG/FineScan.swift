/// What the AC coefficients of one component add up to, block by block, while its scans come in.
@safe
final class FinePlane {
  let blocksAcross: Int
  let blocksDown: Int
  let means: BlockMeans
  private let component: JPEGFrame.Component
  // Owned, all three: allocated in init, freed in deinit, used by one thread at a time.
  /// `means.sumCount` for each block.
  let sums: UnsafeMutablePointer<Int32>
  /// A bit for each coefficient that is not zero, which refinement asks for.
  let occupied: UnsafeMutablePointer<UInt64>
  /// A bit for each that is negative.
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

  /// Adds `value`, the change of a coefficient, to the block's sums; `block` is below the number of blocks.
  @inline(__always)
  func add(_ value: Int, coefficient: Int, block: Int) {
    // The tables have 128 entries; a target beyond the sums is that of coefficients that do not count.
    let target = unsafe Int(means.targets.sums[coefficient & 127])
    guard target < means.sumCount else { return }
    unsafe sums[block &* means.sumCount &+ target] &+=
      means.targets.factors[coefficient & 127] &* Int32(truncatingIfNeeded: value)
  }

  /// Writes all blocks' cells; those that only fill up a unit are left as they are.
  func store(_ coarse: CoarsePlane, into plane: SamplePlane) {
    precondition(plane.width >= blocksAcross * component.cellColumns)
    precondition(plane.height >= blocksDown * component.cellRows)
    for y in 0..<blocksDown {
      let cells = unsafe plane.row(y * component.cellRows)
      for x in 0..<blocksAcross {
        let block = y &* blocksAcross &+ x
        let target = unsafe cells + x &* component.cellColumns
        // By the preconditions the plane has cells for all blocks.
        if unsafe occupied[block] == 0 {
          unsafe means.writer.store(coarse[x, y], into: target, stride: plane.width)
        } else {
          unsafe means.writer.store(
            coarse[x, y],
            sums: sums + block &* means.sumCount,
            into: target,
            stride: plane.width,
          )
        }
      }
    }
  }
}

/// Decodes one AC scan of a progressive file, a row of blocks at a time.
@safe
final class FineScan {
  private let scan: JPEGScan
  private let plane: FinePlane
  private let table: HuffmanTable
  private let codes: Lookup<UInt16>
  private let values: Lookup<Int32>
  private let reader: EntropyReader
  /// The coefficients of the scan.
  private let band: UInt64
  private var cursor: BitCursor
  private var restart: RestartCounter
  /// Blocks left that have nothing more in this scan but refinements.
  private var run = 0

  /// `bytes` outlives the object.
  init?(_ bytes: UnsafeRawBufferPointer, _ scan: JPEGScan, _ plane: FinePlane) {
    guard scan.first >= 1, scan.last >= scan.first, scan.last <= 63, let table = scan.parts[0].coefficients else {
      return nil
    }
    (self.scan, self.plane, self.table) = (scan, plane, table)
    codes = table.codes
    values = table.progressiveCoefficients
    band = (~0 >> UInt64(63 - scan.last)) & (~0 << UInt64(scan.first))
    reader = unsafe EntropyReader(bytes, scan.data)
    cursor = reader.start()
    restart = RestartCounter(interval: scan.restartInterval)
  }

  /// Whether the data end where they should.
  var isAtEnd: Bool { reader.isAtEnd(cursor) }

  /// `false` where the data are damaged or end.
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
      if run > 0, unsafe !scan.isRefinement || plane.occupied[block] & band == 0 {
        run &-= 1
        continue
      }
      if unsafe cursor.next > latestStart {
        cursor = reader.advance(cursor)
        unsafe latestStart = reader.latestStart
        if reader.hasOverrun { return false }
      }
      guard scan.isRefinement ? refine(&cursor, block) : decode(&cursor, block) else { return false }
    }
    return true
  }

  /// The first bits of a block's coefficients; `block` is within the plane.
  @inline(__always)
  private func decode(_ cursor: inout BitCursor, _ block: Int) -> Bool {
    var reached = scan.first &- 1
    var (occupied, negative): (UInt64, UInt64) = (0, 0)
    while reached < scan.last {
      cursor.refill()
      var value: Int
      var isEnd = false
      let entry = Int(values[cursor.window])
      let next = reached &+ (entry &>> 5 & 127)
      // At the last coefficient no code ends the block.
      if entry != 0, next &+ (entry &>> 15 & 1) <= scan.last {
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
        guard reached <= scan.last else { return false }
        value = HuffmanTable.extended(cursor.take(size), size: size)
      }
      if value != 0 {
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: reached)
        occupied |= bit
        if value < 0 { negative |= bit }
        plane.add(value &<< scan.low, coefficient: reached, block: block)
      }
      if isEnd { break }
    }
    unsafe plane.occupied[block] |= occupied
    unsafe plane.negative[block] |= negative
    return true
  }

  /// One more bit of a block's coefficients (T.81, G.1.2.3); `block` is within the plane.
  @inline(__always)
  private func refine(_ cursor: inout BitCursor, _ block: Int) -> Bool {
    let old = unsafe plane.occupied[block] & band
    let negative = unsafe plane.negative[block]
    let step = 1 &<< scan.low
    var position = scan.first
    var left = old
    /// Takes the correction of the first coefficient that is left.
    func correct(_ cursor: inout BitCursor) {
      let index = left.trailingZeroBitCount
      left &= left &- 1
      position = index &+ 1
      cursor.refill()
      guard cursor.takeBit() else { return }
      let isNegative = negative &>> UInt64(truncatingIfNeeded: index) & 1 != 0
      plane.add(isNegative ? -step : step, coefficient: index, block: block)
    }
    if run == 0 {
      while position <= scan.last {
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
          // Anything but one bit is a mistake.
          guard size == 1 else { return false }
          value = cursor.takeBit() ? step : -step
        }
        // On to the zero that is meant, correcting on the way those that are none.
        while left != 0, left.trailingZeroBitCount &- position <= zeros {
          zeros &-= left.trailingZeroBitCount &- position
          correct(&cursor)
        }
        position &+= zeros
        if value != 0 {
          guard position <= scan.last else { return false }
          let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: position)
          unsafe plane.occupied[block] |= bit
          if value < 0 { unsafe plane.negative[block] |= bit }
          plane.add(value, coefficient: position, block: block)
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
}
