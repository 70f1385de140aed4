/// Walks the only scan of a baseline file unit by unit, from the start or any checkpoint, and reads coefficients only
/// on demand.
final class UnitScan {
  /// The start of a unit, and the DC coefficients before it.
  struct Checkpoint: Sendable {
    fileprivate let place: EntropyReader.Place
    fileprivate let predictions: SIMD4<Int16>
  }

  /// A block of a unit: its component and tables.
  private struct Block {
    let component: Int
    let differences: HuffmanTable
    let coefficients: HuffmanTable
  }

  /// The number of blocks in a unit.
  var blockCount: Int { blocks.count }
  /// The component of each block of a unit.
  let components: [Int]

  private let data: Range<Int>
  private let restartInterval: Int
  private let blocks: [Block]
  private let reader: EntropyReader
  private var cursor: BitCursor
  private var predictions = SIMD4<Int16>()
  /// The index of the next unit.
  private(set) var unit = 0
  private var isBehindRestart = true

  /// Returns `nil` if the script has no such scan; `bytes` must outlive the object.
  init?(_ bytes: Elements<UInt8>, _ script: JPEGScript) {
    guard let scan = script.scans.first, !script.frame.isProgressive else { return nil }
    var blocks: [Block] = []
    for part in scan.parts {
      guard let differences = part.differences, let coefficients = part.coefficients else { return nil }
      let component = script.frame.components[part.component]
      let block = Block(component: part.component, differences: differences, coefficients: coefficients)
      blocks += repeatElement(block, count: component.columns * component.rows)
    }
    self.blocks = blocks
    components = blocks.map(\.component)
    (data, restartInterval) = (scan.data, scan.restartInterval)
    reader = EntropyReader(bytes, scan.data)
    cursor = reader.start()
  }

  /// Returns a checkpoint for the next unit; `nil` if an expected restart marker is missing.
  func checkpoint() -> Checkpoint? {
    guard passRestart() else { return nil }
    return Checkpoint(place: reader.place(of: cursor), predictions: predictions)
  }

  /// Moves to a unit from a checkpoint taken before it.
  ///
  /// Returns `false` if the data end earlier.
  func seek(_ checkpoint: Checkpoint, unit: Int) -> Bool {
    let place = checkpoint.place
    guard data.contains(place.position), let cursor = reader.start(at: place) else { return false }
    (self.cursor, predictions, self.unit) = (cursor, checkpoint.predictions, unit)
    isBehindRestart = true
    return true
  }

  /// Skips the next unit.
  ///
  /// Returns `false` if the data are damaged or end.
  func skip() -> Bool {
    var none: [Int16] = []
    return pass(&none)
  }

  /// Reads the next unit: 64 coefficients in zigzag order for each of its blocks.
  ///
  /// The first is the coefficient itself, not a difference.
  func read(into coefficients: inout [Int16]) -> Bool {
    precondition(coefficients.count == blocks.count * 64)
    for index in coefficients.indices { coefficients[index] = 0 }
    return pass(&coefficients)
  }

  /// True if more was read than the data contain.
  var hasRunOut: Bool { reader.hasRunOut(cursor) }

  private func passRestart() -> Bool {
    guard !isBehindRestart, restartInterval > 0, unit % restartInterval == 0 else { return true }
    guard let next = reader.restart(cursor, number: (unit / restartInterval - 1) & 7) else { return false }
    cursor = next
    predictions = SIMD4()
    isBehindRestart = true
    return true
  }

  /// Reads a unit, or skips it if there is no room for coefficients.
  private func pass(_ coefficients: inout [Int16]) -> Bool {
    guard passRestart() else { return false }
    // A copy, which can stay in registers.
    var cursor = cursor
    defer { self.cursor = cursor }
    for index in blocks.indices {
      let block = blocks[index]
      if cursor.next > reader.latestStart {
        cursor = reader.advance(cursor)
        if reader.hasOverrun { return false }
      }
      cursor.refill()
      guard let difference = Self.difference(&cursor, block.differences) else { return false }
      guard let dc = Int16(exactly: Int(predictions[block.component]) + difference) else { return false }
      predictions[block.component] = dc
      if coefficients.isEmpty {
        guard Self.skip(&cursor, block.coefficients) else { return false }
      } else {
        coefficients[index * 64] = dc
        guard Self.read(&cursor, block.coefficients, into: &coefficients, at: index * 64) else { return false }
      }
    }
    unit += 1
    isBehindRestart = false
    return true
  }

  @inline(__always)
  private static func difference(_ cursor: inout BitCursor, _ table: HuffmanTable) -> Int? {
    let entry = Int(table.differences.entries[cursor.window])
    if entry != 0 {
      cursor.drop(entry & 15)
      return entry &>> 4
    }
    let code = table.code(at: cursor.wideWindow)
    guard code != 0 else { return nil }
    cursor.drop(code & 255)
    return code > 255 ? HuffmanTable.extended(cursor.take(code &>> 8), size: code &>> 8) : 0
  }

  @inline(__always)
  private static func skip(_ cursor: inout BitCursor, _ table: HuffmanTable) -> Bool {
    let skips = table.skips.entries
    var reached = 0
    while reached < 63 {
      cursor.refill()
      let entry = Int(skips[cursor.window])
      let next = reached &+ entry &>> 6
      if next & HuffmanTable.noReach == 0 {
        cursor.drop(entry: entry)
        reached = next
      } else {
        let code = table.code(at: cursor.wideWindow)
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

  /// Reads the coefficients of a block after the first, which is at `start`.
  private static func read(
    _ cursor: inout BitCursor,
    _ table: HuffmanTable,
    into coefficients: inout [Int16],
    at start: Int,
  ) -> Bool {
    var reached = 0
    while reached < 63 {
      cursor.refill()
      let code = table.code(at: cursor.wideWindow)
      let (run, size) = (code &>> 12, code &>> 8 & 15)
      guard code != 0 else { return false }
      cursor.drop(code & 255)
      guard size > 0 else {
        guard run == 15 else { return true }
        reached += 16
        continue
      }
      reached += run + 1
      guard reached <= 63 else { return false }
      // Of at most 15 bits, so it fits.
      coefficients[start + reached] = Int16(truncatingIfNeeded: HuffmanTable.extended(cursor.take(size), size: size))
    }
    return true
  }
}
