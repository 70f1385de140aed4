/// Decodes the only scan of a baseline file, one row of units at a time, into a band of cells for each component.
@safe
final class BaselineScan {
  let bands: [SamplePlane]

  /// The data that the loop over blocks needs for one block of a unit.
  ///
  /// Its pointers refer to the object's `parts` and `bands`, which live as long as the object.
  @unsafe
  private struct Plan: BitwiseCopyable {
    let part: Int
    let component: Int
    /// The block's first cell in the band, for the first unit.
    let cells: UnsafeMutablePointer<UInt8>
    let stride: Int
    let writer: CellWriter
    let last: Int
    let differences: UnsafeMutablePointer<Int32>
    let skips: UnsafeMutablePointer<UInt16>
    let coefficients: UnsafeMutablePointer<Int32>
    let targets: UnsafeMutablePointer<UInt8>
    let factors: UnsafeMutablePointer<Int32>
  }

  private struct Part {
    let means: BlockMeans
    let differences: HuffmanTable
    let coefficients: HuffmanTable
  }

  private let parts: [Part]
  // Owned, all three: allocated in init, freed in deinit, used by one thread at a time.
  private let plans: UnsafeMutableBufferPointer<Plan>
  private let predictions: UnsafeMutablePointer<Int>
  private let sums: UnsafeMutablePointer<Int32>
  private let reader: EntropyReader
  private let restartInterval: Int
  private let unitsAcross: Int
  private let unitColumns: Int
  private var cursor: BitCursor
  private var unitsLeft: Int
  private var restarts = 0

  /// Returns `nil` if the script has no such scan; `bytes` must outlive the object.
  init?(_ bytes: UnsafeRawBufferPointer, _ script: JPEGScript) {
    guard let scan = script.scans.first, !script.frame.isProgressive else { return nil }
    let frame = script.frame
    let bands = frame.components.map { _ in SamplePlane(width: frame.cellsAcross, height: frame.unitRows) }
    let parts = scan.parts.compactMap { part in
      guard let differences = part.differences, let coefficients = part.coefficients else { return Part?.none }
      let means = BlockMeans(frame.components[part.component])
      return Part(means: means, differences: differences, coefficients: coefficients)
    }
    guard parts.count == scan.parts.count else { return nil }
    var plans: [Plan] = unsafe []
    for (index, part) in scan.parts.enumerated() {
      let component = frame.components[part.component]
      let band = bands[part.component]
      for row in 0..<component.rows {
        for column in 0..<component.columns {
          unsafe plans.append(
            Plan(
              part: index,
              component: part.component,
              cells: band.row(row * component.cellRows) + column * component.cellColumns,
              stride: band.width,
              writer: parts[index].means.writer,
              last: parts[index].means.last,
              differences: parts[index].differences.differences.entries,
              skips: parts[index].coefficients.skips.entries,
              coefficients: parts[index].coefficients.coefficients.entries,
              targets: parts[index].means.targets.sums,
              factors: parts[index].means.targets.factors,
            )
          )
        }
      }
    }
    self.bands = bands
    self.parts = parts
    unsafe self.plans = .allocate(capacity: plans.count)
    _ = unsafe self.plans.initialize(from: plans)
    unsafe predictions = .allocate(capacity: frame.components.count)
    unsafe predictions.initialize(repeating: 0, count: frame.components.count)
    unsafe sums = .allocate(capacity: BlockMeans.sumCapacity)
    unsafe sums.initialize(repeating: 0, count: BlockMeans.sumCapacity)
    reader = unsafe EntropyReader(bytes, scan.data)
    cursor = reader.start()
    restartInterval = scan.restartInterval
    unitsLeft = restartInterval
    (unitsAcross, unitColumns) = (frame.unitsAcross, frame.unitColumns)
  }

  deinit {
    unsafe plans.deallocate()
    unsafe predictions.deallocate()
    unsafe sums.deallocate()
  }

  /// Decodes the next row of units.
  ///
  /// Returns `false` if the data are damaged or end.
  func decodeBand() -> Bool {
    var unit = 0
    while unit < unitsAcross {
      if restartInterval > 0, unitsLeft == 0 {
        guard let next = reader.restart(cursor, number: restarts & 7) else { return false }
        cursor = next
        restarts += 1
        unitsLeft = restartInterval
        unsafe predictions.update(repeating: 0, count: bands.count)
      }
      let count = restartInterval > 0 ? min(unitsLeft, unitsAcross - unit) : unitsAcross - unit
      guard decodeUnits(unit..<unit + count) else { return false }
      unit += count
      unitsLeft -= count
    }
    return !reader.hasRunOut(cursor)
  }

  /// Decodes units that have no restart marker between them; `units` must be within the row.
  private func decodeUnits(_ units: Range<Int>) -> Bool {
    // Copies, which can stay in registers.
    var cursor = cursor
    var latestStart = unsafe reader.latestStart
    let plans = unsafe self.plans
    let predictions = unsafe self.predictions
    defer { self.cursor = cursor }
    for unit in units {
      for index in 0..<plans.count {
        let plan = unsafe plans[index]
        if unsafe cursor.next > latestStart {
          cursor = reader.advance(cursor)
          unsafe latestStart = reader.latestStart
          if reader.hasOverrun { return false }
        }
        cursor.refill()
        let entry = unsafe Int(plan.differences[cursor.window])
        var dc = unsafe predictions[plan.component]
        if entry != 0 {
          cursor.drop(entry & 255)
          dc &+= entry &>> 8
        } else {
          let code = unsafe parts[plan.part].differences.code(at: cursor.wideWindow)
          guard code != 0 else { return false }
          cursor.drop(code & 255)
          if code > 255 { dc &+= HuffmanTable.extended(cursor.take(code &>> 8), size: code &>> 8) }
        }
        // libjpeg keeps 16 bits; a picture needs 12.
        guard dc >= -32_768, dc <= 32_767 else { return false }
        unsafe predictions[plan.component] = dc
        // Within the band, which has room for all units side by side.
        let cells = unsafe plan.cells + unit &* unitColumns
        if unsafe plan.last == 0 {
          unsafe plan.writer.store(dc, into: cells, stride: plan.stride)
          guard unsafe skip(&cursor, plan, after: 0) else { return false }
        } else {
          guard unsafe decodeMeans(&cursor, plan, dc, into: cells) else { return false }
        }
      }
    }
    return true
  }

  /// Skips the coefficients after `start`, several at a time.
  @inline(__always)
  private func skip(_ cursor: inout BitCursor, _ plan: Plan, after start: Int) -> Bool {
    var reached = start
    while reached < 63 {
      cursor.refill()
      // A window is below the tables' 4,096 entries, here and below.
      var entry = unsafe Int(plan.skips[cursor.window])
      var next = reached &+ (entry &>> 5 & 127)
      if next <= 63 {
        cursor.drop(entry & 31)
        if entry & 0x8000 != 0 { return true }
        reached = next
        // A look-up takes at most 27 bits, so there are enough for a second one.
        entry = unsafe Int(plan.skips[cursor.window])
        next = reached &+ (entry &>> 5 & 127)
        guard next <= 63 else { continue }
        cursor.drop(entry & 31)
        if entry & 0x8000 != 0 { return true }
        reached = next
      } else {
        let code = unsafe parts[plan.part].coefficients.code(at: cursor.wideWindow)
        let (run, size) = (code &>> 12, code &>> 8 & 15)
        guard code != 0 else { return false }
        cursor.drop(code & 255 &+ size)
        if size == 0, run != 15 { return true }
        reached = reached &+ run &+ 1
        guard reached <= 63 || size == 0 else { return false }
      }
    }
    return true
  }

  /// Decodes the coefficients that matter, skips the others, and writes the block's cells.
  @inline(__always)
  private func decodeMeans(
    _ cursor: inout BitCursor,
    _ plan: Plan,
    _ dc: Int,
    into cells: UnsafeMutablePointer<UInt8>,
  ) -> Bool {
    var reached = 0
    var hasEnded = false
    while unsafe reached < plan.last, !hasEnded {
      cursor.refill()
      let entry = unsafe Int(plan.coefficients[cursor.window])
      let next = reached &+ (entry &>> 5 & 127)
      // At 63 no code ends the block: the next code belongs to the next block.
      if entry != 0, next &+ (entry &>> 15 & 1) <= 63 {
        cursor.drop(entry & 31)
        reached = next
        // `reached` is below the 128 targets and factors, a target below the capacity of the sums.
        unsafe sums[Int(plan.targets[reached])] &+= plan.factors[reached] &* Int32(truncatingIfNeeded: entry &>> 16)
        hasEnded = entry & 0x8000 != 0
      } else {
        let code = unsafe parts[plan.part].coefficients.code(at: cursor.wideWindow)
        let (run, size) = (code &>> 12, code &>> 8 & 15)
        guard code != 0 else { return false }
        cursor.drop(code & 255)
        if size == 0, run != 15 {
          hasEnded = true
        } else {
          reached = reached &+ run &+ 1
          guard size > 0 else { continue }
          guard reached <= 63 else { return false }
          let value = HuffmanTable.extended(cursor.take(size), size: size)
          unsafe sums[Int(plan.targets[reached])] &+= plan.factors[reached] &* Int32(truncatingIfNeeded: value)
        }
      }
    }
    if reached == 0 {
      unsafe plan.writer.store(dc, into: cells, stride: plan.stride)
    } else {
      unsafe plan.writer.store(dc, sums: sums, into: cells, stride: plan.stride)
      unsafe sums.update(repeating: 0, count: BlockMeans.sumCapacity)
    }
    // No `||`: its closure would keep the cursor out of registers.
    if hasEnded { return true }
    return unsafe skip(&cursor, plan, after: reached)
  }
}
