/// The entries of a loop over the blocks of a unit: where each block goes, and its tables.
///
/// It holds plain values, so that the loop counts no references. They are valid while their ``UnitPlan`` lives.
struct BlockPlan: BitwiseCopyable {
  let part: Int
  let component: Int
  /// The block's cells in the band, for the first unit.
  let cells: Cells
  /// The place for the deviation of the block's samples, if that is measured.
  let deviation: Cells?
  let writer: CellWriter
  /// The last coefficient that matters, 0 if none does, and the number of sums that they are added to.
  let last: Int
  let sumCount: Int
  let differences: Table<WindowIndex, Int16>
  let skips: Table<WindowIndex, UInt16>
  let coefficients: Table<WindowIndex, Int32>
  let targets: Table<CoefficientIndex, UInt8>
  let factors: Table<CoefficientIndex, Int32>
}

/// Writes blocks as cells into the bands.
struct CellOutput {
  /// libjpeg keeps 16 bits; a picture needs 12.
  static var limit: Int { 32_768 }

  /// The first cell of the unit in a band.
  var column: Int
  let unitColumns: Int

  /// Stores a block whose other coefficients do not matter.
  @inline(__always)
  func store(_ dc: Int, _ plan: BlockPlan) {
    plan.writer.store(dc, into: plan.cells.moved(by: column))
  }

  /// Stores a block with the sums of its coefficients; there are ``BlockMeans/sumCapacity`` of them.
  @inline(__always)
  func store(_ dc: Int, sums: Elements<Int32>, _ plan: BlockPlan) {
    plan.writer.store(dc, sums: sums, into: plan.cells.moved(by: column))
  }

  /// Stores a block with the deviation of its samples, by the sum of the squares of its coefficients.
  @inline(__always)
  func store(_ dc: Int, squares: Int, _ plan: BlockPlan) {
    store(dc, plan)
    let deviation = Double(UInt64(bitPattern: Int64(squares))).squareRoot() / 8
    // Damaged data can add up to anything.
    plan.deviation?.moved(by: column).set(0, 0, UInt8(min(deviation + 0.5, Double(BlockLight.deviationLimit))))
  }

  @inline(__always)
  mutating func endUnit() { column &+= unitColumns }
}

/// The index of a sum of ``BlockMeans``.
enum SumIndex: TableIndex {
  static var bits: Int { 4 }
}

/// A component of a frame, of which there are up to three.
enum ComponentIndex: TableIndex {
  static var bits: Int { 2 }
}

/// A place in a scan, from which units are decoded one after another.
final class UnitLane {
  let reader: EntropyReader
  var cursor: BitCursor
  let predictions = Lookup<ComponentIndex, Int>(repeating: 0)
  let sums = Lookup<SumIndex, Int32>(repeating: 0)
  private let restartInterval: Int
  private var unitsLeft: Int
  private var restarts = 0

  /// `bytes` must outlive the lane.
  init(_ bytes: Elements<UInt8>, _ data: Range<Int>, restartInterval: Int) {
    reader = EntropyReader(bytes, data)
    cursor = reader.start()
    (self.restartInterval, unitsLeft) = (restartInterval, restartInterval)
  }

  /// The number of units before the next restart marker.
  var unitsBeforeRestart: Int { restartInterval > 0 ? unitsLeft : .max }

  /// Counts units that were decoded.
  func count(_ units: Int) { if restartInterval > 0 { unitsLeft -= units } }

  /// Skips a restart marker if one is due; returns `false` if another thing follows.
  func passRestart() -> Bool {
    guard restartInterval > 0, unitsLeft == 0 else { return true }
    guard let next = reader.restart(cursor, number: restarts & 7) else { return false }
    cursor = next
    restarts += 1
    unitsLeft = restartInterval
    predictions.entries.clear()
    return true
  }
}

/// The blocks of a unit of a baseline scan, and the loop that decodes them.
final class UnitPlan {
  private struct Part {
    let means: BlockMeans
    let differences: HuffmanTable
    let coefficients: HuffmanTable
  }

  let bands: [SamplePlane]
  /// The standard deviations of the samples of each block of the first component, if they are measured.
  let deviations: SamplePlane?
  private let parts: [Part]
  // They refer to the memory of `parts`, `bands` and `deviations`.
  private let plans: OwnedElements<BlockPlan>

  /// The blocks in order, valid while this object lives.
  var blocks: Elements<BlockPlan> { plans.elements.elements }

  /// Returns `nil` if the scan lacks tables.
  init?(_ scan: JPEGScan, _ frame: JPEGFrame, measuresDeviations: Bool) {
    let bands = frame.components.map { _ in SamplePlane(width: frame.cellsAcross, height: frame.unitRows) }
    let deviations = measuresDeviations ? SamplePlane(width: frame.cellsAcross, height: frame.unitRows) : nil
    let parts = scan.parts.compactMap { part in
      guard let differences = part.differences, let coefficients = part.coefficients else { return Part?.none }
      let isMeasured = measuresDeviations && part.component == 0
      let means = BlockMeans(frame.components[part.component], measuresDeviation: isMeasured)
      return Part(means: means, differences: differences, coefficients: coefficients)
    }
    guard parts.count == scan.parts.count else { return nil }
    var blocks: [BlockPlan] = []
    for (index, part) in scan.parts.enumerated() {
      let component = frame.components[part.component]
      let band = bands[part.component]
      let deviations = part.component == 0 ? deviations : nil
      for row in 0..<component.rows {
        for column in 0..<component.columns {
          blocks.append(
            BlockPlan(
              part: index,
              component: part.component,
              cells: band.cells(column: column * component.cellColumns, row: row * component.cellRows),
              deviation: deviations?.cells(column: column, row: row),
              writer: parts[index].means.writer,
              last: parts[index].means.last,
              sumCount: parts[index].means.sumCount,
              differences: parts[index].differences.differences.entries,
              skips: parts[index].coefficients.skips.entries,
              coefficients: parts[index].coefficients.coefficients.entries,
              targets: parts[index].means.targets.entries,
              factors: parts[index].means.factors.entries,
            )
          )
        }
      }
    }
    (self.bands, self.deviations) = (bands, deviations)
    self.parts = parts
    plans = OwnedElements(repeating: blocks[0], count: blocks.count)
    for (index, block) in blocks.enumerated() { plans.elements[index] = block }
  }

  /// Decodes units that have no restart marker between them.
  ///
  /// Returns the number of whole units that the data contain: fewer than `count` if they are damaged or end.
  func decode(_ count: Int, _ lane: UnitLane, _ output: inout CellOutput) -> Int {
    // Copies, which can stay in registers.
    var cursor = lane.cursor
    let reader = lane.reader
    var latestStart = reader.latestStart
    let blocks = blocks
    let (predictions, sums) = (lane.predictions.entries, lane.sums.entries)
    defer { lane.cursor = cursor }
    for unit in 0..<count {
      // Each call reads what it needs of a plan, which is too large to be kept.
      for index in blocks.indices {
        if cursor.next > latestStart {
          cursor = reader.advance(cursor)
          latestStart = reader.latestStart
          if reader.hasOverrun { return unit }
        }
        guard let dc = difference(&cursor, blocks[index], predictions) else { return unit }
        if blocks[index].last == 0 {
          output.store(dc, blocks[index])
          guard skip(&cursor, blocks[index], after: 0) else { return unit }
        } else {
          let isMeasured = blocks[index].deviation != nil
          let next =
            isMeasured ? decodeDeviation(cursor, index, dc, output) : decodeMeans(cursor, index, dc, sums, output)
          guard let next else { return unit }
          cursor = next
        }
      }
      if reader.isAtMarker, reader.hasRunOut(cursor) { return unit }
      output.endUnit()
    }
    return count
  }

  /// Decodes a DC coefficient; returns `nil` if the data are damaged.
  @inline(__always)
  private func difference(
    _ cursor: inout BitCursor,
    _ plan: BlockPlan,
    _ predictions: Table<ComponentIndex, Int>,
  ) -> Int? {
    cursor.refill()
    let entry = Int(plan.differences[cursor.window])
    var dc = predictions[plan.component]
    if entry != 0 {
      cursor.drop(entry & 15)
      dc &+= entry &>> 4
    } else {
      let code = parts[plan.part].differences.code(at: cursor.wideWindow)
      guard code != 0 else { return nil }
      cursor.drop(code & 255)
      if code > 255 { dc &+= HuffmanTable.extended(cursor.take(code &>> 8), size: code &>> 8) }
    }
    guard dc >= -CellOutput.limit, dc < CellOutput.limit else { return nil }
    predictions[plan.component] = dc
    return dc
  }

  /// Skips the coefficients after `start`, several at a time.
  @inline(__always)
  private func skip(_ cursor: inout BitCursor, _ plan: BlockPlan, after start: Int) -> Bool {
    let skips = plan.skips
    var reached = start
    while reached < 63 {
      cursor.refill()
      var entry = Int(skips[cursor.window])
      var next = reached &+ entry &>> 6
      if next & HuffmanTable.noReach == 0 {
        cursor.drop(entry: entry)
        reached = next
        guard reached < 63 else { return true }
        // A look-up takes at most 27 bits, so there are enough for a second one.
        entry = Int(skips[cursor.window])
        next = reached &+ entry &>> 6
        guard next & HuffmanTable.noReach == 0 else { continue }
        cursor.drop(entry: entry)
        reached = next
      } else {
        guard skipOne(&cursor, plan, &reached) else { return false }
      }
    }
    return true
  }

  /// Skips one code.
  ///
  /// Returns `false` if it is damaged.
  @inline(__always)
  private func skipOne(_ cursor: inout BitCursor, _ plan: BlockPlan, _ reached: inout Int) -> Bool {
    let code = parts[plan.part].coefficients.code(at: cursor.wideWindow)
    let (run, size) = (code &>> 12, code &>> 8 & 15)
    guard code != 0 else { return false }
    cursor.drop(code & 255 &+ size)
    return Self.pass(run, size, &reached)
  }

  /// Decodes one code; returns its coefficient, or 0 for none, and `nil` if it is damaged.
  @inline(__always)
  private func decodeOne(_ cursor: inout BitCursor, _ plan: BlockPlan, _ reached: inout Int) -> Int? {
    let code = parts[plan.part].coefficients.code(at: cursor.wideWindow)
    let (run, size) = (code &>> 12, code &>> 8 & 15)
    guard code != 0 else { return nil }
    cursor.drop(code & 255)
    guard Self.pass(run, size, &reached) else { return nil }
    return size > 0 ? HuffmanTable.extended(cursor.take(size), size: size) : 0
  }

  /// Moves to the coefficient of a code.
  ///
  /// Returns `false` if it lies beyond the block.
  @inline(__always)
  private static func pass(_ run: Int, _ size: Int, _ reached: inout Int) -> Bool {
    reached &+= size == 0 && run != 15 ? HuffmanTable.endOfBlock : run &+ 1
    guard reached > 63, reached < HuffmanTable.endOfBlock else { return true }
    // Zeros beyond the block do no harm.
    reached = 63
    return size == 0
  }

  @inline(__always)
  private func add(_ value: Int, _ plan: BlockPlan, _ sums: Table<SumIndex, Int32>, _ reached: Int) {
    sums[Int(plan.targets[reached])] &+= plan.factors[reached] &* Int32(truncatingIfNeeded: value)
  }

  /// Decodes the coefficients that matter, skips the others, and passes the block on.
  ///
  /// The cursor is a value, because one that has an address does not stay in registers. Returns `nil` if the block is
  /// damaged.
  private func decodeMeans(
    _ start: BitCursor,
    _ index: Int,
    _ dc: Int,
    _ sums: Table<SumIndex, Int32>,
    _ output: CellOutput,
  ) -> BitCursor? {
    var cursor = start
    let plan = blocks[index]
    let (coefficients, last) = (plan.coefficients, plan.last)
    var reached = 0
    while reached < last {
      cursor.refill()
      let entry = Int(coefficients[cursor.window])
      let next = reached &+ entry &>> 6 & 255
      if next & HuffmanTable.noReach == 0 {
        cursor.drop(entry: entry)
        reached = next
        add(entry &>> 16, plan, sums, reached)
      } else {
        guard let value = decodeOne(&cursor, plan, &reached) else { return nil }
        add(value, plan, sums, reached)
      }
    }
    store(dc, reached, plan, sums, output)
    return skip(&cursor, plan, after: reached) ? cursor : nil
  }

  /// Decodes all coefficients of a block, and passes on its mean and the standard deviation of its samples.
  ///
  /// The transform is orthogonal, so the squares of the coefficients add up to 64 times the variance.
  private func decodeDeviation(_ start: BitCursor, _ index: Int, _ dc: Int, _ output: CellOutput) -> BitCursor? {
    var cursor = start
    let plan = blocks[index]
    let (coefficients, steps) = (plan.coefficients, plan.factors)
    var (reached, sum) = (0, 0)
    while reached < 63 {
      cursor.refill()
      // A look-up takes at most 12 bits, so there are enough for four.
      for _ in 0..<4 where reached < 63 {
        let entry = Int(coefficients[cursor.window])
        let next = reached &+ entry &>> 6 & 255
        guard next & HuffmanTable.noReach == 0 else {
          cursor.refill()
          guard let value = decodeOne(&cursor, plan, &reached) else { return nil }
          sum &+= Self.squared(value, steps[reached])
          break
        }
        cursor.drop(entry: entry)
        reached = next
        sum &+= Self.squared(entry &>> 16, steps[reached])
      }
    }
    output.store(dc, squares: sum, plan)
    return cursor
  }

  @inline(__always)
  private static func squared(_ value: Int, _ step: Int32) -> Int {
    let coefficient = value &* Int(step)
    return coefficient &* coefficient
  }

  @inline(__always)
  private func store(
    _ dc: Int,
    _ reached: Int,
    _ plan: BlockPlan,
    _ sums: Table<SumIndex, Int32>,
    _ output: CellOutput,
  ) {
    if reached == HuffmanTable.endOfBlock {
      output.store(dc, plan)
    } else {
      output.store(dc, sums: sums.elements, plan)
      sums.clear()
    }
  }
}
