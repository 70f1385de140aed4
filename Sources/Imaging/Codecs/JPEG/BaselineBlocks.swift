/// The entries of a loop over the blocks of a unit: where each block goes, and its tables.
@unsafe
struct BlockPlan: BitwiseCopyable {
  let part: Int
  let component: Int
  /// The block's first cell in the band, for the first unit.
  let cells: UnsafeMutablePointer<UInt8>
  let stride: Int
  let writer: CellWriter
  /// The last coefficient that matters, 0 if none does, and the number of sums that they are added to.
  let last: Int
  let sumCount: Int
  let differences: UnsafeMutablePointer<Int16>
  let skips: UnsafeMutablePointer<UInt16>
  let coefficients: UnsafeMutablePointer<Int32>
  let targets: UnsafeMutablePointer<UInt8>
  let factors: UnsafeMutablePointer<Int32>
}

/// A receiver of decoded blocks.
protocol BlockOutput {
  /// The bound of a DC coefficient.
  static var limit: Int { get }

  /// Receives a block whose other coefficients do not matter.
  mutating func store(_ dc: Int, _ plan: BlockPlan)

  /// Receives a block with the sums of its coefficients; there are ``BlockMeans/sumCapacity`` of them.
  mutating func store(_ dc: Int, sums: UnsafeMutablePointer<Int32>, _ plan: BlockPlan)

  /// Ends a unit.
  mutating func endUnit()
}

/// Writes blocks as cells into the bands.
@safe
struct CellOutput: BlockOutput {
  /// libjpeg keeps 16 bits; a picture needs 12.
  static var limit: Int { 32_768 }

  /// The first cell of the unit in a band; within it, because a band has room for all units side by side.
  var column: Int
  let unitColumns: Int

  @inline(__always)
  mutating func store(_ dc: Int, _ plan: BlockPlan) {
    unsafe plan.writer.store(dc, into: plan.cells + column, stride: plan.stride)
  }

  @inline(__always)
  mutating func store(_ dc: Int, sums: UnsafeMutablePointer<Int32>, _ plan: BlockPlan) {
    unsafe plan.writer.store(dc, sums: sums, into: plan.cells + column, stride: plan.stride)
  }

  @inline(__always)
  mutating func endUnit() { column &+= unitColumns }
}

/// A place in a scan, from which units are decoded one after another.
@safe
final class UnitLane {
  let reader: EntropyReader
  var cursor: BitCursor
  // Owned, both: allocated in init, freed in deinit, used by one thread at a time.
  let predictions: UnsafeMutablePointer<Int>
  let sums: UnsafeMutablePointer<Int32>
  private let components: Int
  private let restartInterval: Int
  private var unitsLeft: Int
  private var restarts: Int

  /// `bytes` must outlive the lane; `restarts` is the number of the restart marker that comes next; `mark` is a position
  /// for `EntropyReader/markOffset`.
  init(
    _ bytes: UnsafeRawBufferPointer,
    _ data: Range<Int>,
    components: Int,
    restartInterval: Int,
    restarts: Int = 0,
    mark: Int? = nil,
  ) {
    reader = unsafe EntropyReader(bytes, data)
    if let mark { reader.setMark(mark) }
    cursor = reader.start()
    unsafe predictions = .allocate(capacity: components)
    unsafe predictions.initialize(repeating: 0, count: components)
    unsafe sums = .allocate(capacity: BlockMeans.sumCapacity)
    unsafe sums.initialize(repeating: 0, count: BlockMeans.sumCapacity)
    (self.components, self.restartInterval, self.restarts) = (components, restartInterval, restarts)
    unitsLeft = restartInterval
  }

  deinit {
    unsafe predictions.deallocate()
    unsafe sums.deallocate()
  }

  /// The number of units before the next restart marker.
  var unitsBeforeRestart: Int { restartInterval > 0 ? unitsLeft : .max }

  /// Counts units that were decoded.
  func count(_ units: Int) { if restartInterval > 0 { unitsLeft -= units } }

  /// Skips a restart marker if one is due.
  ///
  /// Returns `nil` if another thing follows, otherwise whether one was skipped.
  func passRestart() -> Bool? {
    guard restartInterval > 0, unitsLeft == 0 else { return false }
    guard let next = reader.restart(cursor, number: restarts & 7) else { return nil }
    cursor = next
    restarts += 1
    unitsLeft = restartInterval
    unsafe predictions.update(repeating: 0, count: components)
    return true
  }

  /// The predictions of up to three components.
  var predicted: SIMD4<Int> {
    get {
      var values = SIMD4<Int>()
      for index in 0..<components { values[index] = unsafe predictions[index] }
      return values
    }
    set { for index in 0..<components { unsafe predictions[index] = newValue[index] } }
  }
}

/// The blocks of a unit of a baseline scan, and the loop that decodes them.
@safe
final class UnitPlan: @unchecked Sendable {
  // Sendable, because nothing changes after init but the samples of `bands`, which one thread writes and reads.

  private struct Part {
    let means: BlockMeans
    let differences: HuffmanTable
    let coefficients: HuffmanTable
  }

  let bands: [SamplePlane]
  /// The most words that a record of a unit has; see ``RecordOutput``.
  let recordCapacity: Int
  /// True if the blocks of a unit can be told from one another by their codes.
  let showsPhase: Bool
  private let parts: [Part]
  // Owned: allocated in init, freed in deinit, constant in between. Its pointers refer to `parts` and `bands`.
  let blocks: UnsafeMutableBufferPointer<BlockPlan>

  /// Returns `nil` if the scan lacks tables.
  init?(_ scan: JPEGScan, _ frame: JPEGFrame) {
    let bands = frame.components.map { _ in SamplePlane(width: frame.cellsAcross, height: frame.unitRows) }
    let parts = scan.parts.compactMap { part in
      guard let differences = part.differences, let coefficients = part.coefficients else { return Part?.none }
      let means = BlockMeans(frame.components[part.component])
      return Part(means: means, differences: differences, coefficients: coefficients)
    }
    guard parts.count == scan.parts.count else { return nil }
    var blocks: [BlockPlan] = unsafe []
    for (index, part) in scan.parts.enumerated() {
      let component = frame.components[part.component]
      let band = bands[part.component]
      for row in 0..<component.rows {
        for column in 0..<component.columns {
          unsafe blocks.append(
            BlockPlan(
              part: index,
              component: part.component,
              cells: band.row(row * component.cellRows) + column * component.cellColumns,
              stride: band.width,
              writer: parts[index].means.writer,
              last: parts[index].means.last,
              sumCount: parts[index].means.sumCount,
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
    recordCapacity = unsafe blocks.reduce(0) { unsafe $0 + 1 + $1.sumCount }
    showsPhase = parts.count == 1 || parts.contains { $0.coefficients !== parts[0].coefficients }
    unsafe self.blocks = .allocate(capacity: blocks.count)
    _ = unsafe self.blocks.initialize(from: blocks)
  }

  deinit { unsafe blocks.deallocate() }

  /// Decodes units that have no restart marker between them.
  ///
  /// Returns the number of whole units that the data contain: fewer than `count` if they are damaged or end.
  func decode<Output: BlockOutput>(_ count: Int, _ lane: UnitLane, _ output: inout Output) -> Int {
    // Copies, which can stay in registers.
    var cursor = lane.cursor
    let reader = lane.reader
    var latestStart = unsafe reader.latestStart
    let blocks = unsafe self.blocks
    let (predictions, sums) = unsafe (lane.predictions, lane.sums)
    defer { lane.cursor = cursor }
    for unit in 0..<count {
      for index in 0..<blocks.count {
        let plan = unsafe blocks[index]
        if unsafe cursor.next > latestStart {
          cursor = reader.advance(cursor)
          unsafe latestStart = reader.latestStart
          if reader.hasOverrun { return unit }
        }
        guard let dc = unsafe difference(&cursor, plan, predictions, limit: Output.limit) else { return unit }
        if unsafe plan.last == 0 {
          unsafe output.store(dc, plan)
          guard unsafe skip(&cursor, plan, after: 0) else { return unit }
        } else {
          let (next, isGood) = unsafe decodeMeans(cursor, plan, dc, sums, &output)
          cursor = next
          guard isGood else { return unit }
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
    _ predictions: UnsafeMutablePointer<Int>,
    limit: Int,
  ) -> Int? {
    cursor.refill()
    // A window is below the tables' 4,096 entries, here and below.
    let entry = unsafe Int(plan.differences[cursor.window])
    var dc = unsafe predictions[plan.component]
    if entry != 0 {
      cursor.drop(entry & 15)
      dc &+= entry &>> 4
    } else {
      let code = unsafe parts[plan.part].differences.code(at: cursor.wideWindow)
      guard code != 0 else { return nil }
      cursor.drop(code & 255)
      if code > 255 { dc &+= HuffmanTable.extended(cursor.take(code &>> 8), size: code &>> 8) }
    }
    guard dc >= -limit, dc < limit else { return nil }
    unsafe predictions[plan.component] = dc
    return dc
  }

  /// Skips the coefficients after `start`, several at a time.
  @inline(__always)
  private func skip(_ cursor: inout BitCursor, _ plan: BlockPlan, after start: Int) -> Bool {
    let skips = unsafe plan.skips
    var reached = start
    while reached < 63 {
      cursor.refill()
      var entry = unsafe Int(skips[cursor.window])
      var next = reached &+ entry &>> 6
      if next & HuffmanTable.noReach == 0 {
        cursor.drop(entry: entry)
        reached = next
        guard reached < 63 else { return true }
        // A look-up takes at most 27 bits, so there are enough for a second one.
        entry = unsafe Int(skips[cursor.window])
        next = reached &+ entry &>> 6
        guard next & HuffmanTable.noReach == 0 else { continue }
        cursor.drop(entry: entry)
        reached = next
      } else {
        guard unsafe skipOne(&cursor, plan, &reached) else { return false }
      }
    }
    return true
  }

  /// Skips one code.
  ///
  /// Returns `false` if it is damaged.
  @inline(__always)
  private func skipOne(_ cursor: inout BitCursor, _ plan: BlockPlan, _ reached: inout Int) -> Bool {
    let code = unsafe parts[plan.part].coefficients.code(at: cursor.wideWindow)
    let (run, size) = (code &>> 12, code &>> 8 & 15)
    guard code != 0 else { return false }
    cursor.drop(code & 255 &+ size)
    return Self.pass(run, size, &reached)
  }

  /// Decodes one code, and adds the coefficient to its sum.
  ///
  /// Returns `false` if it is damaged.
  @inline(__always)
  private func decodeOne(
    _ cursor: inout BitCursor,
    _ plan: BlockPlan,
    _ sums: UnsafeMutablePointer<Int32>,
    _ reached: inout Int,
  ) -> Bool {
    let code = unsafe parts[plan.part].coefficients.code(at: cursor.wideWindow)
    let (run, size) = (code &>> 12, code &>> 8 & 15)
    guard code != 0 else { return false }
    cursor.drop(code & 255)
    guard Self.pass(run, size, &reached) else { return false }
    guard size > 0 else { return true }
    unsafe add(HuffmanTable.extended(cursor.take(size), size: size), plan, sums, reached)
    return true
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
  private func add(_ value: Int, _ plan: BlockPlan, _ sums: UnsafeMutablePointer<Int32>, _ reached: Int) {
    // `reached` is below the 256 targets and factors, a target below the capacity of the sums.
    unsafe sums[Int(plan.targets[reached])] &+= plan.factors[reached] &* Int32(truncatingIfNeeded: value)
  }

  /// Decodes the coefficients that matter, skips the others, and passes the block on.
  ///
  /// The cursor is a value, because one that has an address does not stay in registers.
  private func decodeMeans<Output: BlockOutput>(
    _ start: BitCursor,
    _ plan: BlockPlan,
    _ dc: Int,
    _ sums: UnsafeMutablePointer<Int32>,
    _ output: inout Output,
  ) -> (BitCursor, isGood: Bool) {
    var cursor = start
    let (coefficients, last) = unsafe (plan.coefficients, plan.last)
    var reached = 0
    while reached < last {
      cursor.refill()
      let entry = unsafe Int(coefficients[cursor.window])
      let next = reached &+ entry &>> 6 & 255
      if next & HuffmanTable.noReach == 0 {
        cursor.drop(entry: entry)
        reached = next
        unsafe add(entry &>> 16, plan, sums, reached)
      } else {
        guard unsafe decodeOne(&cursor, plan, sums, &reached) else { return (cursor, false) }
      }
    }
    unsafe store(dc, reached, plan, sums, &output)
    let isGood = unsafe skip(&cursor, plan, after: reached)
    return (cursor, isGood)
  }

  @inline(__always)
  private func store<Output: BlockOutput>(
    _ dc: Int,
    _ reached: Int,
    _ plan: BlockPlan,
    _ sums: UnsafeMutablePointer<Int32>,
    _ output: inout Output,
  ) {
    if reached == HuffmanTable.endOfBlock {
      unsafe output.store(dc, plan)
    } else {
      unsafe output.store(dc, sums: sums, plan)
      unsafe sums.update(repeating: 0, count: BlockMeans.sumCapacity)
    }
  }
}
